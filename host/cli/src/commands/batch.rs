//! `batch`: reads lines of questions on standard input and writes a line of JSON for each on
//! standard output, as a cluster needs it.

mod merge;
mod resume;

use std::collections::HashSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::{Arg, Args};
use futures::{StreamExt, future, stream};
use syrch::batch::{
    Answers, Batch, Ended, Line, Options, Order, RunBudgets, Stopped, Totals, UsedUp,
};
use syrch::databases::{database_path, is_database_file};
use syrch::syrch_core::DatabaseUrl;
use syrch::syrch_core::result_set::digest64;
use syrch::{Observer, Stop};
use syrch_grading::grade::run::Shard;

use super::Run;
use super::graded::{DATABASE, number, seconds, stop_at_interrupt};
use super::lines::Line as Read;
use super::shard::choose_shard;
use super::{Context, asking, statements};
use crate::config::flags::Flags;
use crate::config::parameter::Parameter;
use crate::config::{Given, Origin};
use crate::console::Console;
use crate::console::progress::Watch;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{Output, Stream};
use crate::sink::{Format, json};
use resume::Earlier;

#[derive(Args)]
#[command(mut_arg(DATABASE, database))]
pub(crate) struct BatchArgs {
    /// Questions at once
    #[arg(
        long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Batch"
    )]
    pub(crate) workers: u16,
    /// Answer only part i of n of the lines, such as 2/8. Budgets and rates are those of all parts,
    /// of which each uses its own [default: that of SYRCH_SHARD, of a task of a Slurm array, or of
    /// a pod of an Indexed Job with SYRCH_SHARDS]
    #[arg(long, value_name = "i/n", help_heading = "Batch")]
    pub(crate) shard: Option<Shard>,
    /// Put the answers together that all shards wrote to these files, in the order of the questions
    /// on standard input, and ask nothing. What is missing, doubled or of other questions is
    /// refused
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with = "shard",
        help_heading = "Batch"
    )]
    pub(crate) merge: Vec<PathBuf>,
    /// Write the answers to this file, and continue it where the same command, with the same
    /// questions, was ended before: what has its answer is not asked again
    #[arg(long, value_name = "FILE", conflicts_with = "merge", help_heading = "Batch")]
    pub(crate) resume: Option<PathBuf>,
    /// Write the answers in the order of the questions (this is so unless --as-they-come is given)
    #[arg(long, overrides_with = "as_they_come", help_heading = "Batch")]
    pub(crate) in_order: bool,
    /// Write each answer as soon as it is there
    #[arg(long, overrides_with = "in_order", help_heading = "Batch")]
    pub(crate) as_they_come: bool,
    /// Ask no more when the whole batch has made so many model calls, those from a cache included;
    /// further lines get an error
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Batch"
    )]
    pub(crate) total_calls: Option<u64>,
    /// Ask no more when it has used so many tokens of prompts and replies
    #[arg(
        long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Batch"
    )]
    pub(crate) total_tokens: Option<u64>,
    /// Ask no more when it has cost so many dollars
    #[arg(long, value_name = "X", value_parser = number, help_heading = "Batch")]
    pub(crate) total_usd: Option<f64>,
    /// Ask no more when it has taken so long
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Batch")]
    pub(crate) total_time: Option<Duration>,
    /// Stop when so many searches, one after the other, failed by the model's endpoint; 0: never
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Batch")]
    pub(crate) max_outages: u32,
    /// Save a journal of each search in this folder, where nothing is removed; without it there are
    /// none
    #[arg(long, value_name = "FOLDER", help_heading = "Batch")]
    pub(crate) traces: Option<PathBuf>,
    /// A plugin's own setting; VALUE is JSON or text. KEY alone will do when one plugin knows it;
    /// settings.NAME is for all plugins
    #[arg(short = 'P', long = "param", value_name = "ROLE.KEY=VALUE", help_heading = "Search")]
    pub(crate) parameters: Vec<Parameter>,
    /// The options of a search.
    #[command(flatten)]
    pub(crate) flags: Flags<true>,
}

fn database(flag: Arg) -> Arg {
    flag.value_name("FILE|FOLDER").help_heading("Batch").help(
        "The database of all questions, or a folder of databases in which each question names its \
         own by `db`; nothing outside of it is opened",
    )
}

impl BatchArgs {
    fn options(&self, shard: Option<Shard>, earlier: Option<&Earlier>) -> Options {
        let budgets = RunBudgets {
            calls: self.total_calls,
            tokens: self.total_tokens,
            usd: self.total_usd,
            time: self.total_time,
        };
        Options {
            workers: usize::from(self.workers),
            order: if self.as_they_come { Order::Ended } else { Order::Given },
            budgets: shard.map_or(budgets, |shard| budgets.part(shard)),
            is_part: shard.is_some() || earlier.is_some(),
            earlier: earlier.map(|earlier| earlier.totals.clone()).unwrap_or_default(),
            max_outages: self.max_outages,
            traces: self.traces.clone(),
        }
    }
}

impl BatchArgs {
    /// Opens the file of `--resume`.
    fn open_earlier(&self, context: &Context) -> Outcome<Option<Earlier>> {
        let Some(path) = &self.resume else { return Ok(None) };
        if !matches!(context.output, Output::Stdout) {
            return Err(Failure::usage(
                "-o does not go with --resume, which names the file itself",
            ));
        }
        Earlier::open(path, &context.scrubber).map(Some)
    }
}

impl Run for BatchArgs {
    const ENDS_INTERRUPTS: bool = true;
    const LOADS_PLUGINS: bool = true;

    fn config_flags(&self) -> Option<Given<'_>> {
        Some(Given::new(&self.flags, &self.parameters))
    }

    fn inputs(&self) -> Vec<(&'static str, PathBuf)> {
        self.merge.iter().map(|path| ("the answers of a shard", path.clone())).collect()
    }

    async fn run(self, mut context: Context) -> Outcome {
        refuse(&context)?;
        if !self.merge.is_empty() {
            return merge::merge(&context, &self.merge).await;
        }
        let shard = choose_shard(self.shard, &mut context)?;
        context.needs_database()?;
        spare_databases(&context, self.resume.as_deref())?;
        let earlier = self.open_earlier(&context)?;
        let watch = Arc::new(Watch::new(Arc::clone(&context.console)));
        asking::prepare(&mut context, &watch).await?;
        asking::accept(&mut context);
        let settings = context.config.effective.settings.clone();
        let observer = Arc::clone(&watch) as Arc<dyn Observer>;
        let options = self.options(shard, earlier.as_ref());
        let opened = tokio::select! {
            opened = Batch::open(settings.clone(), options, &observer) => opened,
            () = context.interrupt.wait() => return Err(
                Failure::new(Exit::Interrupted, "interrupted: nothing was asked yet")
            ),
        };
        let batch = match opened {
            Ok(batch) => batch,
            Err(error) => {
                return Err(asking::explain_error(error, &settings, &context, &watch).await);
            }
        };
        if std::io::stdin().is_terminal() {
            context
                .console
                .note("reading questions from standard input, a line each; end them by Ctrl-D");
        }
        let stop = Stop::new();
        let unread = Arc::new(OnceLock::new());
        let listener = tokio::spawn(stop_at_interrupt(&context, &stop));
        let answered = earlier.as_ref().map(Earlier::lines).unwrap_or_default();
        let known = answered.clone();
        let lines = lines(Arc::clone(&unread), Arc::clone(&context.console))
            .filter(move |line| {
                let place = line.number.saturating_sub(1);
                future::ready(shard.is_none_or(|shard| shard.holds(place)))
            })
            .take_while(move |line| future::ready(known.admits(line)))
            .filter(move |line| future::ready(answered.lacks(line)));
        let stream = match &earlier {
            Some(earlier) => earlier.stream()?,
            None => context.output.stream()?,
        };
        let is_resumed = earlier.is_some();
        let written = write(&context, stream, batch.answers(lines, &stop), is_resumed).await;
        listener.abort();
        context.console.clear();
        let Some(ended) = written? else { return Ok(Exit::Answered) };
        context.console.note(&summary(&ended.totals));
        let failure = match (ended.stopped, ended.totals.used_up, unread.get()) {
            (Some(Stopped::Fatal(error)), ..) => {
                asking::explain_error(error, &settings, &context, &watch).await
            }
            (Some(stopped), ..) => stop_of(&stopped),
            (None, Some(used_up), _) => budget_failure(used_up),
            (None, None, Some(error)) => {
                Failure::new(Exit::Unexpected, format!("standard input: {error}"))
            }
            (None, None, None) => {
                earlier.as_ref().map_or(Ok(()), Earlier::check_end)?;
                return Ok(Exit::Answered);
            }
        };
        // Not as a document: standard output holds the answers.
        context.console.error(&failure);
        Ok(failure.exit)
    }
}

/// Refuses flags that a batch cannot have.
fn refuse(context: &Context) -> Outcome<()> {
    if !matches!(context.format, Format::Auto | Format::Jsonl) {
        return Err(Failure::usage("batch writes JSON lines and nothing else")
            .hint("leave out --format, or give jsonl"));
    }
    let is_flag = matches!(context.config.origin("execution.interactive"), Origin::Flag(_));
    if is_flag && context.config.effective.interactive {
        return Err(Failure::usage(
            "--interactive does not go with batch: standard input holds the questions",
        )
        .hint(
            "a question that asks back is answered with its own question, \
             as `clarification-needed`",
        ));
    }
    Ok(())
}

/// Refuses an output, or a file of answers to continue, that is a database of the folder.
fn spare_databases(context: &Context, resumed: Option<&Path>) -> Outcome<()> {
    let path = match (&context.output, resumed) {
        (_, Some(path)) => path,
        (Output::File(path) | Output::Device(path), None) => path.as_path(),
        _ => return Ok(()),
    };
    let folder = database_path(&DatabaseUrl::parse(&context.config.effective.settings.database));
    let is_inside = match (path.canonicalize(), folder.map(|folder| folder.canonicalize())) {
        (Ok(path), Some(Ok(folder))) => path.starts_with(folder),
        _ => false,
    };
    match is_inside && is_database_file(path) {
        true if resumed.is_some() => {
            let why = format!("--resume `{}`: is a database of the folder", path.display());
            Err(Failure::usage(why).hint("name a file for the answers"))
        }
        true => context.output.refuse_to_replace(&[("a database of the folder", path.to_owned())]),
        false => Ok(()),
    }
}

/// The lines of standard input. When reading fails, `unread` gets the error.
fn lines(
    unread: Arc<OnceLock<String>>,
    console: Arc<Console>,
) -> impl futures::Stream<Item = Line> + Send {
    let mut seen = Seen::default();
    let read = stream::unfold((statements::lines(), 1), move |(mut lines, number)| {
        let unread = Arc::clone(&unread);
        async move {
            let line = match lines.recv().await? {
                Ok(Read::Text(bytes)) => Line::read(number, &bytes),
                Ok(Read::TooLong(id)) => Some(Line::too_long(number, id)),
                Err(error) => {
                    // Nothing is read after it, so it is the only one.
                    drop(unread.set(error.to_string()));
                    return None;
                }
            };
            Some((line, (lines, number + 1)))
        }
    });
    let read = read.filter_map(future::ready);
    read.inspect(move |line| {
        seen.warn_of_repeat(line).into_iter().for_each(|warning| console.warn(&warning))
    })
}

/// The ids so far, up to a number of them.
#[derive(Default)]
struct Seen {
    hashes: HashSet<u64>,
    is_reported: bool,
}

impl Seen {
    /// Ids that are stored at most: some 16 MB.
    const MOST: usize = 1_000_000;

    /// The warning about the first id that is repeated. Later ones are not reported.
    fn warn_of_repeat(&mut self, line: &Line) -> Option<String> {
        let is_new = self.is_reported
            || self.hashes.len() >= Self::MOST && !self.hashes.contains(&hash(line))
            || self.hashes.insert(hash(line));
        if is_new {
            return None;
        }
        (self.is_reported, self.hashes) = (true, HashSet::new());
        Some(format!(
            "line {}: the id {} came before; answers with the same id cannot be distinguished",
            line.number,
            line.id()
        ))
    }
}

fn hash(line: &Line) -> u64 {
    digest64(&[&line.id().to_string()])
}

/// Writes each reply as it comes. In a file that is continued, a line that a budget of the batch
/// refused before it cost anything has no reply, and is asked when the file is continued again.
/// `None` if the reader closed the pipe.
async fn write(
    context: &Context,
    mut stream: Stream,
    mut answers: Answers<'_>,
    is_resumed: bool,
) -> Outcome<Option<Ended>> {
    context.console.progress("reading questions");
    while let Some(reply) = answers.next().await {
        if is_resumed && reply.is_open && reply.cost.is_none() {
            continue;
        }
        let mut document = serde_json::to_value(&reply).map_err(Failure::unwritable_document)?;
        context.scrubber.value(&mut document);
        stream.write(&json::line(&document))?;
        if stream.is_closed() {
            return Ok(None);
        }
        context.console.progress(&summary(answers.totals()));
    }
    stream.finish()?;
    Ok(Some(answers.finish()))
}

/// `48 lines: 40 answered, 5 without an acceptable answer, 1 to be clarified, 2 failed · 24 calls ·
/// $0.0012`.
fn summary(totals: &Totals) -> String {
    let ends = [
        (totals.answered, "answered"),
        (totals.no_answer, "without an acceptable answer"),
        (totals.clarification_needed, "to be clarified"),
        (totals.failed, "failed"),
    ];
    let ends: Vec<String> =
        ends.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let colon = if ends.is_empty() { "" } else { ": " };
    let mut parts = vec![format!(
        "{}{colon}{}",
        syrch::syrch_core::text::count(totals.lines, "line"),
        ends.join(", ")
    )];
    parts.push(syrch::syrch_core::text::count(totals.calls, "call"));
    parts.extend(totals.usd.filter(|usd| *usd > 0.0).map(|usd| format!("${usd:.4}")));
    parts.join(" · ")
}

fn stop_of(stopped: &Stopped) -> Failure {
    match stopped {
        Stopped::Interrupted => {
            Failure::new(Exit::Interrupted, "interrupted: what was done is written")
                .hint("ask again the lines whose `id` has no answer; --resume FILE does so")
        }
        Stopped::Outage { searches, message } => {
            let times = if *searches == 1 { "time" } else { "times, one after the other" };
            let why = format!(
                "the batch stopped: the model's endpoint failed {searches} {times}: {message}"
            );
            Failure::new(Exit::Model, why).hint(
                "when the endpoint answers again, ask the lines that failed or have no answer",
            )
        }
        Stopped::Fatal(error) => Failure::new(Exit::Unexpected, error.to_string()),
    }
}

fn budget_failure(budget: UsedUp) -> Failure {
    let (what, flag) = match budget {
        UsedUp::Calls => ("model calls", "--total-calls"),
        UsedUp::Tokens => ("tokens", "--total-tokens"),
        UsedUp::Usd => ("dollars", "--total-usd"),
        UsedUp::Time => ("seconds", "--total-time"),
    };
    Failure::new(Exit::Budget, format!("the {what} of the whole batch were used up ({flag})")).hint(
        format!("ask the lines with an error of the class `budget` again, with a higher {flag}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_what_there_is() {
        let mut totals = Totals { lines: 1, ..Totals::default() };
        assert_eq!(summary(&totals), "1 line · 0 calls");
        (totals.lines, totals.answered, totals.no_answer, totals.failed) = (9, 6, 2, 1);
        (totals.calls, totals.usd) = (12, Some(0.00125));
        assert_eq!(
            summary(&totals),
            "9 lines: 6 answered, 2 without an acceptable answer, 1 failed · 12 calls · $0.0013"
        );
    }

    #[test]
    fn the_first_id_that_comes_again_is_reported() {
        let mut seen = Seen::default();
        let line = |number, id: &str| {
            Line::read(number, format!("{{\"id\": {id}, \"question\": \"?\"}}").as_bytes()).unwrap()
        };
        assert_eq!(
            [line(1, "1"), line(2, "\"1\""), line(3, "2")].map(|line| seen.warn_of_repeat(&line)),
            [None, None, None]
        );
        let warning = seen.warn_of_repeat(&line(4, "\"1\"")).unwrap();
        assert!(warning.starts_with("line 4: the id \"1\" came before"), "{warning}");
        assert_eq!(seen.warn_of_repeat(&line(5, "2")), None);
    }
}
