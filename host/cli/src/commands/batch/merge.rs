//! `batch --merge`: puts the answers of all shards together in the order of the questions, which
//! standard input holds. Nothing is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures::StreamExt;
use serde::Deserialize;
use serde_json::Value;
use syrch::syrch_core::result_set::digest64;
use syrch::syrch_core::text::few;
use syrch_grading::grade::run::Shard;

use super::{hash, lines};
use crate::commands::Context;
use crate::commands::shard::{advise_runs, read_parts};
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// The limit on the size of an answer, in bytes.
pub(super) const LONGEST: u64 = 256 << 20;

/// The members that are read of an answer.
#[derive(Deserialize)]
struct Answer {
    id: Value,
    line: u64,
    /// True if a budget left the line open, so that a later answer of its file replaces this.
    #[serde(default)]
    is_open: bool,
}

/// The place of an answer, and the hash of its id.
#[derive(Clone, Copy)]
struct Place {
    file: usize,
    start: u64,
    bytes: u64,
    hash: u64,
    is_open: bool,
}

/// Writes the answers of these files in the order of the questions.
///
/// # Errors
/// When an answer is missing, comes twice or is of another question, or a file cannot be read.
pub(super) async fn merge(context: &Context, files: &[PathBuf]) -> Outcome {
    let mut answers = BTreeMap::new();
    for (file, path) in files.iter().enumerate() {
        read_places(files, file, &mut answers).map_err(|error| match error {
            Unread::Io(error) => unreadable_file(path, &error),
            Unread::Refused(failure) => failure,
        })?;
    }
    let unread = Arc::new(OnceLock::new());
    let questions = lines(Arc::clone(&unread), Arc::clone(&context.console));
    let questions: Vec<(u64, u64)> =
        questions.map(|line| (line.number, hash(&line))).collect().await;
    if let Some(error) = unread.get() {
        return Err(Failure::new(Exit::Unexpected, format!("standard input: {error}")));
    }
    let places = match_answers(context, files, &questions, answers)?;
    let mut opened = Vec::new();
    for path in files {
        opened.push(File::open(path).map_err(|error| unreadable_file(path, &error))?);
    }
    let mut stream = context.output.stream()?;
    for place in places {
        let (Some(file), Some(path)) = (opened.get_mut(place.file), files.get(place.file)) else {
            continue;
        };
        let text = read_answer(file, place).map_err(|error| unreadable_file(path, &error))?;
        stream.write(&text)?;
        if stream.is_closed() {
            return Ok(Exit::Answered);
        }
    }
    stream.finish()?;
    Ok(Exit::Answered)
}

fn unreadable_file(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("`{}`: {error}", path.display()))
        .hint("name the files that the shards of the batch wrote")
}

/// The reason why a file of answers is not read.
enum Unread {
    Io(std::io::Error),
    Refused(Failure),
}

impl From<std::io::Error> for Unread {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads where the answers of a file are. A last line that was cut off is no answer.
fn read_places(
    files: &[PathBuf],
    file: usize,
    answers: &mut BTreeMap<u64, Place>,
) -> Result<(), Unread> {
    let Some(path) = files.get(file) else { return Ok(()) };
    let mut reader = BufReader::new(File::open(path)?);
    let mut start = 0;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let bytes = reader.by_ref().take(LONGEST).read_until(b'\n', &mut buffer)? as u64;
        if buffer.last() != Some(&b'\n') {
            return if bytes == LONGEST {
                Err(std::io::Error::other("a line is too long").into())
            } else {
                Ok(())
            };
        }
        let answer: Answer = serde_json::from_slice(&buffer).map_err(std::io::Error::from)?;
        let hash = digest64(&[&answer.id.to_string()]);
        let place = Place { file, start, bytes, hash, is_open: answer.is_open };
        if let Some(before) = answers.insert(answer.line, place)
            && !(before.is_open && before.file == file)
        {
            let other = files.get(before.file).unwrap_or(path);
            return Err(Unread::Refused(Failure::usage(format!(
                "line {} is answered in `{}` and in `{}`",
                answer.line,
                other.display(),
                path.display()
            ))));
        }
        start += bytes;
    }
}

/// The places of the answers to all questions, each with its line and the hash of its id.
fn match_answers(
    context: &Context,
    files: &[PathBuf],
    questions: &[(u64, u64)],
    mut answers: BTreeMap<u64, Place>,
) -> Outcome<Vec<Place>> {
    let mut places = Vec::new();
    let mut missing = Vec::new();
    for (line, hash) in questions {
        match answers.remove(line) {
            Some(place) if place.hash == *hash => places.push(place),
            Some(place) => return Err(foreign_answer(files, *line, place)),
            None => missing.push(*line),
        }
    }
    if let Some((line, place)) = answers.pop_first() {
        return Err(foreign_answer(files, line, place));
    }
    if missing.is_empty() {
        return Ok(places);
    }
    let count = missing.len();
    let shown = few(missing.iter().map(u64::to_string).collect::<Vec<_>>());
    let failure = Failure::new(Exit::Gate, format!("{count} lines have no answer: {shown}"));
    Err(match read_parts(&context.environment)? {
        Some(of) if of > 0 => {
            let shards: BTreeSet<Shard> = missing
                .iter()
                .filter_map(|line| u32::try_from((line - 1) % u64::from(of) + 1).ok())
                .map(|index| Shard { index, of })
                .collect();
            failure.hint(advise_runs(&shards.into_iter().collect::<Vec<_>>()))
        }
        _ => failure.hint("run their shards again; SYRCH_SHARDS=n has them named"),
    })
}

fn foreign_answer(files: &[PathBuf], line: u64, place: Place) -> Failure {
    let path = files.get(place.file).map(|path| path.display().to_string()).unwrap_or_default();
    Failure::usage(format!("the answer to line {line} in `{path}` is of another question"))
        .hint("standard input must hold the questions that all shards read")
}

fn read_answer(file: &mut File, place: Place) -> std::io::Result<String> {
    file.seek(SeekFrom::Start(place.start))?;
    let mut text = String::new();
    file.take(place.bytes).read_to_string(&mut text)?;
    Ok(text)
}
