//! Reads lines from the terminal, with editing, history and completion. The editor blocks, so it
//! has a thread of its own.

use std::sync::mpsc;

use rustyline::config::{Builder, CompletionType};
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};
use tokio::sync::{Mutex, mpsc as replies};

use super::complete::Words;
use super::history::{History, LONGEST};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The result of reading a line.
#[derive(Debug)]
pub(super) enum Read {
    /// A line without its end.
    Line(String),
    /// The user pressed Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    End,
}

enum Request {
    /// Read a line after this prompt.
    Read(&'static str),
    /// Offer this line again.
    Remember(String),
}

/// The editor on its thread, which gets requests and sends lines.
pub(super) struct Lines {
    requests: mpsc::Sender<Request>,
    replies: Mutex<Replies>,
}

struct Replies {
    receiver: replies::UnboundedReceiver<Read>,
    /// True if a line was requested and not yet received.
    outstanding: bool,
}

impl Lines {
    /// Starts the editor with what was asked before.
    pub(super) fn start(words: Words, before: Vec<String>) -> Outcome<Self> {
        let (requests, asked) = mpsc::channel();
        let (answers, receiver) = replies::unbounded_channel();
        let mut editor = editor(words, before).map_err(|error| {
            Failure::new(Exit::Unexpected, format!("the terminal cannot be read: {error}"))
        })?;
        std::thread::Builder::new()
            .name("prompt".to_owned())
            .spawn(move || {
                for request in asked {
                    match request {
                        Request::Read(prompt)
                            if answers.send(read(&mut editor, prompt)).is_err() =>
                        {
                            return;
                        }
                        Request::Read(_) => {}
                        Request::Remember(line) => drop(editor.add_history_entry(line)),
                    }
                }
            })
            .map_err(|error| {
                Failure::new(Exit::Unexpected, format!("no thread for the prompt: {error}"))
            })?;
        Ok(Self { requests, replies: Mutex::new(Replies { receiver, outstanding: false }) })
    }

    /// Reads a line. After a wait that was cancelled, returns the line of that wait.
    pub(super) async fn read(&self, prompt: &'static str) -> Read {
        let mut replies = self.replies.lock().await;
        if !replies.outstanding && self.requests.send(Request::Read(prompt)).is_err() {
            return Read::End;
        }
        replies.outstanding = true;
        let read = replies.receiver.recv().await.unwrap_or(Read::End);
        replies.outstanding = false;
        read
    }

    /// Adds a line to the history of this prompt and of later ones, unless it holds a secret.
    pub(super) fn remember(
        &self,
        history: Option<&mut History>,
        line: &str,
    ) -> std::io::Result<()> {
        let Some(history) = history.filter(|history| history.takes(line)) else { return Ok(()) };
        drop(self.requests.send(Request::Remember(line.to_owned())));
        history.add(line)
    }
}

fn editor(words: Words, before: Vec<String>) -> rustyline::Result<Editor<Words, MemHistory>> {
    let config: Config = Builder::new()
        .max_history_size(LONGEST)?
        .history_ignore_dups(true)?
        .completion_type(CompletionType::List)
        .build();
    let mut editor = Editor::with_history(config.clone(), MemHistory::with_config(&config))?;
    editor.set_helper(Some(words));
    for line in before {
        editor.add_history_entry(line)?;
    }
    Ok(editor)
}

fn read(editor: &mut Editor<Words, MemHistory>, prompt: &str) -> Read {
    match editor.readline(prompt) {
        Ok(line) => Read::Line(line),
        Err(ReadlineError::Interrupted) => Read::Interrupted,
        Err(_) => Read::End,
    }
}
