//! What a run was begun with: `run.json` of its folder. A run goes on only with the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The format's name in [`Header::format`].
pub const RUN_FORMAT: &str = "syrch.run/1";

/// What a run was begun with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Always [`RUN_FORMAT`].
    pub format: String,
    /// The run's id.
    pub id: String,
    /// The host's version.
    pub host: String,
    /// The suite.
    pub suite: SuiteOfRun,
    /// Who answers, in the order of the command line.
    pub arms: Vec<Arm>,
    /// What tells each database's content from another, wherever it lies, by the name that the suite has for it.
    pub databases: BTreeMap<String, String>,
    /// The rule that reports go by unless they are told another.
    pub rule: String,
    /// Which part of the suite; none: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Where everything random starts.
    pub seed: u64,
    /// The digest of the fuzzed suite on which right answers are tried again; none: they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuzz: Option<String>,
    /// Whether the answers come from a simulated model, and which: figures are labelled with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<String>,
    /// Whether it was told to stop as soon as the e-process says that its first two arms differ: then the e-process decides, in every report
    /// on it, whether it came so far or not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_early: bool,
}

/// The suite of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteOfRun {
    /// Its path as given.
    pub path: String,
    /// The SHA-256 of its questions and expected answers, in hex.
    pub digest: String,
    /// Questions in all, also those of other shards.
    pub questions: u64,
}

/// One who answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Unique within the run.
    pub name: String,
    /// The strategy's name.
    pub strategy: String,
    /// The plugins by role.
    pub plugins: Vec<PluginOfArm>,
    /// All other settings, without keys and folders; differences are named by their dotted path.
    pub settings: Value,
    /// The arm that this one is once more, under another seed: its answers tell how much of that arm's figures is chance. None: an arm of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

impl Header {
    /// The same with the arms alone that are not another one once more.
    #[must_use]
    pub fn own(&self) -> Self {
        let mut own = self.clone();
        own.arms.retain(|arm| arm.again.is_none());
        own
    }

    /// The names of the arms that are that one once more.
    pub fn again<'a>(&'a self, arm: &'a str) -> impl Iterator<Item = &'a str> {
        self.arms.iter().filter(move |other| other.again.as_deref() == Some(arm)).map(|other| other.name.as_str())
    }
}

/// A plugin of an arm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginOfArm {
    /// The role.
    pub role: String,
    /// A built-in's name, or a path.
    pub source: String,
    /// The SHA-256 of its bytes, in hex.
    pub digest: String,
}

/// Part `index` (from 1) of `of` parts: the questions whose place, counted from 1, leaves the remainder `index` mod `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Which, from 1.
    pub index: u32,
    /// Of how many.
    pub of: u32,
}
