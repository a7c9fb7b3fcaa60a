//! `examples`: confirms the answer of a run, so that its statement answers the same question from
//! then on, and lists what was confirmed.

mod batch;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use clap::{Args, Subcommand};
use serde_json::json;
use syrch::Settings;
use syrch::databases::open_database;
use syrch::journal::{Journal, SearchTree, Shown};
use syrch::knowledge::{ExampleLine, LARGEST, LINE, example_lines};
use syrch::metric::read_semantics;
use syrch::semantics::Semantics;
use syrch::settings::read_settings;
use syrch::syrch_core::Catalog;
use syrch::syrch_core::ports::SqlQuery;
use syrch::verified::{Confirmation, Present, is_bound_to_its_day, read_shape};

use super::resume::with_secrets;
use super::{Context, Run, trace};
use crate::config::Given;
use crate::config::flags::Flags;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::shell;
use crate::sink::{Format, Grid, terminal};

/// The commands of `examples`.
#[derive(Subcommand)]
pub(crate) enum ExamplesCommand {
    /// Confirm the answer of a run: its statement answers the same question from then on, as long
    /// as its tables have the columns that they have now
    #[command(after_help = Exit::help())]
    Add(AddArgs),
    /// List the examples, who confirmed them, and whether their tables or the definitions that they
    /// use have changed since
    #[command(after_help = Exit::help())]
    List(ListArgs),
}

/// The flags of `examples add`.
#[derive(Args)]
pub(crate) struct AddArgs {
    /// A run's id, the beginning of it, `last`, or the path of a journal
    #[arg(value_name = "RUN", required_unless_present = "answers")]
    pub(crate) run: Option<String>,
    /// A file of answers that `batch` wrote, of which --id names one; its database is given by --db
    #[arg(long, value_name = "FILE", conflicts_with = "run", requires = "id")]
    pub(crate) answers: Option<PathBuf>,
    /// The id of the answer in --answers
    #[arg(long, value_name = "ID", requires = "answers")]
    pub(crate) id: Option<String>,
    /// Your name, which answers show
    #[arg(long, value_name = "NAME")]
    pub(crate) by: String,
    /// The file of examples to add it to; else `retrieval.examples` of the configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Semantics files: an answer under other definitions is not confirmed
    #[arg(long, value_name = "FILE")]
    pub(crate) semantics: Vec<PathBuf>,
    /// The options of a database.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

/// The flags of `examples list`.
#[derive(Args)]
pub(crate) struct ListArgs {
    /// The file of examples; else `retrieval.examples` of the configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Semantics files, with which the confirmed statements are compared
    #[arg(long, value_name = "FILE")]
    pub(crate) semantics: Vec<PathBuf>,
    /// The options of a database.
    #[command(flatten)]
    pub(crate) flags: Flags<false>,
}

impl Run for ExamplesCommand {
    fn config_flags(&self) -> Option<Given<'_>> {
        match self {
            Self::Add(arguments) => Some(Given::new(&arguments.flags, &[])),
            Self::List(arguments) => Some(Given::new(&arguments.flags, &[])),
        }
    }

    async fn run(self, context: Context) -> Outcome {
        match self {
            Self::Add(arguments) => add(&context, &arguments).await,
            Self::List(arguments) => list(&context, &arguments).await,
        }
    }
}

/// The file that a flag or the configuration names.
fn find_file(context: &Context, named: Option<&Path>) -> Outcome<PathBuf> {
    let configured = context.config.effective.settings.retrieval.examples.clone();
    named.map(Path::to_owned).or(configured).ok_or_else(|| {
        Failure::usage("no file of examples").hint(
            "name one by --file examples.jsonl, and use it by --examples examples.jsonl in \
             searches",
        )
    })
}

/// The semantics files that flags or the configuration name, with the digest of all that they
/// define; `None` without any.
fn read_present(context: &Context, named: &[PathBuf]) -> Outcome<Option<(Semantics, String)>> {
    let configured = &context.config.effective.settings.semantics.files;
    let files = if named.is_empty() { configured.as_slice() } else { named };
    if files.is_empty() {
        return Ok(None);
    }
    let semantics = read_semantics(files).map_err(|error| Failure::config(error.to_string()))?;
    let digest = semantics.digest();
    Ok(Some((semantics, digest)))
}

async fn add(context: &Context, arguments: &AddArgs) -> Outcome {
    let file = find_file(context, arguments.file.as_deref())?;
    let by = arguments.by.trim();
    if by.is_empty() || by.len() > 100 || by.chars().any(char::is_control) {
        return Err(Failure::usage("--by is no name: it has 1 to 100 characters in one line"));
    }
    let Answered { question, sql, follows, dialect, semantics, settings } = match &arguments.answers
    {
        Some(path) => batch::read_answer(context, path, arguments.id.as_deref().unwrap_or(""))?,
        None => read_run(context, arguments.run.as_deref().unwrap_or_default())?,
    };
    if follows {
        return Err(Failure::usage(format!("the question `{question}` goes on from another one"))
            .hint("ask it in full by itself, and confirm that run"));
    }
    if question.trim().is_empty() {
        return Err(Failure::usage("the question is empty"));
    }
    if is_bound_to_its_day(&question, &sql) {
        return Err(Failure::usage(format!(
            "the question `{question}` means another time on another day, and its statement has a \
             fixed one"
        ))
        .hint("ask it with the days in it, such as `in May 2026`, and confirm that run"));
    }
    let now = read_present(context, &arguments.semantics)?;
    let digest = now.as_ref().map(|(_, digest)| digest.clone());
    let semantics = match semantics {
        Known::Recorded(semantics)
            if semantics.is_some() && digest.is_some() && semantics != digest =>
        {
            return Err(Failure::usage("the semantics files have changed since the run")
                .hint("ask the question again, and confirm that run"));
        }
        Known::Recorded(semantics) => semantics,
        Known::AsNow => digest,
    };
    let (catalog, tables) = read_tables(&settings, &sql, &dialect).await?;
    if tables.is_empty() {
        let why = "the statement reads no table: it answers nothing about the database";
        return Err(Failure::usage(why));
    }
    let shape = read_shape(&catalog, &tables).ok_or_else(|| {
        Failure::new(Exit::Database, "the statement reads a table that the catalog does not have")
    })?;
    let at = DateTime::<Utc>::from(std::time::SystemTime::now()).format("%Y-%m-%d").to_string();
    let of_run = now.filter(|_| semantics.is_some());
    let definitions = of_run.map(|(now, _)| now.digest_used(&question, &sql, &tables));
    let semantics = semantics.filter(|_| definitions.is_none());
    let confirmed = Confirmation { by: by.to_owned(), at, tables, shape, definitions, semantics };
    let line = ExampleLine { question, sql, verified: Some(confirmed) };
    if file.exists() {
        let known = example_lines(&file)?;
        if known.iter().any(|(_, known)| confirms_same(known, &line)) {
            context.console.note("this answer is confirmed already: nothing was added");
            return Ok(Exit::Answered);
        }
    }
    append(&file, &line)?;
    let shown = file.display();
    let word = shell::quote(&shown);
    context.console.note(&format!("added to `{shown}`: --examples {word} uses it in searches"));
    let document = json!({"schema": "syrch.example/1", "file": shown.to_string(), "example": line});
    let mut grid = Grid::new(["question", "sql"]);
    grid.rows = vec![vec![json!(line.question), json!(line.sql)]];
    if matches!(context.format, Format::Auto | Format::Table) {
        let text = format!("{}\n{}\n", terminal::line(&line.question), terminal::block(&line.sql));
        context.output.write(&context.scrubber.text(&text))?;
    } else {
        context.rows(grid, || document)?;
    }
    Ok(Exit::Answered)
}

/// Returns whether two lines confirm the same statement for the same question and tables.
fn confirms_same(left: &ExampleLine, right: &ExampleLine) -> bool {
    let shapes = [left, right].map(|line| line.verified.as_ref().map(|one| &one.shape));
    left.question == right.question && left.sql == right.sql && shapes[0] == shapes[1]
}

/// An answer that is to be confirmed.
struct Answered {
    question: String,
    sql: String,
    /// True if its question goes on from another one.
    follows: bool,
    /// The name of the dialect of its statement.
    dialect: String,
    semantics: Known,
    /// The settings of its database.
    settings: Settings,
}

/// The digest of the semantics files under which an answer was given.
enum Known {
    Recorded(Option<String>),
    /// It is not recorded: the person who confirms the answer does so under those of now.
    AsNow,
}

/// The answer of a run.
fn read_run(context: &Context, run: &str) -> Outcome<Answered> {
    let (_, journal) = trace::open(context, run)?;
    let (question, sql) = read_answer(&journal)?;
    if journal.header.problem.evidence.is_some() {
        return Err(Failure::usage(format!(
            "the question `{question}` was asked with an explanation, and means something else \
             without it"
        ))
        .hint("ask it with the explanation in its own words, and confirm that run"));
    }
    let mut settings = context.config.effective.settings.clone();
    let recorded = read_settings(&journal.header, &settings)?;
    settings.database = with_secrets(&recorded.database, &settings.database)?;
    settings.tables.clone_from(&recorded.tables);
    settings.imports = settings.imports.with_options_of(&recorded.imports);
    settings.servers.named = Some(settings.database.clone());
    Ok(Answered {
        question,
        sql,
        follows: journal.header.defined.follows,
        dialect: journal.header.catalog.dialect.name().to_owned(),
        semantics: Known::Recorded(recorded.semantics.digest),
        settings,
    })
}

/// The question of a run and the statement that answered it.
fn read_answer(journal: &Journal) -> Outcome<(String, String)> {
    let run = &journal.header.run;
    if !journal.header.kind.is_search() {
        return Err(Failure::usage(format!("the run `{run}` is an optimization, and no search")));
    }
    let tree = SearchTree::from_journal(journal, Shown { rows: None, prompts: false });
    let statement = tree.answer.and_then(|answer| answer.sql);
    let sql = statement.ok_or_else(|| {
        Failure::usage(format!("the run `{run}` has no answer to confirm"))
            .hint("`syrch-host trace list` shows the runs with their outcomes")
    })?;
    Ok((journal.header.problem.question.clone(), sql))
}

/// The catalog of a database as it is now, and the tables that a statement reads.
async fn read_tables(
    settings: &Settings,
    sql: &str,
    dialect: &str,
) -> Outcome<(std::sync::Arc<Catalog>, Vec<String>)> {
    let database = open_database(settings).await?;
    let own = database.dialect();
    if own.name() != dialect {
        let own = own.name();
        let why = format!("the statement is in `{dialect}`, and the database speaks `{own}`");
        return Err(Failure::usage(why));
    }
    let catalog = database.catalog().await.map_err(syrch::Error::from)?;
    let facts = database.check(&SqlQuery::new(sql)).await.map_err(syrch::Error::from)?;
    Ok((catalog, facts.tables))
}

/// Adds a line to a file, on a line of its own whatever the file ends with.
fn append(path: &Path, line: &ExampleLine) -> Outcome<()> {
    let before = std::fs::read(path).unwrap_or_default();
    let mut text = serde_json::to_string(line).map_err(Failure::unwritable_document)?;
    // What no search could read again would spoil the whole file.
    if text.len() > LINE {
        let bytes = text.len();
        return Err(Failure::usage(format!(
            "the question and its statement take {bytes} bytes, and an example has at most {LINE}"
        )));
    }
    if (before.len() + text.len() + 2) as u64 > LARGEST {
        let path = path.display();
        return Err(Failure::usage(format!("`{path}` would have more than {LARGEST} bytes"))
            .hint("name another file by --file"));
    }
    if before.last().is_some_and(|last| *last != b'\n') {
        text.insert(0, '\n');
    }
    text.push('\n');
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Failure::new(Exit::Unexpected, format!("`{}` cannot be written: {error}", path.display()))
    })
}

/// The state of an example in a word. Without a catalog nothing is known of its tables, and without
/// semantics files nothing of its definitions.
fn name_state(
    line: &ExampleLine,
    catalog: Option<&Catalog>,
    present: Option<Present<'_>>,
) -> &'static str {
    let Some(confirmed) = line.clone().into_verified() else { return "not confirmed" };
    let is_current = match catalog {
        Some(catalog) => confirmed.is_current(catalog, present),
        None => confirmed.is_defined_alike(present),
    };
    if is_current { "confirmed" } else { "stale" }
}

async fn list(context: &Context, arguments: &ListArgs) -> Outcome {
    let file = find_file(context, arguments.file.as_deref())?;
    let read = read_present(context, &arguments.semantics)?;
    let present = read.as_ref().map(|(semantics, digest)| Present { semantics, digest });
    let lines = example_lines(&file)?;
    let catalog = match context.config.effective.settings.database.is_empty() {
        true => None,
        false => {
            let database = context.open_database().await?;
            Some(database.catalog().await.map_err(syrch::Error::from)?)
        }
    };
    let catalog = catalog.as_deref();
    let mut grid = Grid::new(["line", "question", "state", "by", "at", "sql"]);
    for (number, line) in &lines {
        let confirmed = line.verified.as_ref();
        grid.rows.push(vec![
            json!(number),
            json!(line.question),
            json!(name_state(line, catalog, present)),
            json!(confirmed.map(|confirmed| &confirmed.by)),
            json!(confirmed.map(|confirmed| &confirmed.at)),
            json!(line.sql),
        ]);
    }
    let stale =
        lines.iter().filter(|(_, line)| name_state(line, catalog, present) == "stale").count();
    if stale > 0 {
        context.console.warn(&format!(
            "{} of {} examples are stale: their tables or definitions have changed, and \
             they answer nothing",
            stale,
            lines.len()
        ));
    }
    let examples: Vec<_> = lines
        .iter()
        .map(|(number, line)| {
            let state = name_state(line, catalog, present);
            json!({"line": number, "state": state, "example": line})
        })
        .collect();
    let name = file.display().to_string();
    context
        .rows(grid, || json!({"schema": "syrch.examples/1", "file": name, "examples": examples}))?;
    Ok(Exit::Answered)
}
