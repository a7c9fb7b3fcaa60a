//! The recorded start of a run: `run.json` in its folder. A run is resumed only with equal
//! settings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use syrch_suites::run::Shard;

/// The format's name in [`Header::format`].
pub const RUN_FORMAT: &str = "syrch.run/1";

/// The recorded start of a run: suite, arms and settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The format of the log, which is always [`RUN_FORMAT`].
    pub format: String,
    /// The id of the run.
    pub id: String,
    /// The version of the host that started the run.
    pub host: String,
    /// The suite of the run.
    pub suite: SuiteOfRun,
    /// The arms in the order of the command line.
    pub arms: Vec<Arm>,
    /// The digest of each database's content, by the name of the database in the suite.
    pub databases: BTreeMap<String, String>,
    /// The default comparison rule of reports.
    pub rule: String,
    /// The part of the suite. `None` means the whole suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The seed of everything random.
    pub seed: u64,
    /// The digest of the fuzzed suite on which right answers are run again. `None` if there is
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuzz: Option<String>,
    /// The label of the simulated model that gives the answers, which figures show. `None` if a
    /// real one gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<String>,
    /// True if the run stops as soon as the e-process shows that its first two arms differ. Then
    /// the e-process decides in every report on the run, whether it stopped early or not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_early: bool,
}

/// The suite of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteOfRun {
    /// The path as it was given.
    pub path: String,
    /// The SHA-256 of its questions and expected answers, in hex.
    pub digest: String,
    /// Questions in all, also those of other shards.
    pub questions: u64,
}

/// A strategy with its plugins and settings, which answers the questions of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// The name, unique within the run.
    pub name: String,
    /// The name of the strategy that the arm executes.
    pub strategy: String,
    /// The plugins by role.
    pub plugins: Vec<PluginOfArm>,
    /// All other settings, without keys and folders; differences are named by their dotted path.
    pub settings: Value,
    /// The arm that this one repeats under another seed: its answers show how much of that arm's
    /// figures is chance. `None` if it is an arm of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

impl Header {
    /// The header with only the arms that repeat no other.
    #[must_use]
    pub fn own(&self) -> Self {
        let mut own = self.clone();
        own.arms.retain(|arm| arm.again.is_none());
        own
    }

    /// The names of the arms that repeat this one under other seeds.
    pub fn again<'a>(&'a self, arm: &'a str) -> impl Iterator<Item = &'a str> {
        self.arms
            .iter()
            .filter(move |other| other.again.as_deref() == Some(arm))
            .map(|other| other.name.as_str())
    }
}

/// A plugin of an arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginOfArm {
    /// The name of the role.
    pub role: String,
    /// A built-in's name, or a path.
    pub source: String,
    /// The SHA-256 of its bytes, in hex.
    pub digest: String,
}
