//! `compare`: asks several strategies the same questions, and tests whether they differ.

mod arm;
pub(super) mod served;
pub(super) mod terms;
mod word;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arm::Arms;
use clap::Args;
use clap::builder::RangedI64ValueParser;
use syrch::strategies;
use syrch::{Provider, Settings};
use syrch_grading::grade::report::{CompareOptions, FailOn, RunReport, fail_on, failing};
use syrch_grading::grade::stats;
use syrch_grading::read_suite;
use syrch_report::words::count;
use terms::Terms;

use super::Run;
use super::graded::{
    DATABASE, Document, Inputs, Occasions, RunArgs, carry_out, check_slices, databases,
    note_traces, print, spare_all, write_all,
};
use super::grid::Assigned;
use super::{Context, asking};
use crate::commands::report_file::ReportFile;
use crate::config::Given;
use crate::config::flags::Flags;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The part of the questions that arms usually differ in (16 systems on 919 questions of Spider
/// differed in 12 %, two by two).
const DISCORDANCE: f64 = 0.12;
/// A difference between arms that is worth knowing.
const SMALL: f64 = 0.05;

#[derive(Args)]
#[command(
    mut_arg(DATABASE, databases),
    override_usage = "syrch-host compare [OPTIONS] <ARM> <ARM>... <SUITE>"
)]
pub(crate) struct CompareArgs {
    /// Two arms or more, then the suite. An arm is a strategy's name, a strategy file (.yml), a
    /// plugin file (.wasm) in the role that it implements, or ROLE=PLUGIN with a file or a
    /// built-in's name; all else is as configured. Settings of one arm stand behind a colon, with
    /// commas between them: decompose:policy.max_attempts=1,solver.KEY=VALUE
    #[arg(value_name = "ARM|SUITE", num_args = 1.., required = true)]
    pub(crate) words: Vec<String>,
    /// Stop as soon as the e-process shows that the two arms differ (E of 20 or more), which may be
    /// tested after every question. Of shards, `report` decides it between waves
    #[arg(long, help_heading = "Comparison")]
    pub(crate) stop_early: bool,
    /// Exit with 5 when an arm, held against the first, is worse beyond chance (regression), better
    /// or worse (difference), not better (not-better), or less than so many points better, chance
    /// or not (below:POINTS; below:-2 allows a loss of two). May be given several times
    #[arg(long, value_name = "CONDITION", help_heading = "Comparison", allow_hyphen_values = true)]
    pub(crate) fail_on: Vec<FailOn>,
    /// The number of bootstrap samples for the interval of a difference
    #[arg(
        long, value_name = "N", help_heading = "Comparison",
        default_value_t = CompareOptions::default().resamples, value_parser = resamples()
    )]
    pub(crate) resamples: u32,
    /// Show the differences by the values of this field of the suite, too, such as `difficulty` or
    /// `db`. May be given several times
    #[arg(long, value_name = "FIELD", help_heading = "Comparison")]
    pub(crate) slice: Vec<String>,
    /// The flags of the run.
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// A value for all arms: ROLE.KEY of a plugin's own setting (KEY alone will do when only one
    /// has it), policy.KEY, settings.NAME, or calibration=false, which lets the claims of a model
    /// stand
    #[arg(
        short = 'P', long = "param", value_name = "NAME=VALUE", help_heading = "Search",
        value_parser = Assigned::read_one
    )]
    pub(crate) parameters: Vec<Assigned>,
    /// The options of a search.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

/// Makes a parser of the number of bootstrap samples.
pub(super) fn resamples() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(100..=1_000_000)
}

impl Run for CompareArgs {
    const ENDS_INTERRUPTS: bool = true;
    const LOADS_PLUGINS: bool = true;

    /// The settings of `-P` are for the arms, and not for the configuration.
    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &[]))
    }

    async fn run(self, mut context: Context) -> Outcome {
        let run = &self.run;
        run.report.iter().try_for_each(ReportFile::check)?;
        let (words, suite) = arms_and_suite(&self)?;
        let mut options = run.options(&mut context, Some(suite.clone()))?;
        options.stop_early = self.stop_early;
        let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
        asking::prepare(&mut context, &watch).await?;
        let Arms { arms, files } = arm::resolve(words, &self, &context, &watch).await?;
        context.output.refuse_to_replace(&files)?;
        context.warn_of_stale(&files);
        spare_all(&run.report, &files)?;
        let questions = read_suite(&suite).await?;
        let fields = questions
            .questions
            .iter()
            .flat_map(|question| question.fields.keys().map(String::as_str));
        check_slices(&self.slice, fields)?;
        let asked = options.shard.map_or(questions.questions.len() as u64, |shard| {
            shard.share(questions.questions.len() as u64)
        });
        drop(questions);
        let terms = Terms::new(self.resamples, sharing_obstacle(&arms));
        let accepted = |inputs: &Inputs| {
            spare_all(&run.report, inputs)?;
            context.console.note(&describe_detectable(asked));
            Ok(())
        };
        let started = |folder: &Path| {
            if let Err(error) = terms.going_on(folder).write(folder) {
                context
                    .console
                    .warn(&format!("`report` will not know the terms of this comparison: {error}"));
            }
        };
        let ended = carry_out(
            &context,
            arms,
            options,
            Occasions { accepted: &accepted, started: &started },
        )
        .await?;
        let mut document =
            ended.document(run.rule, &CompareOptions { seed: None, resamples: terms.resamples });
        document.warn(terms.going_on(&ended.outcome.folder).warnings);
        let document = document.scrub(&context.scrubber)?;
        print(&context, &document, &self.slice)?;
        write_all(&run.report, &document)?;
        note_traces(&context, &document, &ended.outcome.folder);
        match ended.report(&context) {
            Exit::Answered => Ok(check_gates(&context, &document, &self.fail_on)),
            exit => Ok(exit),
        }
    }
}

/// The words of the arms, and the suite.
fn arms_and_suite(arguments: &CompareArgs) -> Outcome<(&[String], PathBuf)> {
    let Some((suite, words)) = arguments.words.split_last() else {
        return Err(Failure::usage("no arms and no suite"));
    };
    if words.len() < 2 {
        let what = if words.is_empty() { "no arm is named" } else { "only one arm is named" };
        return Err(Failure::usage(format!(
            "{what}: a comparison needs two, and a suite as the last word"
        ))
        .hint(
            "as in `syrch-host compare single vote5 questions.jsonl`; `syrch-host benchmark` \
             grades one strategy",
        ));
    }
    if arguments.stop_early && words.len() != 2 {
        return Err(Failure::usage(format!(
            "--stop-early is for two arms, and {} are named",
            words.len()
        ))
        .hint("compare two at a time, or without --stop-early"));
    }
    if strategies::names().any(|name| name == suite) && !std::path::Path::new(suite).is_file() {
        return Err(Failure::usage(format!(
            "the last word is the suite, and `{suite}` is a strategy"
        ))
        .hint("name the file of the suite behind the arms"));
    }
    Ok((words, PathBuf::from(suite)))
}

/// The smallest difference that this many questions can show, printed before anything is paid.
fn describe_detectable(questions: u64) -> String {
    let count = count(questions, "question");
    let differ = DISCORDANCE * 100.0;
    match stats::minimum_detectable(questions, DISCORDANCE) {
        Some(least) => format!(
            "with {count}, of which perhaps {differ:.0} % will differ, a difference of {:.1} \
             points or more will be seen (in 4 of 5 such runs)",
            least * 100.0
        ),
        None => format!(
            "with {count}, of which perhaps {differ:.0} % will differ, a difference would probably \
             be missed: they are too few; {}",
            describe_needs()
        ),
    }
}

/// The numbers of questions that would show a difference (in 4 of 5 such runs).
fn describe_needs() -> String {
    [DISCORDANCE, SMALL]
        .into_iter()
        .filter_map(|difference| {
            let questions = stats::questions_needed(DISCORDANCE, difference)?;
            Some(format!("{questions} would show one of {:.0} points", difference * 100.0))
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// The reason why the arms do not get the same replies to the same prompts. `None` if they do.
fn sharing_obstacle(arms: &[(String, Settings)]) -> Option<String> {
    let (_, settings) = arms.first()?;
    let model = &settings.model;
    let is_sampled = model.replay.is_none() && model.provider != Provider::OFFLINE;
    let why = match settings.cache.place() {
        _ if model.record.is_some() => "what is recorded comes from no cache",
        None => "there is no cache",
        Some(_) => return None,
    };
    is_sampled.then(|| {
        format!(
            "the arms did not share samples: {why}, so chance makes them differ more than they do"
        )
    })
}

/// Reports the gates that failed, with the pairs that failed them. Returns the exit code.
fn check_gates(context: &Context, document: &Document, gates: &[FailOn]) -> Exit {
    let RunReport::Compare(report) = &document.0 else { return Exit::Answered };
    let failed =
        gates.iter().filter(|gate| fail_on(report, **gate)).map(|gate| format!("--fail-on {gate}"));
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() {
        return Exit::Answered;
    }
    let mut message = format!("the gate failed: {}", failed.join(", "));
    let first = report.arms.first().map(|arm| arm.arm.name.as_str());
    let against = report.pairs.iter().filter(|pair| Some(pair.first.as_str()) == first);
    against.for_each(|pair| message += &format!("\n{}", pair.verdict));
    // The verdicts already name arms of which most searches failed.
    for arm in failing(report).filter(|arm| arm.figures.most_failed().is_none()) {
        let failed = arm.figures.ends.failed;
        let of = arm.figures.costs.questions;
        let name = &arm.arm.name;
        message +=
            &format!("\n{failed} of {of} searches of `{name}` failed: no gate passes by them");
    }
    context.console.error(&Failure::new(Exit::Gate, message));
    Exit::Gate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_detectable_difference_is_announced() {
        let text = describe_detectable(522);
        assert!(
            text.starts_with(
                "with 522 questions, of which perhaps 12 % will differ, a difference of 4."
            ),
            "{text}"
        );
        assert!(
            describe_detectable(1).starts_with("with 1 question, ")
                && describe_detectable(1).ends_with(
                    "too few; 65 would show one of 12 points, 398 would show one of 5 points"
                )
        );
    }

    #[test]
    fn arms_that_do_not_share_samples_are_reported() {
        let warning = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            settings.model.provider = Provider::OPENAI;
            change(&mut settings);
            sharing_obstacle(&[("a".to_owned(), settings)])
        };
        assert!(warning(|_| ()).unwrap().contains("there is no cache"));
        assert_eq!(warning(|settings| settings.cache.folder = Some("x".into())), None);
        assert_eq!(warning(|settings| settings.model.provider = Provider::OFFLINE), None);
        assert_eq!(warning(|settings| settings.model.replay = Some("x".into())), None);
        let recorded = warning(|settings| {
            settings.cache.folder = Some("x".into());
            settings.model.record = Some("y".into());
        });
        assert!(recorded.unwrap().contains("recorded"));
    }
}
