//! The kinds of nodes: one row for each, with its actions and its settings.

use serde_json::{Value, json};

use crate::{ABSTAINED, DEFAULT, NONE, TEXT, UNSURE};

/// The kind of a node: the work that it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Asks the model for a statement.
    Draft,
    /// Asks the model for another statement, after one that failed.
    Repair,
    /// Checks the statement without running it.
    Check,
    /// Runs the statement.
    Run,
    /// Has the statement that ran judged.
    Judge,
    /// Joins branches: the most common result wins.
    Vote,
    /// Joins branches: the model or the reward chooses a result.
    Choose,
    /// Prepares a question for the user.
    Ask,
    /// Hands the task to another plugin.
    Solver,
    /// Runs an inner flow.
    Flow,
}

/// A setting of a kind.
#[derive(Debug, PartialEq)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// The values that it may have.
    pub range: Range,
    /// Its value where it is left out; `None` for no value.
    default: Option<Default>,
}

/// The values that a setting may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A number from the first to the second.
    Number(f64, f64),
    /// A whole number from the first to the second.
    Whole(u32, u32),
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// A mapping that somebody else reads.
    Map,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Default {
    Word(&'static str),
    Number(f64),
    Whole(u32),
}

struct Row {
    kind: Kind,
    name: &'static str,
    actions: &'static [&'static str],
    /// The actions that are told apart only where there is an edge for them.
    optional: &'static [&'static str],
    settings: &'static [Setting],
}

const fn setting(name: &'static str, range: Range, default: Option<Default>) -> Setting {
    Setting { name, range, default }
}

const FORM: Setting = setting("form", Range::Words(&["sql", "yaml"]), Some(Default::Word("sql")));
const TEMPERATURE: Setting = setting("temperature", Range::Number(0.0, 2.0), None);
const INSTRUCTIONS: Setting = setting("instructions", Range::Text, None);
const SHOWN_ROWS: Setting = setting("shown_rows", Range::Whole(0, 50), Some(Default::Whole(3)));
const BY: Setting = setting("by", Range::Words(&["model", "reward"]), Some(Default::Word("model")));

/// All kinds. A new one has its row here and its work in the plugin that runs flows.
const KINDS: [Row; 10] = [
    Row {
        kind: Kind::Draft,
        name: "draft",
        actions: &[DEFAULT, ABSTAINED],
        optional: &[],
        settings: &[FORM, TEMPERATURE, INSTRUCTIONS],
    },
    Row {
        kind: Kind::Repair,
        name: "repair",
        actions: &[DEFAULT, ABSTAINED],
        optional: &[],
        settings: &[
            FORM,
            TEMPERATURE,
            INSTRUCTIONS,
            setting("history", Range::Words(&["all", "last"]), Some(Default::Word("all"))),
        ],
    },
    Row {
        kind: Kind::Check,
        name: "check",
        actions: &[DEFAULT, "error"],
        optional: &[],
        settings: &[],
    },
    Row {
        kind: Kind::Run,
        name: "run",
        actions: &[DEFAULT, "error"],
        optional: &["doubtful", "empty"],
        settings: &[],
    },
    Row {
        kind: Kind::Judge,
        name: "judge",
        actions: &[DEFAULT, "rejected"],
        optional: &[],
        settings: &[
            BY,
            SHOWN_ROWS,
            setting("pass_score", Range::Number(0.0, 10.0), Some(Default::Number(7.0))),
        ],
    },
    Row {
        kind: Kind::Vote,
        name: "vote",
        actions: &[DEFAULT, NONE],
        optional: &["disagreed"],
        settings: &[setting("agree", Range::Whole(1, 32), Some(Default::Whole(2)))],
    },
    Row {
        kind: Kind::Choose,
        name: "choose",
        actions: &[DEFAULT, NONE],
        optional: &[],
        settings: &[BY, SHOWN_ROWS],
    },
    Row {
        kind: Kind::Ask,
        name: "ask",
        actions: &[DEFAULT, "unneeded"],
        optional: &[],
        settings: &[setting("question", Range::Text, None), setting("choices", Range::Texts, None)],
    },
    Row {
        kind: Kind::Solver,
        name: "solver",
        actions: &[DEFAULT, NONE],
        optional: &[UNSURE],
        settings: &[
            setting("plugin", Range::Text, None),
            setting("config", Range::Map, None),
            setting("sure", Range::Number(0.0, 1.0), Some(Default::Number(0.5))),
        ],
    },
    Row { kind: Kind::Flow, name: "flow", actions: &[], optional: &[], settings: &[] },
];

impl Kind {
    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        KINDS.iter().find(|row| row.name == name).map(|row| row.kind)
    }

    /// The names of all kinds.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|row| row.name)
    }

    fn row(self) -> &'static Row {
        KINDS.iter().find(|row| row.kind == self).unwrap_or(&KINDS[0])
    }

    /// The kind's name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The actions that a node of the kind may end with, beside those of its own. An inner flow has
    /// those of its nodes.
    #[must_use]
    pub fn actions(self) -> &'static [&'static str] {
        self.row().actions
    }

    /// The actions that a node of the kind tells apart from `default` only where it has an edge for
    /// them.
    #[must_use]
    pub fn optional_actions(self) -> &'static [&'static str] {
        self.row().optional
    }

    /// The kind's settings.
    #[must_use]
    pub fn settings(self) -> &'static [Setting] {
        self.row().settings
    }

    /// Returns true if the node waits for the branches of a fan-out and makes one of them.
    #[must_use]
    pub fn is_join(self) -> bool {
        matches!(self, Self::Vote | Self::Choose)
    }

    /// Returns true if the node needs a statement, so that no flow can start with it.
    #[must_use]
    pub fn needs_statement(self) -> bool {
        matches!(
            self,
            Self::Repair | Self::Check | Self::Run | Self::Judge | Self::Vote | Self::Choose
        )
    }
}

impl Setting {
    /// The value of the setting where it is left out.
    #[must_use]
    pub fn default(&self) -> Option<Value> {
        self.default.map(|default| match default {
            Default::Word(word) => json!(word),
            Default::Number(number) => json!(number),
            Default::Whole(number) => json!(number),
        })
    }

    /// The reason why a value does not fit; `None` if it does.
    #[must_use]
    pub fn refuse(&self, value: &Value) -> Option<String> {
        fn is_text(value: &Value) -> bool {
            value.as_str().is_some_and(|text| text.len() <= TEXT)
        }
        let (fits, expected) = match self.range {
            Range::Words(words) => (
                value.as_str().is_some_and(|word| words.contains(&word)),
                format!("one of {}", words.join(", ")),
            ),
            Range::Number(least, most) => (
                value.as_f64().is_some_and(|number| (least..=most).contains(&number)),
                format!("a number from {least} to {most}"),
            ),
            Range::Whole(least, most) => (
                value
                    .as_u64()
                    .is_some_and(|number| (u64::from(least)..=u64::from(most)).contains(&number)),
                format!("a whole number from {least} to {most}"),
            ),
            Range::Text => (is_text(value), format!("a text of at most {TEXT} bytes")),
            Range::Texts => {
                let fits = value
                    .as_array()
                    .is_some_and(|list| list.len() <= 10 && list.iter().all(is_text));
                (fits, format!("a list of at most 10 texts, each of at most {TEXT} bytes"))
            }
            Range::Map => (value.is_object(), "a mapping".to_owned()),
        };
        (!fits).then(|| format!("is not {expected}"))
    }
}
