//! Wrong databases, plugins, flags, files and variables: each ends with its exit code, a message
//! that names what is wrong and what to do next, and a document that programs can read.

mod configuration;
mod databases;
mod plugins;
mod usage;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{host, lives_in, shop};

/// The time after which a program counts as hanging; none of these needs more than a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder to stand in, with a home of its own and a shop.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self(syrch_kit::scratch());
        fs::create_dir_all(place.path().join("home/.syrch")).unwrap();
        shop(place.path());
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// The program, standing in the folder.
    pub(crate) fn host(&self) -> Command {
        let mut command = host();
        lives_in(&mut command, &self.path().join("home")).current_dir(self.path());
        command
    }

    /// With these words, split at spaces.
    pub(crate) fn words(&self, words: &str) -> Command {
        let mut command = self.host();
        command.args(words.split_whitespace());
        command
    }

    /// A search of the shop with these words added.
    pub(crate) fn search(&self, words: &str) -> Command {
        let mut command = self.host();
        command.args([
            "--llm",
            "offline",
            "--db",
            "shop.sqlite",
            "-q",
            "How many customers are there?",
        ]);
        command.args(words.split_whitespace());
        command
    }

    /// Every name in the folder and below, but for what lies in the home.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

/// Runs the program to its end with that input. One that hangs is ended, and fails the test.
pub(crate) fn finish(command: &mut Command, input: impl Into<Vec<u8>>) -> Output {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.into();
    // A program that ends early closes its input; that is no fault of the test.
    std::thread::spawn(move || drop(stdin.write_all(&input)));
    let id = child.id();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || drop(sender.send(child.wait_with_output())));
    match receiver.recv_timeout(PATIENCE) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            let killed = Command::new("kill").args(["-KILL", &id.to_string()]).status();
            panic!("{command:?} hangs: ended after {} s ({killed:?})", PATIENCE.as_secs());
        }
    }
}

/// Returns what the program printed on standard output and on standard error.
pub(crate) fn read_streams(output: &Output) -> (String, String) {
    (
        String::from_utf8(output.stdout.clone()).unwrap(),
        String::from_utf8(output.stderr.clone()).unwrap(),
    )
}

/// The program ends with that code, and shows people and programs the same: these words, in message
/// or hint. The document is returned.
pub(crate) fn assert_refused(command: &mut Command, code: i32, words: &[&str]) -> Value {
    let output = finish(command.args(["--format", "json"]), "");
    let (stdout, stderr) = read_streams(&output);
    let all = format!("{command:?}\nstdout: {stdout}\nstderr: {stderr}");
    assert_eq!(output.status.code(), Some(code), "{all}");
    let document: Value =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}\n{all}"));
    assert_eq!(
        (&document["schema"], &document["exit_code"]),
        (&json!("syrch.error/1"), &json!(code)),
        "{all}"
    );
    let message = document["error"]["message"].as_str().unwrap();
    let hint = document["error"]["hint"].as_str();
    for word in words {
        assert!(
            message.contains(word) || hint.is_some_and(|hint| hint.contains(word)),
            "no `{word}`: {all}"
        );
        assert!(stderr.contains(word), "no `{word}` for people: {all}");
    }
    assert!(stderr.contains("error: ") && !stderr.contains('\u{1b}'), "{all}");
    assert!(!stderr.contains("panicked") && !stderr.contains("RUST_BACKTRACE"), "{all}");
    document
}
