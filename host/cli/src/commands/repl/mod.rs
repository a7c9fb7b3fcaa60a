//! The prompt: questions one after another on a host that is opened once, with a few commands
//! beside them.

mod complete;
mod editor;
pub(super) mod history;
mod line;
mod why;

use std::io::IsTerminal;
use std::sync::Arc;

use async_trait::async_trait;
use syrch::conversation::Conversation;
use syrch::report::AnswerDocument;
use syrch::syrch_core::{Problem, Question};
use syrch::{Ask, Error, Host};

use super::asking::SearchArgs;
use super::{Context, answer, asking, schema, sql};
use crate::config::Origin;
use crate::console::progress::Watch;
use crate::console::prompt;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};
use crate::output::Output;
use crate::sink::Format;
use complete::Words;
use editor::{Lines, Read};
use history::History;
use line::Line;

const PROMPT: &str = "syrch> ";
const ANSWER: &str = "answer> ";

/// Returns true if a search without a question opens the prompt, as it does on a terminal.
pub(crate) fn opens(arguments: &SearchArgs) -> bool {
    arguments.question.is_none()
        && arguments.resume.is_none()
        && std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal()
}

/// Reads lines and carries them out, until Ctrl-D or `\quit`.
pub(crate) async fn run(mut context: Context, arguments: SearchArgs) -> Outcome {
    if !matches!(context.output, Output::Stdout) {
        return Err(Failure::usage("-o needs a question")
            .hint("ask one by -q; a prompt writes to the terminal"));
    }
    context.needs_database()?;
    asking::accept(&mut context);
    asking::summarise(&mut context);
    let watch = Watch::new(Arc::clone(&context.console));
    let interrupt = context.interrupt.clone();
    let host = tokio::select! {
        host = asking::open(&mut context, &watch) => host?,
        () = interrupt.wait() => return Err(Failure::new(Exit::Interrupted, "interrupted")),
    };
    let words = Words::new(host.database().catalog().await?.as_ref());
    let (history, before) = open_history(&context);
    let lines = Lines::start(words, before)?;
    context.console.clear();
    context.console.note("Ask a question. \\help shows the commands, Ctrl-D leaves.");
    let evidence = arguments.evidence;
    let conversation = Conversation::default();
    Session { context, host, lines, history, evidence, last: None, conversation }.run().await
}

/// Opens the history. A prompt works without one.
fn open_history(context: &Context) -> (Option<History>, Vec<String>) {
    let Some(state) = context.environment.state_dir() else { return (None, Vec::new()) };
    match History::open(&state, context.scrubber.clone()) {
        Ok((history, before)) => (Some(history), before),
        Err(error) => {
            let file = history::file(&state);
            context.console.warn(&format!("no history is saved: `{}`: {error}", file.display()));
            (None, Vec::new())
        }
    }
}

/// The state of a prompt from its start to its end.
struct Session {
    context: Context,
    host: Host,
    lines: Lines,
    history: Option<History>,
    evidence: Option<String>,
    /// The last search, without secrets.
    last: Option<AnswerDocument>,
    /// The answers so far, from which the next question may go on.
    conversation: Conversation,
}

impl Session {
    async fn run(mut self) -> Outcome {
        loop {
            self.context.interrupt.forget();
            self.context.console.forget_warnings();
            let text = match self.lines.read(PROMPT).await {
                Read::Line(text) => text,
                Read::Interrupted => continue,
                Read::End => return Ok(Exit::Answered),
            };
            if let Err(error) = self.lines.remember(self.history.as_mut(), &text) {
                self.context.console.warn(&format!("no history is saved any more: {error}"));
                self.history = None;
            }
            // What came as a signal while the line was written ended nothing.
            self.context.interrupt.forget();
            match self.act(&text).await {
                Ok(true) => return Ok(Exit::Answered),
                Ok(false) => {}
                Err(failure) => {
                    self.context.console.clear();
                    self.context.console.error(&failure);
                }
            }
        }
    }

    /// Carries out a line. Returns whether the prompt ends.
    async fn act(&mut self, text: &str) -> Outcome<bool> {
        let line = Line::parse(text)?;
        match line {
            Line::Question(question) => self.ask(question).await?,
            Line::Quit => return Ok(true),
            Line::New => self.conversation = Conversation::default(),
            Line::Empty | Line::Help | Line::Why | Line::Schema(_) | Line::Sql(_) => {
                let interrupt = self.context.interrupt.clone();
                tokio::select! {
                    shown = self.show(line) => shown?,
                    () = interrupt.wait() => return Err(
                        Failure::new(Exit::Interrupted, "interrupted")
                    ),
                }
            }
        }
        Ok(false)
    }

    async fn show(&self, line: Line<'_>) -> Outcome<()> {
        let database = self.host.database();
        match line {
            Line::Schema(table) => schema::print(&self.context, database.as_ref(), table).await,
            Line::Sql(statement) => sql::print(&self.context, database, statement.to_owned()).await,
            Line::Why => self.explain_last(),
            Line::Help => self.context.output.write(&line::help()),
            Line::Empty | Line::Question(_) | Line::Quit | Line::New => Ok(()),
        }
    }

    fn explain_last(&self) -> Outcome<()> {
        let document =
            self.last.as_ref().ok_or_else(|| Failure::usage("nothing was searched yet"))?;
        if matches!(self.context.format, Format::Auto | Format::Table) {
            self.context.output.write(&why::heading(document))?;
        }
        self.context.rows(why::grid(document), || why::document(document))
    }

    async fn ask(&mut self, question: &str) -> Outcome<()> {
        match self.conversation.explain(question) {
            Some(report) if report.document.answer.is_some() => return self.explain_last(),
            Some(report) => return answer::print(&self.context, &report).map(drop),
            None => {}
        }
        let question = question.to_owned();
        let evidence = self.evidence.clone();
        let problem = Problem { question, evidence, ..Problem::default() };
        let turn = self.conversation.read(&self.host, problem).await.map_err(|unread| {
            Failure::from(Error::FollowUp(unread))
                .hint("change the request otherwise, or forget it by `\\new` and ask anew")
        })?;
        let watch = Arc::new(Watch::new(Arc::clone(&self.context.console)));
        let asking = Asking { lines: &self.lines, context: &self.context };
        // Somebody sits there, so they are asked unless they do not want to be.
        let is_set =
            !matches!(self.context.config.origin("execution.interactive"), Origin::Default);
        let asks = self.context.config.effective.interactive || !is_set;
        let ask = asks.then_some(&asking as &dyn Ask);
        let start = asking::Start::Turn(Box::new(turn.clone()));
        let report = asking::search(&self.context, &self.host, start, watch, ask).await;
        self.context.console.clear();
        let seen = report.as_ref().map_err(|failure| &failure.message);
        self.conversation.remember(&self.host, &turn, seen).await;
        let report = report?;
        let last = self.context.scrubber.document(report.document.clone())?;
        answer::print(&self.context, &report)?;
        self.last = Some(last);
        Ok(())
    }
}

/// Asks the user through the editor, since two readers of one terminal would take lines from each
/// other.
struct Asking<'a> {
    lines: &'a Lines,
    context: &'a Context,
}

#[async_trait]
impl Ask for Asking<'_> {
    async fn ask(&self, asked: &Question) -> Option<String> {
        let Context { console, interrupt, .. } = self.context;
        console.clear();
        console.ask(&prompt::question(&asked.text, &asked.choices));
        let read = tokio::select! {
            read = self.lines.read(ANSWER) => read,
            () = interrupt.wait() => Read::Interrupted,
        };
        match read {
            Read::Line(line) => prompt::answer(&line, &asked.choices),
            Read::End => None,
            Read::Interrupted => {
                // Ctrl-C stops the search as well, which ends this wait; an answer from here could
                // come first and be taken for the user's.
                interrupt.press();
                std::future::pending().await
            }
        }
    }
}
