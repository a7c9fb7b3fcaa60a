//! A search of the shop whose journal is drawn and compared with what was drawn before.

use syrch_kit::MockEndpoint;
use tempfile::TempDir;

use crate::endpoint::{Said, search};
use crate::{host, shop};

/// A search that leaves a journal, and what `trace show` says of it.
pub(crate) struct Traced {
    pub(super) folder: TempDir,
}

impl Traced {
    pub(crate) fn new() -> Self {
        Self { folder: syrch_kit::scratch() }
    }

    /// Asks the question with those flags.
    pub(crate) fn ask(&self, endpoint: &MockEndpoint, question: &str, flags: &[&str]) -> Said {
        let mut command = search(&endpoint.url(), &shop(self.folder.path()));
        command
            .env("SYRCH_STATE_DIR", self.state())
            .args(["--format", "json", "-q", question])
            .args(flags);
        Said::from_output(command.output().unwrap())
    }

    /// `trace show` of the last run, with what differs from run to run scrubbed, and compared with
    /// what it said before. Accept a change by writing it into the file.
    pub(crate) fn assert_snapshot(&self, name: &str) {
        let mut command = host();
        command.env("SYRCH_STATE_DIR", self.state()).args(["trace", "show", "last"]);
        let said = Said::from_output(command.output().unwrap());
        assert_eq!(said.code, 0, "{}", said.all());
        let now = scrub(&said.stdout);
        let path = syrch_kit::repository().join("tests/e2e/snapshots").join(name);
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(now, before, "{} differs; what is said now:\n{now}", path.display());
    }

    fn state(&self) -> std::path::PathBuf {
        self.folder.path().join("state")
    }
}

/// Without the run's id, its times and the versions: the first line has the id and two times, and
/// others say `in 0.01 s`.
fn scrub(text: &str) -> String {
    let (head, rest) = text.split_once('\n').unwrap();
    let (_, end) = head.split_once(" s, ").unwrap();
    let mut out = format!("run ID TIME, {end}\n");
    for line in rest.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let is_seconds = |place: usize| {
            words.get(place + 1).is_some_and(|next| next.trim_end_matches([':', ',', '.']) == "s")
        };
        out += &(words
            .iter()
            .enumerate()
            .map(|(place, word): (usize, &&str)| {
                if is_seconds(place) && word.parse::<f64>().is_ok() {
                    "TIME".to_owned()
                } else {
                    (*word).to_owned()
                }
            })
            .collect::<Vec<_>>()
            .join(" ")
            + "\n");
    }
    out.replace(concat!(" ", env!("CARGO_PKG_VERSION")), "")
}
