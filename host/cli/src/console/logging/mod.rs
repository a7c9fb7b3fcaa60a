//! The log on standard error, one event a line: as `LEVEL:logger_name:message`, or as one JSON
//! object.

mod fields;
mod lines;

use std::sync::Arc;

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt;

use super::Console;
use lines::Lines;

/// The format of messages on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum LogFormat {
    /// `LEVEL:logger_name:message`, beside notes for people
    #[default]
    Text,
    /// One JSON object a line, notes, warnings and errors too
    Json,
}

/// Starts the log: warnings of this program, with one `-v` its information, with two its debugging,
/// with three that of all parts.
pub(crate) fn start(console: &Arc<Console>, verbosity: u8, quiet: bool) {
    let filter = match verbosity {
        _ if quiet => "off",
        0 => "off,syrch=warn",
        1 => "warn,syrch=info",
        2 => "warn,syrch=debug",
        _ => "debug,syrch=trace",
    };
    let lines = Lines::new(Arc::clone(console));
    let subscriber = tracing_subscriber::registry().with(EnvFilter::new(filter)).with(lines);
    // Only the first of a process counts, and this is a program's one start.
    drop(tracing::subscriber::set_global_default(subscriber));
}

/// One line of the log.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Record {
    /// The name of the level, such as `INFO` and `WARNING`.
    pub(super) level: &'static str,
    /// The logger, with dots between its parts.
    pub(super) logger: String,
    /// The text of the event.
    pub(super) message: String,
    /// Further facts by name.
    pub(super) fields: Map<String, Value>,
    /// The spans around it, the outermost first.
    pub(super) spans: Vec<(&'static str, Map<String, Value>)>,
}

impl Record {
    /// `LEVEL:logger_name:message`, then the facts as `name=value`, those of the spans last.
    pub(super) fn text(&self) -> String {
        let mut line = format!("{}:{}:{}", self.level, self.logger, self.message);
        let mut seen: Vec<&str> = Vec::new();
        let inner = self.spans.iter().rev().map(|(_, fields)| fields);
        for (name, value) in std::iter::once(&self.fields).chain(inner).flatten() {
            if !seen.contains(&name.as_str()) {
                seen.push(name);
                line += &format!(" {name}={}", word(value));
            }
        }
        line
    }

    /// `{"timestamp", "level", "target", "message", "fields", "spans"}`, the last two where there
    /// are any.
    pub(super) fn document(&self) -> Value {
        let mut document = json!({
            "timestamp": now(),
            "level": self.level,
            "target": self.logger,
            "message": self.message,
        });
        if !self.fields.is_empty() {
            document["fields"] = Value::Object(self.fields.clone());
        }
        if !self.spans.is_empty() {
            let spans = self.spans.iter();
            document["spans"] =
                spans.map(|(name, fields)| json!({"name": name, "fields": fields})).collect();
        }
        document
    }
}

/// A value as one word: text that could be mistaken for more is quoted.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains([' ', '=', '"', '\n', '\t']) => {
            text.clone()
        }
        other => other.to_string(),
    }
}

/// The time in UTC as RFC 3339 writes it.
fn now() -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut text));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn record() -> Record {
        Record {
            level: "INFO",
            logger: "syrch.scheduler".into(),
            message: "Layer 0: dispatching 2 nodes".into(),
            fields: map(json!({"nodes": 2, "task": "A", "why": "two words"})),
            spans: vec![("search", map(json!({"run": "r1", "task": "outer"})))],
        }
    }

    #[test]
    fn text_has_the_format_of_syrch_0_1_2_with_each_fact_once() {
        let expected = "INFO:syrch.scheduler:Layer 0: dispatching 2 nodes nodes=2 task=A why=\"two \
                        words\" run=r1";
        assert_eq!(record().text(), expected);
        let bare = Record { fields: Map::new(), spans: Vec::new(), ..record() };
        assert_eq!(bare.text(), "INFO:syrch.scheduler:Layer 0: dispatching 2 nodes");
    }

    #[test]
    fn documents_have_a_time_and_keep_types() {
        let document = record().document();
        let time = document["timestamp"].as_str().unwrap();
        assert!(time.len() > 20 && time.contains('T') && time.ends_with('Z'), "{time}");
        assert_eq!(document["fields"]["nodes"], 2);
        assert_eq!(document["spans"][0]["name"], "search");
        let bare = Record { fields: Map::new(), spans: Vec::new(), ..record() }.document();
        let keys: Vec<&String> = bare.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["timestamp", "level", "target", "message"]);
    }
}
