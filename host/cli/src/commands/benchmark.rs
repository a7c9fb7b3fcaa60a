//! `benchmark`: asks the questions of a suite and grades the answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use syrch_grading::grade::report::{CompareOptions, RunReport};

use super::Run;
use super::graded::{
    DATABASE, Document, Occasions, RunArgs, carry_out, databases, note_traces, print, share,
    spare_all, write_all,
};
use super::{Context, asking};
use crate::commands::report_file::ReportFile;
use crate::config::Given;
use crate::config::flags::Flags;
use crate::config::parameter::Parameter;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The rounding error of a share.
const ROUNDING: f64 = 1e-9;

#[derive(Args)]
#[command(mut_arg(DATABASE, databases))]
pub(crate) struct BenchmarkArgs {
    /// The suite: JSON lines, a JSON array (also BIRD's and Spider's), or CSV. With --resume that
    /// of the run
    #[arg(value_name = "SUITE")]
    pub(crate) suite: Option<PathBuf>,
    /// The suite, as syrch 0.1.2 has it.
    #[arg(long = "file", value_name = "SUITE", hide = true, conflicts_with = "suite")]
    pub(crate) file: Option<PathBuf>,
    /// Grade the answers in this file and ask no model: lines that `batch` wrote, or {"id", "sql"}.
    /// May be given several times
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub(crate) answers: Vec<PathBuf>,
    /// The flags of the run.
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Exit with 5 when a smaller share of the questions that count is answered right, 0 to 1
    #[arg(
        long, value_name = "SHARE", help_heading = "Run", value_parser = share,
        allow_negative_numbers = true
    )]
    pub(crate) min_score: Option<f64>,
    /// A plugin's own setting; VALUE is JSON or text. KEY alone will do when one plugin knows it;
    /// settings.NAME is for all plugins
    #[arg(short = 'P', long = "param", value_name = "ROLE.KEY=VALUE", help_heading = "Search")]
    pub(crate) parameters: Vec<Parameter>,
    /// The options of a search.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

impl BenchmarkArgs {
    /// The suite that was named.
    pub(crate) fn suite_path(&self) -> Option<&Path> {
        self.suite.as_deref().or(self.file.as_deref())
    }
}

impl Run for BenchmarkArgs {
    const ENDS_INTERRUPTS: bool = true;
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &self.parameters))
    }

    async fn run(self, mut context: Context) -> Outcome {
        let BenchmarkArgs { answers, run, .. } = &self;
        run.report.iter().try_for_each(ReportFile::check)?;
        let mut options = run.options(&mut context, self.suite_path().map(Path::to_owned))?;
        options.answers.clone_from(answers);
        if answers.is_empty() {
            let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
            asking::prepare(&mut context, &watch).await?;
        }
        let settings = context.config.effective.settings.clone();
        let arms = vec![(settings.strategy.name.clone(), settings)];
        let occasions =
            Occasions { accepted: &|inputs| spare_all(&run.report, inputs), started: &|_| () };
        let ended = carry_out(&context, arms, options, occasions).await?;
        let document =
            ended.document(run.rule, &CompareOptions::default()).scrub(&context.scrubber)?;
        print(&context, &document, &[])?;
        write_all(&run.report, &document)?;
        note_traces(&context, &document, &ended.outcome.folder);
        match ended.report(&context) {
            Exit::Answered => Ok(check_score(&context, &document, self.min_score)),
            // What stopped the run is reported in place of the gate.
            exit => Ok(exit),
        }
    }
}

/// Reports a share of right answers that is below the least one. Returns the exit code.
fn check_score(context: &Context, document: &Document, least: Option<f64>) -> Exit {
    let (Some(least), RunReport::Benchmark(report)) = (least, &document.0) else {
        return Exit::Answered;
    };
    let share = &report.figures.share;
    if share.share.is_some_and(|share| share + ROUNDING >= least) {
        return Exit::Answered;
    }
    let right = share.right;
    let of = share.of;
    let message = match share.share {
        Some(share) => {
            format!(
                "the gate failed: {right} of {of} are right, and {share:.4} is below \
                 --min-score {least}"
            )
        }
        None => {
            format!("the gate failed: no question counts, so --min-score {least} cannot be met")
        }
    };
    context.console.error(&Failure::new(Exit::Gate, message));
    Exit::Gate
}
