//! `mcp`: serves the database to assistants and editors by the Model Context Protocol.

mod registration;

use std::net::SocketAddr;
use std::sync::Arc;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use serde_json::Value;
use syrch::Host;
use syrch::databases::database_path;
use syrch::syrch_core::DatabaseUrl;
use syrch_mcp::register::Client;
use syrch_mcp::{Error, Http, HttpOptions, Options, Queue, Scrub, Server, Spending, Token};

use registration::Registration;

use super::total::Total;
use super::{Context, Run, asking};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::config::parameter::Parameter;
use crate::console::progress::Watch;
use crate::environment::MCP_TOKEN;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::scrub::Scrubber;
use crate::sink::{Format, json};

/// The default numbers of searches at once and of calls that may wait.
const SEARCHES: u16 = 4;
const WAITING: u16 = 32;

#[derive(Args)]
pub(crate) struct McpArgs {
    /// Serve HTTP on this port of this machine and print the address, which holds a token; 0 takes
    /// a free port. Otherwise one client is served over the standard streams
    #[arg(long, value_name = "PORT", conflicts_with = "listen", help_heading = "Server")]
    pub(crate) http: Option<u16>,
    /// Serve HTTP at an address that others may reach; SYRCH_MCP_TOKEN holds the token
    #[arg(long, value_name = "ADDRESS:PORT", help_heading = "Server")]
    pub(crate) listen: Option<SocketAddr>,
    /// A host by which clients call the server, besides its address. May be given several times
    #[arg(long, value_name = "HOST", requires = "listen", help_heading = "Server")]
    pub(crate) allow_host: Vec<String>,
    /// Print what registers the server, with these flags, with a program (claude, cursor, vscode,
    /// zed), and serve nothing
    #[arg(
        long,
        value_name = "PROGRAM",
        conflicts_with_all = ["http", "listen"],
        hide_possible_values = true,
        help_heading = "Server"
    )]
    pub(crate) print_config: Option<Program>,
    /// Searches and statements at once
    #[arg(
        long,
        value_name = "N",
        default_value_t = SEARCHES,
        value_parser = clap::value_parser!(u16).range(1..=32),
        help_heading = "Server"
    )]
    pub(crate) searches: u16,
    /// Calls that wait for a slot; further ones are refused. One client may fill half of the places
    #[arg(
        long,
        value_name = "N",
        default_value_t = WAITING,
        value_parser = clap::value_parser!(u16).range(..=32),
        help_heading = "Server"
    )]
    pub(crate) waiting: u16,
    /// The budget of all calls.
    #[command(flatten, next_help_heading = "Server")]
    pub(crate) total: Total,
    /// A plugin's own setting; VALUE is JSON or text. KEY alone will do when one plugin knows it;
    /// settings.NAME is for all plugins
    #[arg(short = 'P', long = "param", value_name = "ROLE.KEY=VALUE", help_heading = "Search")]
    pub(crate) parameters: Vec<Parameter>,
    /// The options of a search.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

/// [`Client`] as a flag's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Program(Client);

impl ValueEnum for Program {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Client::Claude), Self(Client::Cursor), Self(Client::Vscode), Self(Client::Zed)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self.0 {
            Client::Claude => "claude",
            Client::Cursor => "cursor",
            Client::Vscode => "vscode",
            Client::Zed => "zed",
        }))
    }
}

impl Run for McpArgs {
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &self.parameters))
    }

    async fn run(self, mut context: Context) -> Outcome {
        context.needs_database()?;
        if let Some(Program(client)) = self.print_config {
            return register(&context, &self, client);
        }
        refuse_output(&context)?;
        let server = open(&mut context, &self).await?;
        let Some(options) = self.http_options(&context)? else {
            server.serve_stdio().await?;
            return Ok(Exit::Answered);
        };
        let is_random = context.environment.mcp_token()?.is_none();
        let http = Http::bind(&server, options).await?;
        let url = if is_random { http.url_with_token() } else { http.url() };
        context.output.write(&format!("{url}\n"))?;
        match http.serve().await {}
    }
}

impl McpArgs {
    /// The settings of HTTP; `None` if standard streams are served.
    fn http_options(&self, context: &Context) -> Outcome<Option<HttpOptions>> {
        let own = context.environment.mcp_token()?;
        let address = match (self.listen, self.http) {
            (None, None) => return Ok(None),
            (Some(_), _) if own.is_none() => {
                return Err(Failure::usage(format!("--listen needs a token in {MCP_TOKEN}"))
                    .hint("choose one that nobody guesses, such as by `openssl rand -hex 24`"));
            }
            (Some(address), _) => address,
            (None, Some(port)) => SocketAddr::from(([127, 0, 0, 1], port)),
        };
        let token = match own {
            Some(text) => Token::from_text(&text)?,
            None => Token::random()?,
        };
        Ok(Some(HttpOptions { address, token, hosts: self.allow_host.clone() }))
    }
}

/// Opens the host of a server.
async fn open(context: &mut Context, arguments: &McpArgs) -> Outcome<Server> {
    let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
    asking::prepare(context, &watch).await?;
    asking::accept(context);
    let settings = &mut context.config.effective.settings;
    settings.limits.searches = usize::from(arguments.searches) + usize::from(arguments.waiting);
    let total = arguments.total.micros(settings)?;
    let settings = settings.clone();
    let host = match Host::open(settings.clone(), watch.as_ref()).await {
        Ok(host) => host,
        Err(error) => return Err(asking::explain_error(error, &settings, context, &watch).await),
    };
    context.console.clear();
    let options = Options {
        queue: Queue::new(arguments.searches.into(), arguments.waiting.into()),
        spending: Spending::new(total),
        scrub: Arc::new(Scrubbing(context.scrubber.clone())),
    };
    Ok(Server::new(host, options)?)
}

/// Hides the secrets of this process from clients.
struct Scrubbing(Scrubber);

impl Scrub for Scrubbing {
    fn scrub(&self, value: &mut Value) {
        self.0.value(value);
    }
}

/// Refuses flags of output formats, since the output is the protocol's.
fn refuse_output(context: &Context) -> Outcome<()> {
    if context.format == Format::Auto && matches!(context.output, Output::Stdout) {
        return Ok(());
    }
    Err(Failure::usage("--format and -o do not go with a server: its output is the protocol's")
        .hint("they go with --print-config"))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::config(error.to_string());
        match error {
            Error::Listen { .. } => failure.hint("another port may be free; --http 0 takes one"),
            Error::Unnamed(_) => failure.hint("name them by --allow-host"),
            Error::Token { .. } => {
                failure.hint(format!("{MCP_TOKEN} takes letters, digits, `-`, `_`, `.` and `~`"))
            }
            Error::Random(_) | Error::Initialize(_) => Self { exit: Exit::Unexpected, ..failure },
        }
    }
}

/// Prints the registration of the server with these flags.
fn register(context: &Context, arguments: &McpArgs, client: Client) -> Outcome {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(Exit::Unexpected, format!("no path: {error}")))?;
    let url = DatabaseUrl::parse(&context.config.effective.settings.database);
    // A pattern of files may match some later.
    if let Some(path) = database_path(&url)
        && !path.exists()
        && !path.to_string_lossy().contains(['*', '?', '['])
    {
        let path = path.display();
        context.console.warn(&format!("`{path}` does not exist: the server needs it to start"));
    }
    let Registration { name, words, variables } = Registration::new(context, arguments);
    let program = program.display().to_string();
    let document = client.register(&name, &program, &words, &variables);
    context.console.note(&format!("this belongs in {}", client.file()));
    let mut document = document;
    context.scrubber.value(&mut document);
    context.output.write(&json::document(&document))?;
    Ok(Exit::Answered)
}
