//! `grid`: asks the same questions with many settings, and shows which are best.

mod knobs;
pub(super) mod list;
mod one;
pub(super) mod saved;
mod shared;
pub(super) mod written;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, Args};
use saved::SavedGrid;
use serde_json::Value;
use syrch::syrch_core::DatabaseUrl;
use syrch_grading::{Axis, GridCell, GridError, Knob, SuiteOptions, cells, default_axes};

use super::Run;
use super::graded::{DATABASE, Occasions, RunArgs, carry_out, databases};
use super::{Context, asking};
use crate::config::flags::Flags;
use crate::config::{Given, Origin};
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
pub(super) use knobs::{Assigned, Named, Plugins};
use one::One;
use syrch_report::words::count;

#[derive(Args)]
#[command(
    mut_arg(DATABASE, databases), mut_arg("workers", workers), mut_arg("seeds", seeds),
    mut_arg("report", |flag| flag.hide(true))
)]
pub(crate) struct GridArgs {
    /// The suite: JSON lines, a JSON array (also BIRD's and Spider's), or CSV. Or ask one question
    /// with -q
    #[arg(value_name = "SUITE", required_unless_present = "question", conflicts_with = "question")]
    pub(crate) suite: Option<PathBuf>,
    /// One question in place of a suite; --db is its database
    #[arg(short, long, value_name = "TEXT", help_heading = "One question")]
    pub(crate) question: Option<String>,
    /// An explanation of terms of the question
    #[arg(long, value_name = "TEXT", help_heading = "One question", requires = "question")]
    pub(crate) evidence: Option<String>,
    /// A CSV file of the rows that are right, the first line naming the columns. Without it the
    /// surest answer is the best
    #[arg(long, value_name = "FILE.csv", help_heading = "One question", requires = "question")]
    pub(crate) expected: Option<PathBuf>,
    /// A statement whose rows are right
    #[arg(
        long,
        value_name = "SQL",
        help_heading = "One question",
        requires = "question",
        conflicts_with = "expected"
    )]
    pub(crate) expected_sql: Option<String>,
    /// Values to try, with commas between them: of ROLE.KEY, a plugin's own setting (KEY alone will
    /// do when only one has it), of policy.KEY, settings.NAME or calibration (false lets the claims
    /// of a model stand). Every choice of them is a cell; one value alone holds for all cells, and
    /// so does a flag such as --max-depth. Values are JSON or text [default: the 54 cells of syrch
    /// 0.1.2, policy.max_depth=1,3,5 policy.high_confidence=0.7,0.85,0.95 policy.max_attempts=1,3,5
    /// calibration=true,false]
    #[arg(
        short = 'P', long = "param", value_name = "NAME=VALUES", help_heading = "Grid",
        value_parser = Assigned::list
    )]
    pub(crate) parameters: Vec<Assigned>,
    /// Try only so many cells, drawn at random from --seed
    #[arg(
        long, value_name = "N", help_heading = "Grid",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    pub(crate) random: Option<u64>,
    /// Write config.json, results.json, best.json and summary.md to this folder [default: the
    /// folder of the run]
    #[arg(long, value_name = "FOLDER", help_heading = "Grid")]
    pub(crate) out: Option<PathBuf>,
    /// The flags of the run.
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The options of a search.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

fn workers(flag: Arg) -> Arg {
    flag.long("grid-max-workers")
        .visible_alias("workers")
        .help("Cells at work at once")
        .default_value("3")
}

fn seeds(flag: Arg) -> Arg {
    flag.help(
        "Ask in each cell under so many seeds, from --seed on: figures are those of the first, \
         with a band over all [default: 1]",
    )
}

impl Run for GridArgs {
    const ENDS_INTERRUPTS: bool = true;
    const LOADS_PLUGINS: bool = true;

    /// The settings of `-P` are for the cells, and not for the configuration.
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &[]))
    }

    async fn run(self, mut context: Context) -> Outcome {
        if !self.run.report.is_empty() {
            return Err(Failure::usage("--report does not go with a grid").hint(
                "--out names the folder of its files: config.json, results.json, best.json \
                 and summary.md",
            ));
        }
        // The parser does not look at what a flag requires where that conflicts with another.
        let of_one = [
            ("--evidence", self.evidence.is_some()),
            ("--expected", self.expected.is_some()),
            ("--expected-sql", self.expected_sql.is_some()),
        ];
        if let Some((flag, _)) =
            of_one.iter().find(|(_, is_given)| *is_given && self.suite.is_some())
        {
            return Err(Failure::usage(format!("{flag} is for one question, asked by -q"))
                .hint("the questions of a suite have their own evidence and expected answers"));
        }
        let expected: Vec<_> =
            self.expected.iter().map(|path| ("the expected rows", path.clone())).collect();
        context.output.refuse_to_replace(&expected)?;
        self.out.as_deref().map(written::check).transpose()?;
        let (options, one) = options(&mut context, &self)?;
        let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
        asking::prepare(&mut context, &watch).await?;
        let axes = axes(&context, &self, &watch).await?;
        let base = &context.config.effective.settings;
        let cells = cells(base, &axes, self.random.map(|wanted| (wanted, base.seed)))
            .map_err(grid_failure)?;
        let settings: BTreeMap<String, BTreeMap<String, Value>> =
            cells.iter().map(|cell| (cell.name.clone(), cell.values.clone())).collect();
        if let Some(one) = &one {
            one.check(base).await?;
        }
        let mut arms: Vec<_> =
            cells.into_iter().map(|GridCell { name, settings, .. }| (name, settings)).collect();
        let runs = options.runs.clone();
        let calls = shared::share(&mut arms, &runs);
        let unshared = shared::sharing_obstacle(&arms);
        context.console.note(&format!(
            "{} of {}",
            count(arms.len() as u64, "cell"),
            count(axes.len() as u64, "setting")
        ));
        let saved =
            SavedGrid::new(settings, one.as_ref().is_none_or(One::has_expected_answer), unshared);
        let occasions = Occasions {
            accepted: &|inputs| {
                let inputs = [inputs, &expected].concat();
                self.out.as_deref().map_or(Ok(()), |folder| written::spare(folder, &inputs))
            },
            started: &|folder| {
                if let Err(error) = saved.write(folder) {
                    context
                        .console
                        .warn(&format!("`report` will not know the cells of this run: {error}"));
                }
            },
        };
        let ended = carry_out(&context, arms, options, occasions).await?;
        drop(calls);
        let mut report = saved.report(
            &ended.outcome.record,
            self.run.rule.name(),
            ended.outcome.timings.as_ref(),
        );
        if let Some(why) = &ended.why {
            report.basis.because(why);
        }
        let report = context.scrubber.document(report)?;
        written::print(&context, &report)?;
        let folder = self.out.as_deref().unwrap_or(&ended.outcome.folder);
        written::files(&context, &report, folder)?;
        match ended.report(&context) {
            Exit::Answered if report.best.is_none() => {
                let failure = Failure::new(Exit::NoAnswer, "no cell has an answer");
                context.console.error(&failure.hint(
                    "--traces all retains the journals of the searches, and `trace \
                     show` draws them",
                ));
                Ok(Exit::NoAnswer)
            }
            exit => Ok(exit),
        }
    }
}

/// The options of the run, and the one question in place of a suite.
fn options(context: &mut Context, arguments: &GridArgs) -> Outcome<(SuiteOptions, Option<One>)> {
    let Some(question) = &arguments.question else {
        let options = arguments.run.options(context, arguments.suite.clone())?;
        return Ok((SuiteOptions { seeds: one_seed(arguments), ..options }, None));
    };
    context.needs_database()?;
    let one = One::new(question, arguments);
    // One question has no parts, whatever the environment names.
    let mut options =
        arguments.run.options_of(context, Some(PathBuf::new()), arguments.run.shard)?;
    // Of one question it is the database, whoever names it.
    let database = DatabaseUrl::parse(&context.config.effective.settings.database);
    options.suite = one.write(&options.runs, &database)?;
    options.databases = Some(database);
    options.seeds = one_seed(arguments);
    options.asks_ungraded = !one.has_expected_answer();
    Ok((options, Some(one)))
}

/// A grid has many arms as it is: it is asked under further seeds only when that is wanted.
fn one_seed(arguments: &GridArgs) -> u32 {
    arguments.run.seeds.map_or(1, u32::from)
}

/// The settings that are varied: the user's, or the default ones without those that a flag fixes.
async fn axes(context: &Context, arguments: &GridArgs, watch: &Watch) -> Outcome<Vec<Axis>> {
    let settings = &context.config.effective.settings;
    let mut plugins = Plugins::new(watch);
    let mut axes = Vec::new();
    for Assigned { named, name, values } in &arguments.parameters {
        let knob = plugins.knob(named, settings).await.map_err(|failure: Failure| Failure {
            message: format!("-P {}", failure.message),
            ..failure
        })?;
        if let Some(flag) = knob_flag(context, &knob) {
            return Err(Failure::usage(format!("-P {name} and {flag} set the same"))
                .hint("leave out one of them; -P with one value holds for all cells"));
        }
        axes.push(Axis { knob, values: values.clone() });
    }
    if axes.iter().any(|axis: &Axis| axis.values.len() > 1) {
        return Ok(axes);
    }
    for axis in default_axes() {
        let by_flag = knob_flag(context, &axis.knob);
        let by_value = axes.iter().any(|known| known.knob == axis.knob).then(|| "-P".to_owned());
        match by_flag.or(by_value) {
            Some(flag) => {
                context.console.note(&format!("{} is not varied: {flag} fixes it", axis.knob))
            }
            None => axes.push(axis),
        }
    }
    Ok(axes)
}

/// The flag that sets the same as a knob. `None` if no flag does.
fn knob_flag(context: &Context, knob: &Knob) -> Option<String> {
    let key = match knob {
        Knob::Policy(limit) => match limit.key {
            "max_attempts" => "execution.max_attempts_per_node",
            "max_parallel" => "execution.max_concurrency",
            "max_depth" => "execution.max_depth",
            "max_rounds" => "execution.max_rounds",
            "high_confidence" => "execution.high_confidence",
            _ => return None,
        },
        Knob::Calibration => "plugins.calibrator",
        Knob::Plugin(..) | Knob::Setting(_) => return None,
    };
    match context.config.origin(key) {
        Origin::Flag(flag) => Some(flag),
        _ => None,
    }
}

fn grid_failure(error: GridError) -> Failure {
    let failure = Failure::usage(error.to_string());
    match error {
        GridError::TooMany { .. } => failure
            .hint("--random 100 tries so many of them, drawn at random; or give fewer values"),
        GridError::NoCalibrator(_) => {
            failure.hint("leave calibration=true, or do not vary the calibrator")
        }
        GridError::Unfit(_) | GridError::Twice { .. } | GridError::TwoAxes(_) => failure,
    }
}
