//! `serve`: a page and an HTTP interface over one database.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use clap::Args;
use serde_json::{Value, json};
use syrch::files;
use syrch::journal::SearchTree;
use syrch::plugins;
use syrch::schema::describe_tables;
use syrch::settings::PluginSource;
use syrch::strategies;
use syrch::syrch_core::{Catalog, DatabaseUrl, ResultSet};
use syrch::{Host, Stop};
use syrch_grading::grade::run::Observer;
use syrch_grading::grade::suite;
use syrch_serve::{Compared, Limits, Options, Program, ServeError, Server, Token, Uncompared};

use super::compare::served;
use super::total::Total;
use super::trace::page;
use super::{Context, Run, asking, doctor, graded, plugin, resume, sql};
use crate::absolute;
use crate::config::Given;
use crate::config::flags::Flags;
use crate::config::parameter::Parameter;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::sink::{self, Format, csv, json};

/// The limit on the size of the file of a token, in bytes.
const LONGEST_TOKEN: u64 = 4096;

/// The limits on the suites that are found beside a database, on their size in bytes, and on the
/// files that are looked at.
const SUITES: usize = 20;
const LARGEST: u64 = 1 << 20;
const MOST_FILES: usize = 1_000;

/// Reads a number of searches that is at least the given one.
fn count_from(least: i64) -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(least..=10_000)
}

// Flags of a server.
#[derive(Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on; port 0 takes a free one. One that other machines can reach needs
    /// --token-file
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4180")]
    pub(crate) listen: SocketAddr,
    /// A name besides the address by which browsers call the server, with a port or without, such
    /// as that of a proxy
    #[arg(long = "name", value_name = "HOST")]
    pub(crate) names: Vec<String>,
    /// The file with the token that programs send as `Authorization: Bearer TOKEN`; it is made when
    /// it is missing
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Serve MCP at /mcp, too, to clients that send the token of --token-file; their searches count
    /// as those of the page
    #[arg(long, requires = "token_file")]
    pub(crate) mcp: bool,
    /// Searches at once
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = count_from(1))]
    pub(crate) searches: u16,
    /// Searches that may wait for one of these to end
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = count_from(0))]
    pub(crate) queue: u16,
    /// The budget of all searches.
    #[command(flatten)]
    pub(crate) total: Total,
    /// A suite whose questions the page may have asked under several strategies. May be given
    /// several times [default: those among the .json and .jsonl files beside the database]
    #[arg(long = "suite", value_name = "FILE")]
    pub(crate) suites: Vec<PathBuf>,
    /// A plugin's own setting; VALUE is JSON or text. KEY alone will do when one plugin knows it;
    /// settings.NAME is for all plugins
    #[arg(short = 'P', long = "param", value_name = "ROLE.KEY=VALUE")]
    pub(crate) parameters: Vec<Parameter>,
    /// Flags of a search, which hold for every question.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

impl Run for ServeArgs {
    const ENDS_INTERRUPTS: bool = true;
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &self.parameters))
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        let token = self.token_file.iter().map(|path| ("the file of the token", path.clone()));
        token.chain(self.suites.iter().map(|path| ("a suite", path.clone()))).collect()
    }

    async fn run(self, mut context: Context) -> Outcome {
        context.needs_database()?;
        let token = self.token_file.as_deref().map(read_token).transpose()?;
        let options = Options {
            address: self.listen,
            names: self.names,
            token,
            mcp: self.mcp,
            unfinished: context.environment.state_dir().map(|folder| folder.join("serve")),
            runs: resume::folder(&context.config)?,
            evaluations: graded::runs(&context)?.path().to_owned(),
            total_micros: self.total.micros(&context.config.effective.settings)?,
            limits: Limits {
                searches: self.searches.into(),
                waiting: self.queue.into(),
                ..Limits::default()
            },
        };
        asking::accept(&mut context);
        context.interrupt.listen_to_ends();
        let interrupt = context.interrupt.clone();
        let host = tokio::select! {
            host = open(&mut context) => host?,
            () = interrupt.wait() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
        };
        context.console.clear();
        let context = Arc::new(context);
        let is_mcp = options.mcp;
        let program =
            Lent { context: Arc::clone(&context), flags: self.flags, suites: self.suites };
        let program = Arc::new(program);
        let server = Server::open(host, options, program).await?;
        let count = server.count_resumed();
        if count > 0 {
            let plural = if count == 1 { "run" } else { "runs" };
            context.console.note(&format!("resuming {count} {plural} of an earlier server"));
        }
        if is_mcp {
            let address = server.address();
            context.console.note(&format!("MCP at http://{address}/mcp, by the token of the file"));
        }
        let stopping = async {
            interrupt.wait().await;
            context.console.note("stopping; Ctrl-C again ends at once");
        };
        server.run(stopping).await?;
        Ok(Exit::Answered)
    }
}

/// Opens the host of all searches. Their number is the server's to limit.
async fn open(context: &mut Context) -> Outcome<Host> {
    let watch = Watch::new(Arc::clone(&context.console));
    asking::prepare(context, &watch).await?;
    // What it writes about its runs has to name the file for a server in another folder, too.
    let settings = &mut context.config.effective.settings;
    settings.database = absolute::database(&settings.database);
    let settings = &context.config.effective.settings;
    match Host::open(settings.clone(), &watch).await {
        Ok(host) => Ok(host),
        Err(error) => Err(asking::explain_error(error, settings, context, &watch).await),
    }
}

/// The token of a file, which is made when it is missing.
fn read_token(path: &Path) -> Outcome<Token> {
    let shown = path.display();
    if !path.exists() {
        let made = Token::make_text()
            .and_then(|text| files::replace(path, format!("{text}\n").as_bytes()));
        made.map_err(|error| Failure::usage(format!("--token-file `{shown}`: {error}")))?;
    }
    let is_small = fs::metadata(path).is_ok_and(|data| data.len() <= LONGEST_TOKEN);
    let text = if is_small { fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    Token::new(text.trim()).ok_or_else(|| {
        Failure::usage(format!("--token-file `{shown}`: no token can be read from it")).hint(
            "a token is a line of 20 visible ASCII characters or more; a missing file is made",
        )
    })
}

/// The suites beside a database, at most [`SUITES`]; none for a server. Other files there are none
/// of a client's business, so that they are not listed with the reason.
fn list_suites(database: &str) -> Vec<PathBuf> {
    let files = syrch::databases::database_files(&DatabaseUrl::parse(database));
    let Some(folder) = files.first().and_then(|file| file.parent()) else { return Vec::new() };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.take(MOST_FILES).filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|end| end == "json" || end == "jsonl"))
        .filter(|path| fs::metadata(path).is_ok_and(|data| data.is_file() && data.len() <= LARGEST))
        .collect();
    found.sort();
    found.into_iter().filter(|path| suite::read(path).is_ok()).take(SUITES).collect()
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        let message = error.to_string();
        match error {
            ServeError::Host(error) => error.into(),
            ServeError::Address { .. } => {
                Self::usage(message).hint("--listen 127.0.0.1:0 takes a free port")
            }
            ServeError::Open(_) => Self::usage(message)
                .hint("keep them out by --token-file FILE, or listen on 127.0.0.1"),
            ServeError::Random(_) => Self::new(Exit::Unexpected, message),
        }
    }
}

/// The documents of the command line, lent to the server.
struct Lent {
    context: Arc<Context>,
    /// The flags of the server, which hold for comparisons as well.
    flags: Flags<true>,
    /// The suites that the user names.
    suites: Vec<PathBuf>,
}

/// Names the members of a comparison where a message names the flags that they stand for.
fn name_members(message: &str) -> String {
    let members =
        [("--total-calls", "`calls`"), ("--total-usd", "`usd`"), ("--total-time", "`seconds`")];
    members.iter().fold(message.to_owned(), |text, (flag, member)| text.replace(flag, member))
}

#[async_trait]
impl Program for Lent {
    fn offer_link(&self, link: &str) {
        let context = &self.context;
        let written = match context.format {
            Format::Json | Format::Jsonl => {
                context.output.write(&json::line(&json!({"schema": "syrch.serve/1", "link": link})))
            }
            _ => context.output.write(&format!("open {link}\n")),
        };
        if let Err(failure) = written {
            context.console.error(&failure);
        }
    }

    fn warn(&self, message: &str) {
        self.context.console.warn(message);
    }

    fn scrub(&self, document: &mut Value) {
        self.context.scrubber.value(document);
    }

    async fn doctor(&self) -> Value {
        doctor::check_all(&self.context).await
    }

    async fn plugin(&self, source: &PluginSource) -> Result<Value, syrch::Error> {
        let watch = Watch::new(Arc::clone(&self.context.console));
        let settings = &self.context.config.effective.settings;
        Ok(plugin::describe(&plugins::inspect(source, settings, &watch).await?))
    }

    fn strategies(&self) -> Vec<(String, String)> {
        let own = Some(self.context.config.effective.strategy.clone());
        let own = own.filter(|word| strategies::is_file(word));
        let all = own.into_iter().chain(strategies::names().map(str::to_owned));
        all.filter_map(|name| {
            let summary = strategies::find(&name).ok()?.summary;
            Some((name, summary))
        })
        .collect()
    }

    fn suites(&self) -> Vec<PathBuf> {
        match self.suites.is_empty() {
            true => list_suites(&self.context.config.effective.settings.database),
            false => self.suites.clone(),
        }
    }

    async fn compare(
        &self,
        compared: &Compared,
        observer: &dyn Observer,
        stop: &Stop,
    ) -> Result<(), Uncompared> {
        let ended = served::compare(&self.context, &self.flags, compared, observer, stop).await;
        ended.map_err(|failure| Uncompared {
            class: failure.exit.class(),
            message: name_members(&failure.message),
        })
    }

    fn describe_run(&self, tree: &SearchTree, is_running: bool) -> Value {
        page::describe(tree, is_running, self.context.config.effective.settings.rows)
    }

    fn schema(&self, catalog: &Catalog) -> Value {
        describe_tables(catalog, &catalog.tables.iter().collect::<Vec<_>>())
    }

    fn rows(&self, result: &ResultSet) -> Value {
        sql::document(result)
    }

    fn csv(&self, result: &ResultSet) -> String {
        let mut grid = sink::grid(result);
        self.context.scrubber.grid(&mut grid);
        csv::render(&grid)
    }
}
