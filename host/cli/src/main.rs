//! `syrch-host`: arguments, output and exit codes. The only room that prints or reads the environment.

mod args;
mod commands;
mod config;
mod console;
mod environment;
mod exit;
mod failure;
mod output;
mod scrub;
mod sink;
#[cfg(feature = "otel")]
mod telemetry;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::json;
use syrch::{PluginSource, strategies};

use args::{Cli, Command, PluginCommand, SchemaArgs, StrategyCommand, SuiteCommand};
use commands::{Context, compile_component};
use config::{Config, Given};
use console::interrupt::Interrupt;
use console::{Color, Console, logging};
use environment::Environment;
use exit::Exit;
use failure::{Failure, Outcome};
use output::Output;
use scrub::Scrubber;
use sink::Format;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == compile_component::NAME) {
        return compile_component::run(&arguments[2..]);
    }
    let environment = Environment::read();
    let exit = match Cli::read(arguments.iter().cloned()) {
        Ok(cli) => start(cli, &environment),
        Err(error) => usage(&error, &arguments),
    };
    ExitCode::from(exit.code())
}

/// Help, version, or wrong usage. The flags are not known then, so the two that matter are looked for by hand.
fn usage(error: &clap::Error, arguments: &[OsString]) -> Exit {
    by_hand::<Color>(arguments, "--color").unwrap_or_default().apply();
    let asked = !error.use_stderr();
    // Standard error may be closed; there is nobody left to tell then.
    drop(error.print());
    if asked {
        return Exit::Answered;
    }
    if by_hand::<Format>(arguments, "--format").is_some_and(Format::is_json) {
        let text = error.render().to_string();
        let message = text.split("\n\n").next().unwrap_or(&text).trim_start_matches("error: ").trim();
        let failure = Failure::usage(message).hint("`syrch-host --help` shows all flags");
        drop(Output::Stdout.write(&sink::json::document(&failure.document())));
    }
    Exit::Usage
}

fn by_hand<T: ValueEnum>(arguments: &[OsString], flag: &str) -> Option<T> {
    let words: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let joined = words.iter().find_map(|word| word.strip_prefix(flag)?.strip_prefix('='));
    let apart = || words.windows(2).find(|pair| pair[0] == flag).map(|pair| pair[1].as_ref());
    T::from_str(joined.or_else(apart)?, true).ok()
}

fn start(mut cli: Cli, environment: &Environment) -> Exit {
    cli.global.color.apply();
    let mut configured = configure(&cli, environment);
    if let (Some(Command::Doctor(doctor)), Err(failure)) = (&mut cli.command, &configured)
        && failure.exit == Exit::Config
    {
        // To say so is the doctor's task; the other checks see a first run.
        doctor.broken = Some(failure.clone());
        let mut config = Config::default();
        config.effective.settings.compile = environment.compile();
        configured = Ok(config);
    }
    let (format, quiet) = (cli.global.format, cli.global.quiet);
    let new_console = |scrubber: &Scrubber| {
        let console = Console::new(quiet, environment.dumb_terminal, scrubber.clone());
        Arc::new(console.log_format(cli.global.log_format))
    };
    let (result, console, scrubber) = match configured {
        Err(failure) => {
            let scrubber = Scrubber::new(environment.keys());
            (Err(failure), new_console(&scrubber), scrubber)
        }
        Ok(config) => {
            let scrubber = Scrubber::new(config.secrets(environment));
            let console = new_console(&scrubber);
            let verbosity = cli.global.verbose.max(u8::from(config.effective.verbose));
            logging::start(&console, verbosity, quiet);
            console.hear_panics();
            config.warnings.iter().for_each(|warning| console.warn(warning));
            tell_configuration(&config);
            (run(cli, config, environment, &console, &scrubber), console, scrubber)
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
fn configure(cli: &Cli, environment: &Environment) -> Outcome<Config> {
    let file = cli.global.config.as_deref();
    let given = match &cli.command {
        None => Given::new(file, &cli.search.flags, &cli.search.parameters),
        Some(Command::Search(search)) => Given::new(file, &search.flags, &search.parameters),
        Some(Command::Config(config)) => Given::new(file, &config.search.flags, &config.search.parameters),
        Some(Command::Schema(schema)) => Given::new(file, &database_flags(schema), &[]),
        Some(Command::Sql(sql)) => Given::new(file, &sql.flags, &[]),
        Some(Command::Suite(SuiteCommand::Lint(lint))) => Given::new(file, &lint.flags, &[]),
        Some(Command::Suite(SuiteCommand::Fuzz(fuzz))) => Given::new(file, &fuzz.flags, &[]),
        Some(Command::Benchmark(benchmark)) => Given::new(file, &benchmark.flags, &benchmark.parameters),
        Some(Command::Batch(batch)) => Given::new(file, &batch.flags, &batch.parameters),
        Some(Command::Eval(eval)) => Given::new(file, &eval.flags, &eval.parameters),
        // What -P says is for the arms and the cells.
        Some(Command::Compare(compare)) => Given::new(file, &compare.flags, &[]),
        Some(Command::Grid(grid)) => Given::new(file, &grid.flags, &[]),
        Some(Command::BuildIndex(build)) => Given::new(file, &build.flags, &[]),
        Some(Command::Doctor(doctor)) => Given::new(file, &doctor.flags, &[]),
        Some(Command::Strategy(_) | Command::Calibrate(_)) => Given { file, any_strategy: true, ..Given::default() },
        Some(Command::Plugin(_) | Command::Trace(_) | Command::Cache(_)) => Given { file, ..Given::default() },
        Some(Command::Report(_)) => Given { file, any_strategy: true, ..Given::default() },
        // The script is the same whatever is configured, also where that cannot be read.
        Some(Command::Completions { .. }) => return Ok(Config::default()),
    };
    config::load(given, environment, Path::new("."))
}

fn database_flags(schema: &SchemaArgs) -> config::flags::Flags<false> {
    let mut flags = schema.flags.clone();
    if let Some(database) = &schema.database {
        flags.set("execution.db_path", json!(database));
    }
    flags
}

/// Logs what the settings come from.
fn tell_configuration(config: &Config) {
    for file in &config.files {
        tracing::info!(target: "syrch.config", file = %file.display(), "read the config file");
    }
    for (key, origin) in &config.origins {
        tracing::debug!(target: "syrch.config", %origin, "{key} is set");
    }
}

fn run(cli: Cli, config: Config, environment: &Environment, console: &Arc<Console>, scrubber: &Scrubber) -> Outcome {
    // There -o names a folder.
    let is_fuzz = matches!(&cli.command, Some(Command::Suite(SuiteCommand::Fuzz(_))));
    let output = Output::open(cli.global.output.as_deref().filter(|_| !is_fuzz))?;
    output.spares(&inputs(&cli, &config))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Unexpected, format!("no threads: {error}")))?;
    let mut command = cli.command.unwrap_or(Command::Search(Box::new(cli.search)));
    if let Command::Compare(compare) = &mut command {
        compare.config.clone_from(&cli.global.config);
    }
    let result = runtime.block_on(async {
        #[cfg(feature = "otel")]
        let (config, otlp) = {
            let mut config = config;
            let otlp = telemetry::open(&mut config, environment)?;
            (config, otlp)
        };
        let context = Context {
            config,
            environment: environment.clone(),
            console: Arc::clone(console),
            interrupt: Interrupt::listen(),
            scrubber: scrubber.clone(),
            format: cli.global.format,
            output,
            all_rows: cli.global.all_rows,
        };
        let result = dispatch(context, command).await;
        #[cfg(feature = "otel")]
        telemetry::close(otlp, console).await;
        result
    });
    // A read of standard input cannot be cancelled; do not wait for it.
    runtime.shutdown_background();
    result
}

/// The files that a command reads, which `-o` must not replace.
fn inputs(cli: &Cli, config: &Config) -> Vec<(&'static str, PathBuf)> {
    let settings = &config.effective.settings;
    let named = match &cli.command {
        Some(Command::Plugin(PluginCommand::Inspect { plugin })) => Some(PluginSource::parse(plugin)),
        _ => None,
    };
    let plugins = settings.strategy.roles.values().chain(&named).filter_map(|source| match source {
        PluginSource::File(path) => Some(path.clone()),
        PluginSource::Builtin(_) => None,
    });
    let shown = match &cli.command {
        Some(Command::Strategy(StrategyCommand::Show { strategy })) => Some(strategy),
        _ => None,
    };
    let suite = match &cli.command {
        Some(Command::Suite(SuiteCommand::Lint(lint))) => Some(lint.suite.clone()),
        _ => None,
    };
    let strategies = shown.into_iter().chain([&config.effective.strategy]).filter(|word| strategies::is_file(word));
    output::database_files(&settings.database)
        .into_iter()
        .map(|path| ("the database", path))
        .chain(settings.model.replay.iter().map(|path| ("the recording in use", path.clone())))
        .chain(settings.model.record.iter().map(|path| ("the recording to be made", path.clone())))
        .chain(settings.model.simulated.iter().map(|simulated| ("the suite in use", simulated.suite.clone())))
        .chain(settings.retrieval.notes.iter().map(|path| ("the notes in use", path.clone())))
        .chain(settings.retrieval.examples.iter().map(|path| ("the examples in use", path.clone())))
        .chain(config.files.iter().map(|path| ("the config file in use", path.clone())))
        .chain(suite.map(|path| ("the suite", path)))
        .chain(plugins.map(|path| ("a plugin in use", path)))
        .chain(strategies.map(|word| ("a strategy file in use", PathBuf::from(word))))
        .collect()
}

async fn dispatch(context: Context, command: Command) -> Outcome {
    // Searches end Ctrl-C themselves, with the best so far.
    let command = match command {
        Command::Search(search) if !search.dry_run && commands::repl::opens(&search) => {
            return commands::repl::run(context, *search).await;
        }
        Command::Search(search) => return commands::search::run(context, *search).await,
        Command::Trace(trace) => return commands::trace::run(context, trace).await,
        Command::BuildIndex(_) => return commands::build_index::run(context).await,
        Command::Benchmark(benchmark) => return commands::benchmark::run(context, *benchmark).await,
        Command::Batch(batch) => return commands::batch::run(context, *batch).await,
        Command::Eval(eval) => return commands::eval::run(context, *eval).await,
        Command::Compare(compare) => return commands::compare::run(context, *compare).await,
        Command::Grid(grid) => return commands::grid::run(context, *grid).await,
        other => other,
    };
    let work = async {
        match command {
            // Dispatched above.
            Command::Search(_)
            | Command::Trace(_)
            | Command::BuildIndex(_)
            | Command::Benchmark(_)
            | Command::Batch(_)
            | Command::Eval(_)
            | Command::Compare(_)
            | Command::Grid(_) => Ok(Exit::Answered),
            Command::Schema(schema) => commands::schema::run(&context, schema.table.as_deref()).await,
            Command::Config(config) => commands::config::run(&context, config.origin),
            Command::Sql(sql) => commands::sql::run(&context, sql).await,
            Command::Plugin(plugin) => commands::plugin::run(&context, plugin).await,
            Command::Strategy(strategy) => commands::strategy::run(&context, strategy).await,
            Command::Report(report) => commands::report::run(&context, &report),
            Command::Cache(cache) => commands::cache::run(&context, cache).await,
            Command::Calibrate(fit) => commands::calibrate::run(&context, fit).await,
            Command::Suite(suite) => commands::suite::run(&context, suite).await,
            Command::Doctor(doctor) => commands::doctor::run(&context, doctor.broken).await,
            Command::Completions { shell } => commands::completions::run(&context, shell),
        }
    };
    tokio::select! {
        result = work => result,
        () = context.interrupt.wait() => Err(Failure::new(Exit::Interrupted, "interrupted")),
    }
}
