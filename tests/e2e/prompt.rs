//! The prompt at a terminal: questions, commands, history, Ctrl-C and Ctrl-D. The test holds the
//! other end of a pseudo terminal.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use syrch_kit::{MockEndpoint, Reply, Script};

use crate::bad_input::Place;
use crate::endpoint::{KEY, PLAN, WRITE, search, whole};
use crate::shop;

/// The time for which the program may be silent before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);
const PROMPT: &str = "syrch> ";
const ENTER: &str = "\r";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";

type Shown = Arc<(Mutex<String>, Condvar)>;

/// A program at a terminal.
struct Terminal {
    child: Child,
    keys: File,
    shown: Shown,
    /// Up to where the test has read.
    at: usize,
}

impl Terminal {
    fn start(mut command: Command) -> Self {
        let size = Winsize { ws_row: 50, ws_col: 250, ws_xpixel: 0, ws_ypixel: 0 };
        let pair = openpty(Some(&size), None).unwrap();
        let end = || Stdio::from(pair.slave.try_clone().unwrap());
        command.env("TERM", "xterm").env("NO_COLOR", "1").stdin(end()).stdout(end()).stderr(end());
        let child = command.spawn().unwrap();
        drop((command, pair.slave));
        let keys = File::from(pair.master);
        let shown = Shown::default();
        let mut screen = keys.try_clone().unwrap();
        let seen = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // The terminal ends with an error when nobody is left at its other end.
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                seen.0.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
                seen.1.notify_all();
            }
        });
        Self { child, keys, shown, at: 0 }
    }

    /// Waits until the terminal shows these words after those of the last time; what stood before
    /// them is returned.
    fn wait_for(&mut self, words: &str) -> String {
        let started = Instant::now();
        let mut shown = self.shown.0.lock().unwrap();
        loop {
            if let Some(found) = shown[self.at..].find(words) {
                let before = shown[self.at..self.at + found].to_owned();
                self.at += found + words.len();
                return before;
            }
            assert!(started.elapsed() < PATIENCE, "`{words}` never came: {}", &shown[self.at..]);
            shown = self.shown.1.wait_timeout(shown, Duration::from_millis(200)).unwrap().0;
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn enter(&mut self, line: &str) {
        self.press(line);
        self.press(ENTER);
    }

    /// Ctrl-C as the terminal sends it while the program works.
    fn interrupt(&self) {
        assert!(
            Command::new("kill")
                .args(["-INT", &self.child.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
    }

    /// The exit code, which must come soon.
    fn end(&mut self) -> Option<i32> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end: {}", self.shown.0.lock().unwrap());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn offline(place: &Place, state: &Path) -> Terminal {
    let mut command = place.words("--llm offline --db shop.sqlite");
    command.env("SYRCH_STATE_DIR", state).env("SYRCH_API_KEY", KEY);
    Terminal::start(command)
}

#[test]
fn a_question_goes_on_from_the_one_before() {
    let place = crate::defined::shop();
    let mut command = place.words("--llm offline --db shop.sqlite --semantics shop.yml");
    command.env("SYRCH_STATE_DIR", place.path().join("state"));
    let mut terminal = Terminal::start(command);
    terminal.wait_for(PROMPT);
    terminal.enter("orders by status in 2024");
    terminal.wait_for("orders by status, in 2024");
    terminal.wait_for(PROMPT);
    terminal.enter("and in 2023?");
    terminal.wait_for("orders by status, in 2023");
    terminal.wait_for(PROMPT);
    terminal.enter("why?");
    terminal.wait_for("question: and in 2023?");
    terminal.wait_for(PROMPT);
    terminal.enter("by reviewer, sorted by nothing in particular");
    terminal.wait_for(PROMPT);
    terminal.enter("\\new");
    terminal.wait_for(PROMPT);
    terminal.enter("and in 2022?");
    let shown = terminal.wait_for("answer> ");
    assert!(!shown.contains("orders by status"), "{shown}");
    terminal.enter("");
    terminal.wait_for(PROMPT);
    terminal.press(CTRL_D);
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn questions_and_commands_are_answered_one_after_another() {
    let place = Place::new();
    let state = place.path().join("state/syrch");
    let mut terminal = offline(&place, &state);
    terminal.wait_for("\\help shows the commands");
    terminal.wait_for(PROMPT);
    terminal.enter("\\why");
    terminal.wait_for("nothing was searched yet");
    terminal.wait_for(PROMPT);
    terminal.enter("\\schema");
    for table in ["customers (table", "products (table", "orders (table"] {
        terminal.wait_for(table);
    }
    terminal.wait_for(PROMPT);
    // The tab key completes the name.
    terminal.enter("\\schema prod\t");
    let before = terminal.wait_for("products (table");
    assert!(!before.contains("customers"), "{before}");
    terminal.wait_for("price");
    terminal.wait_for(PROMPT);
    terminal.enter("\\schema custmers");
    terminal.wait_for("did you mean `customers`?");
    terminal.wait_for(PROMPT);
    terminal.enter("How many customers are there?");
    terminal.wait_for(" 4 │");
    terminal.wait_for("SELECT");
    terminal.wait_for("confidence");
    terminal.wait_for(PROMPT);
    terminal.enter("\\why");
    terminal.wait_for("question: How many customers are there?");
    terminal.wait_for("confidence: ");
    for column in ["candidate", "cluster", "confidence", "reason"] {
        terminal.wait_for(column);
    }
    terminal.wait_for("answer");
    terminal.wait_for(PROMPT);
    terminal.enter("\\sql SELECT sum(quantity) AS n FROM orders");
    terminal.wait_for("│ 8 ");
    terminal.wait_for(PROMPT);
    terminal.enter("\\sql DELETE FROM orders");
    terminal.wait_for("write-refused");
    terminal.wait_for(PROMPT);
    terminal.enter("\\shema");
    terminal.wait_for("did you mean `\\schema`");
    terminal.wait_for(PROMPT);
    terminal.enter(&format!("\\sql SELECT '{KEY}' AS k"));
    terminal.wait_for("│ *** ");
    terminal.wait_for(PROMPT);
    terminal.press(CTRL_C);
    terminal.wait_for(PROMPT);
    terminal.press(CTRL_D);
    assert_eq!(terminal.end(), Some(0));
    let file = state.join("history");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let expected = [
        "\\why",
        "\\schema",
        "\\schema products",
        "\\schema custmers",
        "How many customers are there?",
        "\\why",
        "\\sql SELECT sum(quantity) AS n FROM orders",
        "\\sql DELETE FROM orders",
        "\\shema",
    ];
    assert_eq!(fs::read_to_string(&file).unwrap().lines().collect::<Vec<_>>(), expected);

    // The next prompt offers the last line again.
    let mut terminal = offline(&place, &state);
    terminal.wait_for(PROMPT);
    terminal.press("\u{1b}[A\u{1b}[A");
    terminal.wait_for("DELETE FROM orders");
    terminal.press(ENTER);
    terminal.wait_for("write-refused");
    terminal.wait_for(PROMPT);
    terminal.enter("\\quit");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn what_must_be_right_before_the_first_question_is() {
    let place = Place::new();
    for (words, code, said) in [
        ("--db nowhere.sqlite", 11, "nowhere.sqlite"),
        ("--llm offline", 2, "no database"),
        ("--llm offline --db shop.sqlite -o out.csv", 2, "-o needs a question"),
    ] {
        let mut terminal = Terminal::start(place.words(words));
        terminal.wait_for(said);
        assert_eq!(terminal.end(), Some(code), "{words}");
    }
}

/// A prompt against an endpoint.
fn online(endpoint: &MockEndpoint, folder: &Path) -> Terminal {
    let mut command = search(&endpoint.url(), &shop(folder));
    command.env("SYRCH_STATE_DIR", folder.join("state"));
    let mut terminal = Terminal::start(command);
    terminal.wait_for(PROMPT);
    terminal
}

#[test]
fn ctrl_c_ends_the_search_and_not_the_prompt() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(
        Script::new()
            .once([PLAN], Reply::hang())
            .on([PLAN], whole())
            .on([WRITE], Reply::sql("SELECT COUNT(*) AS n FROM orders", 0.95)),
    );
    let mut terminal = online(&endpoint, folder.path());
    for round in 0..2 {
        terminal.enter("How many orders are there?");
        if round == 0 {
            let started = Instant::now();
            while endpoint.count() == 0 {
                assert!(started.elapsed() < PATIENCE, "nothing was asked");
                std::thread::sleep(Duration::from_millis(20));
            }
            terminal.interrupt();
            terminal.wait_for("stopping with the best so far");
            terminal.wait_for("error: interrupted");
        } else {
            terminal.wait_for("│ 4 ");
        }
        terminal.wait_for(PROMPT);
    }
    terminal.press(CTRL_D);
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn questions_to_the_user_come_through_the_same_editor() {
    let folder = syrch_kit::scratch();
    let endpoint = MockEndpoint::start(
        Script::new()
            .on([PLAN, "the orders"], whole())
            .on([WRITE, "the orders"], Reply::sql("SELECT COUNT(*) AS n FROM orders", 0.95))
            .on([PLAN], whole())
            .on([WRITE], Reply::sql("SELECT zilch FROM nowhere", 0.95))
            .on([""], Reply::text("Which one?")),
    );
    let mut terminal = online(&endpoint, folder.path());
    terminal.enter("How many are there?");
    terminal.wait_for("Which one?");
    terminal.wait_for("answer> ");
    terminal.press(CTRL_C);
    terminal.wait_for("stopping with the best so far");
    terminal.wait_for(PROMPT);
    terminal.enter("How many are there?");
    terminal.wait_for("answer> ");
    terminal.enter("the orders");
    terminal.wait_for("│ 4 ");
    terminal.wait_for(PROMPT);
    terminal.press(CTRL_D);
    assert_eq!(terminal.end(), Some(0));
    // What was answered is no line of the prompt.
    let history = fs::read_to_string(folder.path().join("state/history")).unwrap();
    assert_eq!(history, "How many are there?\nHow many are there?\n");
}
