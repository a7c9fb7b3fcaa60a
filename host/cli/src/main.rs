//! `syrch-host`: arguments, output and exit codes. The only crate that prints or reads the
//! environment.
// A build without some of the features leaves unused what they share with others.
#![cfg_attr(not(feature = "default"), allow(dead_code))]

mod absolute;
mod args;
mod commands;
mod config;
mod console;
mod environment;
mod exit;
mod failure;
mod output;
mod scrub;
mod shell;
mod sink;
#[cfg(feature = "otel")]
mod telemetry;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use syrch::databases::database_files;
use syrch::imports::{ImportProgress, Imported, Note, Progress};
use syrch::plugins::{CompileProcess, WorkerProcess};
use syrch::settings::PluginSource;
use syrch::strategies;
use syrch::syrch_core::DatabaseUrl;
use syrch::syrch_core::text::few;

use args::{Cli, Global};
use commands::{Command, Context, PLUGIN, Run, compile_component, run_plugin};
use config::{Config, Given};
use console::interrupt::Interrupt;
use console::{Color, Console, logging};
use environment::Environment;
use exit::Exit;
use failure::{Failure, Outcome};
use output::Output;
use scrub::Scrubber;
use sink::Format;

/// The guard parses statements into many small values, which mimalloc allocates faster than the
/// system's allocator does.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == CompileProcess::COMMAND) {
        return compile_component::run(&arguments[2..]);
    }
    if arguments.get(1).is_some_and(|first| first == WorkerProcess::COMMAND) {
        return run_plugin::run();
    }
    let environment = Environment::read();
    let exit = match Cli::read(arguments.iter().cloned()) {
        Ok(cli) => start(cli, &environment),
        Err(error) => usage(&error, &arguments),
    };
    ExitCode::from(exit.code())
}

/// Prints the help, the version, or what is wrong with the command line. The arguments could not be
/// parsed, so the two flags that matter are read by hand.
fn usage(error: &clap::Error, arguments: &[OsString]) -> Exit {
    by_hand::<Color>(arguments, "--color").unwrap_or_default().apply();
    let asked = !error.use_stderr();
    // Standard error may be closed, which is no error.
    drop(error.print());
    if asked {
        return Exit::Answered;
    }
    if by_hand::<Format>(arguments, "--format").is_some_and(Format::is_json) {
        let text = error.render().to_string();
        let message =
            text.split("\n\n").next().unwrap_or(&text).trim_start_matches("error: ").trim();
        let failure = Failure::usage(message).hint("`syrch-host --help` shows all flags");
        drop(Output::Stdout.write(&sink::json::document(&failure.document())));
    }
    Exit::Usage
}

/// Says what files of rows become, and shows how far reading them is.
fn report_imports(console: &Arc<Console>) -> ImportProgress {
    let console = Arc::clone(console);
    ImportProgress(Arc::new(move |progress| match progress {
        Progress::Reading { file, rows } => {
            console.progress(&format!("reading {file}: {rows} rows"))
        }
        Progress::Read(read) => {
            console.clear();
            console.note(&read_line(read));
            note_lines(read).iter().for_each(|line| console.note(line));
        }
    }))
}

/// Describes in a line the table that a file was read as: `read sales.csv as the table sales: 3
/// rows of id INTEGER, name TEXT`.
fn read_line(read: &Imported) -> String {
    let Imported { file, table, columns, rows, nested, .. } = read;
    let columns = columns.iter().map(|(name, kind)| format!("{name} {kind}"));
    let rows = syrch::syrch_core::text::count(*rows, "row");
    let nested = match nested.is_empty() {
        true => String::new(),
        false => format!("; lists and structures are left out: {}", few(nested.clone())),
    };
    format!(
        "read {file} as the table {table}: {rows} of {}{nested}",
        few(columns.collect::<Vec<_>>())
    )
}

/// Lines about what reading a file has changed: `sales.price: written with a decimal comma`.
fn note_lines(read: &Imported) -> Vec<String> {
    /// Lines that are printed for a table.
    const LINES: usize = 20;
    let mut lines: Vec<String> = read
        .notes
        .iter()
        .take(LINES)
        .map(|note: &Note| match &note.column {
            Some(column) => format!("{}.{column}: {}", read.table, note.text),
            None => format!("{}: {}", read.table, note.text),
        })
        .collect();
    let further = read.notes.len().saturating_sub(LINES);
    if further > 0 {
        lines.push(format!(
            "{}: {further} further notes are comments of its columns, which `schema` shows",
            read.table
        ));
    }
    lines
}

fn by_hand<T: ValueEnum>(arguments: &[OsString], flag: &str) -> Option<T> {
    let words: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
    T::from_str(
        joined.or_else(|| {
            words.windows(2).find(|pair| pair[0] == flag).map(|pair| pair[1].as_ref())
        })?,
        true,
    )
    .ok()
}

fn start(cli: Cli, environment: &Environment) -> Exit {
    let Cli { global, search, command } = cli;
    let mut command = command.unwrap_or_else(|| Command::Search(Box::new(search)));
    global.color.apply();
    let mut configured = configure(&command, &global, environment);
    if let Err(failure) = &configured
        && failure.exit == Exit::Config
        && command.shows_broken(failure)
    {
        let mut config = Config::default();
        config.effective.settings.compile = environment.compile();
        configured = Ok(config);
    }
    let format = global.format;
    let quiet = global.quiet;
    let new_console = |scrubber: &Scrubber| {
        let console = Console::new(quiet, environment.dumb_terminal, scrubber.clone());
        Arc::new(console.log_format(global.log_format))
    };
    let (result, console, scrubber) = match configured {
        Err(failure) => {
            let scrubber = Scrubber::new(environment.keys());
            (Err(failure), new_console(&scrubber), scrubber)
        }
        Ok(mut config) => {
            let scrubber = Scrubber::new(config.secrets(environment));
            let console = new_console(&scrubber);
            let verbosity = global.verbose.max(u8::from(config.effective.verbose));
            logging::start(&console, verbosity, quiet);
            console.report_panics();
            config.warnings.iter().for_each(|warning| console.warn(warning));
            log_configuration(&config);
            config.effective.settings.imports.progress = Some(report_imports(&console));
            (run(command, &global, config, environment, &console, &scrubber), console, scrubber)
        }
    };
    console.clear();
    match result {
        Ok(exit) => exit,
        Err(failure) => {
            console.error(&failure);
            if format.is_json() {
                let mut document = failure.document();
                scrubber.value(&mut document);
                drop(Output::Stdout.write(&match format {
                    Format::Jsonl => sink::json::line(&document),
                    _ => sink::json::document(&document),
                }));
            }
            failure.exit
        }
    }
}

/// Merges the configuration for the flags of this command.
fn configure(command: &Command, global: &Global, environment: &Environment) -> Outcome<Config> {
    match command.config_flags() {
        Some(given) => config::load(
            Given { file: global.config.as_deref(), ..given },
            environment,
            Path::new("."),
        ),
        None => Ok(Config::default()),
    }
}

/// Logs where the settings come from.
fn log_configuration(config: &Config) {
    for file in &config.files {
        tracing::info!(target: "syrch.config", file = %file.display(), "read the config file");
    }
    for (key, origin) in &config.origins {
        tracing::debug!(target: "syrch.config", %origin, "{key} is set");
    }
}

fn run(
    command: Command,
    global: &Global,
    config: Config,
    environment: &Environment,
    console: &Arc<Console>,
    scrubber: &Scrubber,
) -> Outcome {
    let output = Output::open(global.output.as_deref().filter(|_| !command.makes_folder()))?;
    let inputs = inputs(&command, &config);
    output.refuse_to_replace(&inputs)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Unexpected, format!("no threads: {error}")))?;
    let result = runtime.block_on(async {
        #[cfg(feature = "otel")]
        let (config, otlp) = {
            let mut config = config;
            let otlp = telemetry::open(&mut config, environment)?;
            (config, otlp)
        };
        let interrupt = Interrupt::listen();
        let context = Context {
            config,
            environment: environment.clone(),
            console: Arc::clone(console),
            interrupt: interrupt.clone(),
            scrubber: scrubber.clone(),
            format: global.format,
            output,
            all_rows: global.all_rows,
            verbose: global.verbose > 0,
            file: global.config.clone(),
        };
        if command.loads_plugins() {
            context.warn_of_stale(&inputs);
        }
        let ends_interrupts = command.ends_interrupts();
        let left = async {
            match ends_interrupts {
                true => std::future::pending().await,
                false => interrupt.wait().await,
            }
        };
        let result = tokio::select! {
            result = command.run(context) => result,
            () = left => Err(Failure::new(Exit::Interrupted, "interrupted")),
        };
        #[cfg(feature = "otel")]
        telemetry::close(otlp, console).await;
        result
    });
    // A read of standard input cannot be cancelled; do not wait for it.
    runtime.shutdown_background();
    result
}

/// The files that a command reads, which `-o` must not replace.
fn inputs(command: &Command, config: &Config) -> Vec<(&'static str, PathBuf)> {
    let settings = &config.effective.settings;
    let plugins = settings.strategy.roles.values().filter_map(|source| match source {
        PluginSource::File(path) => Some(path.clone()),
        PluginSource::Builtin(_) => None,
    });
    let strategy = Some(&config.effective.strategy).filter(|word| strategies::is_file(word));
    database_files(&DatabaseUrl::parse(&settings.database))
        .into_iter()
        .map(|path| ("the database", path))
        .chain(settings.model.replay.iter().map(|path| ("the recording in use", path.clone())))
        .chain(settings.model.record.iter().map(|path| ("the recording to be made", path.clone())))
        .chain(
            settings
                .model
                .simulated
                .iter()
                .map(|simulated| ("the suite in use", simulated.suite.clone())),
        )
        .chain(settings.retrieval.notes.iter().map(|path| ("the notes in use", path.clone())))
        .chain(settings.retrieval.examples.iter().map(|path| ("the examples in use", path.clone())))
        .chain(settings.semantics.files.iter().map(|path| ("a semantics file", path.clone())))
        .chain(config.files.iter().map(|path| ("the config file in use", path.clone())))
        .chain(plugins.map(|path| (PLUGIN, path)))
        .chain(strategy.map(|word| ("a strategy file in use", PathBuf::from(word))))
        .chain(command.inputs())
        .collect()
}
