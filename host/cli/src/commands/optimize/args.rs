//! The flags of the optimizer.

use std::path::PathBuf;

use clap::Args;
use syrch::settings::PluginSource;
use syrch_optimizing::DEFAULT_REWRITER;

use crate::commands::report_file::ReportFile;
use crate::config::flags::Flags;
use crate::config::parameter::Parameter;
use crate::config::{Given, GivenRewriter};

/// The rewriters that a word of its own names.
const WORDS: [(&str, &str); 2] = [("rules", DEFAULT_REWRITER), ("model", "rewrite")];

// Flags of everything that proposes and measures.
#[derive(Args, Clone)]
#[command(next_help_heading = "Optimizer")]
pub(crate) struct LoopArgs {
    /// The source of proposed statements: rules (built in, no model and no key), model (asks one),
    /// a file, or the name of a built-in plugin [default: that of the configuration, else rules]
    #[arg(long, value_name = "rules|model|PATH|NAME")]
    pub(crate) rewriter: Option<String>,
    /// Proposals that are tried at most
    #[arg(
        long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..=100)
    )]
    pub(crate) iterations: u32,
    /// The share of the time that a statement must save to be accepted
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = share)]
    pub(crate) min_gain: f64,
    /// The number of milliseconds that it must save as well
    #[arg(
        long, value_name = "MS", default_value_t = 50,
        value_parser = clap::value_parser!(u64).range(0..=86_400_000)
    )]
    pub(crate) min_gain_ms: u64,
    /// Stop after two proposals in a row that were slower or had other rows, columns or another
    /// order
    #[arg(long)]
    pub(crate) early_stop: bool,
    /// Changed copies of the database on which the rows must be the same as well, where the engine
    /// can make them [default: 6; of a corpus 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) copies: Option<u32>,
    /// Pairs of measurements at most by which the last speed-up is confirmed; fewer than 7 confirm
    /// nothing
    #[arg(
        long, value_name = "N", default_value_t = 24,
        value_parser = clap::value_parser!(u32).range(3..=200)
    )]
    pub(crate) pairs: u32,
    /// Admit sums and means of real numbers too. All of their digits are compared, and the last
    /// ones depend on the order in which the engine adds: a statement that is equal here may differ
    /// in them where the plan is another one
    #[arg(long)]
    pub(crate) real_sums: bool,
    /// Agree that statements, names, plans and statistics of the database are sent to the model; no
    /// row is
    #[arg(long)]
    pub(crate) accept_data_sent: bool,
    /// Assert that nobody writes to the database meanwhile; needed where its engine cannot tell
    #[arg(long)]
    pub(crate) quiescent_db: bool,
    /// Print the exact requests that would be sent to a model first, and send nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// A rewriter's own setting; VALUE is JSON or text
    #[arg(short = 'P', long = "param", value_name = "rewriter.KEY=VALUE")]
    pub(crate) parameters: Vec<Parameter>,
    /// Write the report to this file, too; its ending is the format: .json, .md or .html. May be
    /// given several times
    #[arg(long, value_name = "FILE", value_parser = ReportFile::for_optimized)]
    pub(crate) report: Vec<ReportFile>,
    /// Flags of a search: the database, the model, what it may cost.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

impl LoopArgs {
    /// The flags as the configuration takes them.
    pub(super) fn config_flags(&self) -> Given<'_> {
        let named = self.rewriter.as_deref().map(|word| GivenRewriter::Flag(rewriter(word)));
        Given {
            rewriter: named.or_else(default_rewriter),
            ..Given::new(&self.flags, &self.parameters)
        }
    }

    /// The first flag that was given, for commands that stand behind it and have flags of their
    /// own.
    pub(super) fn first(&self) -> Option<String> {
        let own = [
            ("--rewriter", self.rewriter.is_some()),
            ("--iterations", self.iterations != 5),
            ("--min-gain", self.min_gain != 0.1),
            ("--min-gain-ms", self.min_gain_ms != 50),
            ("--early-stop", self.early_stop),
            ("--copies", self.copies.is_some()),
            ("--pairs", self.pairs != 24),
            ("--real-sums", self.real_sums),
            ("--accept-data-sent", self.accept_data_sent),
            ("--quiescent-db", self.quiescent_db),
            ("--dry-run", self.dry_run),
            ("-P", !self.parameters.is_empty()),
            ("--report", !self.report.is_empty()),
        ];
        let own =
            own.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| format!("`{flag}`"));
        own.or_else(|| self.flags.entries().next().map(|(_, _, origin)| format!("`{origin}`")))
    }

    /// The file of the rewriter, which no output may replace.
    pub(super) fn input(&self) -> Option<PathBuf> {
        match rewriter(self.rewriter.as_deref()?) {
            PluginSource::File(path) => Some(path),
            PluginSource::Builtin(_) => None,
        }
    }
}

/// The rules, for configurations that name no rewriter.
pub(crate) fn default_rewriter() -> Option<GivenRewriter> {
    Some(GivenRewriter::Default(rewriter("rules")))
}

fn rewriter(word: &str) -> PluginSource {
    let named = WORDS.into_iter().find(|(short, _)| *short == word).map(|(_, name)| name);
    PluginSource::parse(named.unwrap_or(word))
}

/// A share such as `10%` or `0.1`, from 0 to below 1.
fn share(word: &str) -> Result<f64, String> {
    let word = word.trim();
    let number = match word.strip_suffix('%') {
        Some(percent) => percent.trim_end().parse::<f64>().map(|percent| percent / 100.0),
        None => word.parse(),
    };
    number
        .ok()
        .filter(|share| (0.0..1.0).contains(share))
        .ok_or_else(|| format!("`{word}` is not a share such as 10% or 0.1, below 100%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_per_cent_or_parts() {
        assert_eq!(
            (share("10%"), share("0.1"), share(" 2.5 %"), share("0")),
            (Ok(0.1), Ok(0.1), Ok(0.025), Ok(0.0))
        );
        for wrong in ["10", "100%", "-1%", "NaN", "", "%", "ten"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_name_the_built_in_rewriters() {
        assert_eq!(rewriter("rules").to_string(), "rewrite-rules");
        assert_eq!(rewriter("model").to_string(), "rewrite");
        assert_eq!(rewriter("mine.wasm"), PluginSource::File("mine.wasm".into()));
    }
}
