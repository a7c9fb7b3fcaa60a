//! The flags of a run over a suite.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Arg, Args, ValueEnum};
use syrch::syrch_core::DatabaseUrl;
use syrch_grading::grade::rules::Rule;
use syrch_grading::grade::run::{RunBudgets, Runs, Shard, Wave, read_header};
use syrch_grading::{SuiteOptions, Traces};

use crate::commands::Context;
use crate::commands::report_file::ReportFile;
use crate::commands::shard::choose_shard;
use crate::config::Origin;
pub(crate) use crate::config::spec::DATABASE;
use crate::failure::{Failure, Outcome};

/// The help of `--db` where a suite is read: `#[command(mut_arg(DATABASE, databases))]` on the
/// flags of a command that takes one.
pub(crate) fn databases(flag: Arg) -> Arg {
    flag.value_name("FILE|FOLDER").help_heading("Run").help(
        "Where the databases of the suite are: a folder, which is searched before that of the \
         suite, or the one database of all questions. A database that is configured for searches \
         does not count [default: beside the suite]",
    )
}

// Flags of a run over a suite.
#[derive(Args, Clone)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunArgs {
    /// The comparison rule that the report goes by: bag-v1, bird-ex, spider-ex, spider2, strict.
    /// The verdicts of all are saved
    #[arg(long, value_name = "NAME", default_value = "bag-v1")]
    pub(crate) rule: Rule,
    /// Questions at once
    #[arg(
        long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=256)
    )]
    pub(crate) workers: u16,
    /// Only part i of n of the suite, such as 2/8; `report` merges the parts. Budgets and rates are
    /// those of the whole run, of which each part uses its own [default: that of SYRCH_SHARD, of a
    /// task of a Slurm array, or of a pod of an Indexed Job with SYRCH_SHARDS]
    #[arg(long, value_name = "i/n")]
    pub(crate) shard: Option<Shard>,
    /// Ask only the first i of n parts of the suite, such as 1/4, and the rest another time: all
    /// shards end a wave before the next begins
    #[arg(long, value_name = "i/n", requires = "continued")]
    pub(crate) wave: Option<Wave>,
    /// Continue a run: its id, the beginning of it, `last`, or its folder. All else must be as it
    /// was
    #[arg(long, value_name = "RUN", group = "continued")]
    pub(crate) resume: Option<String>,
    /// The folder of the run, where it begins, or continues if it is there. Each shard has a folder
    /// of its own in it, and `report FOLDER` merges them
    #[arg(long, value_name = "FOLDER", group = "continued")]
    pub(crate) folder: Option<PathBuf>,
    /// Ask again what ended with an error before
    #[arg(long, requires = "continued")]
    pub(crate) retry_failed: bool,
    /// Stop when the whole run has made so many model calls, those from a cache included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) total_calls: Option<u64>,
    /// Stop when it has used so many tokens of prompts and replies
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) total_tokens: Option<u64>,
    /// Stop when it has cost so many dollars
    #[arg(long, value_name = "X", value_parser = number, allow_negative_numbers = true)]
    pub(crate) total_usd: Option<f64>,
    /// Stop when it has taken so long, pauses aside
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) total_time: Option<Duration>,
    /// Stop when so many searches, one after the other, failed by the model's endpoint; 0: never
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) max_outages: u32,
    /// The searches whose journals are retained: none, those that were wrong, all
    #[arg(long, value_name = "WHICH", default_value = "wrong", hide_possible_values = true)]
    pub(crate) traces: TracesArg,
    /// Ask under so many seeds, from --seed on: figures are those of the first, with a band over
    /// all [default: 5 of a simulated model, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    pub(crate) seeds: Option<u16>,
    /// The folder of a fuzzed suite, as `suite fuzz` makes one: answers that are right are tried on
    /// its databases, too, and the verdict `fuzzed` stands beside those of the rules
    #[arg(long, value_name = "FOLDER")]
    pub(crate) fuzz: Option<PathBuf>,
    /// When all is done, run each right answer and the expected statement so many times in turn,
    /// and report how quick the answers are (R-VES)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) timed: Option<u32>,
    /// Write the report to this file, too; its ending is the format: .json, .md, .csv, .parquet,
    /// .html, or .xml (JUnit). May be given several times
    #[arg(long, value_name = "FILE", value_parser = ReportFile::for_graded)]
    pub(crate) report: Vec<ReportFile>,
}

/// [`Traces`] as a flag's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TracesArg(pub(crate) Traces);

impl ValueEnum for TracesArg {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Traces::None), Self(Traces::Wrong), Self(Traces::All)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self.0 {
            Traces::None => "none",
            Traces::Wrong => "wrong",
            Traces::All => "all",
        }))
    }
}

/// A share from 0 to 1, as a flag's value.
pub(crate) fn share(word: &str) -> Result<f64, String> {
    let share = word.trim().parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("`{word}` is no share from 0 to 1, such as 0.8"))
}

/// A number above 0, as a flag's value.
pub(crate) fn number(word: &str) -> Result<f64, String> {
    let number =
        word.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("`{word}` is not a number above 0"))
}

/// A time in seconds above 0, as a flag's value.
pub(crate) fn seconds(word: &str) -> Result<Duration, String> {
    Duration::try_from_secs_f64(number(word)?).map_err(|_| format!("`{word}` seconds are too many"))
}

impl RunArgs {
    /// The options of a run over that suite. Without a suite, that of the resumed run is used.
    pub(crate) fn options(
        &self,
        context: &mut Context,
        suite: Option<PathBuf>,
    ) -> Outcome<SuiteOptions> {
        let shard = choose_shard(self.shard, context)?;
        self.options_of(context, suite, shard)
    }

    /// The options of a run over that part of a suite.
    pub(crate) fn options_of(
        &self,
        context: &Context,
        suite: Option<PathBuf>,
        shard: Option<Shard>,
    ) -> Outcome<SuiteOptions> {
        refuse_interactive(context)?;
        let runs = runs(context)?;
        let budgets = RunBudgets {
            calls: self.total_calls,
            tokens: self.total_tokens,
            usd: self.total_usd,
            time: self.total_time,
        };
        Ok(SuiteOptions {
            suite: self.suite(&runs, suite)?,
            databases: databases_flag(context),
            rule: self.rule,
            workers: usize::from(self.workers),
            shard,
            folder: self.folder.as_ref().map(|folder| match shard {
                Some(shard) => folder.join(shard.folder_name()),
                None => folder.clone(),
            }),
            wave: self.wave,
            runs: runs.path().to_owned(),
            resume: self.resume.clone(),
            retry_failed: self.retry_failed,
            budgets: shard.map_or(budgets, |shard| budgets.part(shard)),
            max_outages: self.max_outages,
            traces: self.traces.0,
            stop_early: false,
            answers: Vec::new(),
            seeds: self.seeds.map_or_else(|| default_seeds(context), u32::from),
            asks_ungraded: false,
            fuzz: self.fuzz.clone(),
            timed: self.timed.unwrap_or(0),
        })
    }

    fn suite(&self, runs: &Runs, suite: Option<PathBuf>) -> Outcome<PathBuf> {
        match (suite, &self.resume) {
            (Some(suite), _) => Ok(suite),
            (None, Some(run)) => {
                let header = runs
                    .find(run)
                    .and_then(|entry| read_header(&entry.path))
                    .map_err(syrch::Error::from)?;
                Ok(PathBuf::from(header.suite.path))
            }
            (None, None) => Err(Failure::usage("no suite")
                .hint("name its file, such as `syrch-host benchmark questions.jsonl`")),
        }
    }
}

/// The default number of seeds: several for a simulated model, whose figures are shown as a band.
fn default_seeds(context: &Context) -> u32 {
    const SIMULATED: u32 = 5;
    if context.config.effective.settings.model.simulated.is_some() { SIMULATED } else { 1 }
}

/// Returns the location of the databases of the suite, when a flag gives it. A database that is
/// configured for searches is not that of all questions.
pub(crate) fn databases_flag(context: &Context) -> Option<DatabaseUrl> {
    let is_flag = matches!(context.config.origin(DATABASE), Origin::Flag(_));
    is_flag.then(|| DatabaseUrl::parse(&context.config.effective.settings.database))
}

/// Refuses `--interactive`, since no user answers questions during a run.
pub(crate) fn refuse_interactive(context: &Context) -> Outcome<()> {
    let is_flag = matches!(context.config.origin("execution.interactive"), Origin::Flag(_));
    if is_flag && context.config.effective.interactive {
        return Err(Failure::usage(
            "--interactive does not go with graded questions: no answer may have help",
        )
        .hint("a question that asks back counts as such in the report"));
    }
    Ok(())
}

/// The runs of the user over suites.
pub(crate) fn runs(context: &Context) -> Outcome<Runs> {
    let state = context.config.runs.as_deref().and_then(Path::parent);
    let state = state.ok_or_else(|| {
        Failure::config("there is no folder for runs")
            .hint("set SYRCH_STATE_DIR to a folder of yours")
    })?;
    Ok(Runs::new(state.join("suites")))
}
