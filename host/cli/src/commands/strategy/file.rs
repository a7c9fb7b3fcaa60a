//! A strategy as a file that `--strategy` takes again: every role and the whole policy written out.

use serde_json::{Map, Value};
use syrch::strategies::{Definition, FLOW, NOBODY};
use syrch::syrch_core::roles::Role;

use crate::commands::config::is_bare;
use crate::sink::terminal::is_dangerous;

/// Columns of a folded text at most.
const WIDTH: usize = 120;

/// The file's text; `note` is a comment beside the plugin of a role. If it is empty, there is none.
pub(super) fn text(one: &Definition, note: impl Fn(&Role) -> String) -> String {
    let mut out = format!("name: {}\n", scalar(&one.name));
    for (key, text) in [("summary", &one.summary), ("idea", &one.idea), ("when", &one.when)] {
        if !text.is_empty() {
            out.push_str(&prose(key, text));
        }
    }
    out.push_str("roles:\n");
    for role in Role::ALL {
        out.push_str(&match one.roles.get(&role) {
            None if role == Role::Linker => format!("  {role}: {NOBODY}\n"),
            None => continue,
            Some(part) => {
                let note = Some(note(&role))
                    .filter(|note| !note.is_empty() && !note.contains(is_dangerous));
                let note = note.map(|note| format!("  # {note}")).unwrap_or_default();
                let plugin = scalar(&part.plugin.to_string());
                let mut settings = part.config.clone();
                if role == Role::Solver && one.flow().is_some() {
                    settings.shift_remove(FLOW);
                }
                format!("  {role}:\n    plugin: {plugin}{note}\n{}", config(&settings))
            }
        });
    }
    if let Some(Value::Object(flow)) = one.flow() {
        out.push_str(&format!("{FLOW}:\n{}", block(flow, 1)));
    }
    out.push_str("policy:\n");
    out.extend(one.whole_policy().iter().map(|(key, value)| format!("  {key}: {value}\n")));
    out
}

/// A mapping with a line for each key. What has no mapping within is written behind its key.
fn block(map: &Map<String, Value>, level: usize) -> String {
    map.iter()
        .map(|(key, value): (&String, &Value)| {
            let start = format!("{}{}:", "  ".repeat(level), scalar(key));
            match value {
                Value::Object(inner) if !inner.is_empty() => {
                    format!("{start}\n{}", block(inner, level + 1))
                }
                Value::String(text) => format!("{start} {}\n", scalar(text)),
                other => format!("{start} {}\n", escape(&other.to_string())),
            }
        })
        .collect()
}

fn config(config: &Map<String, Value>) -> String {
    let settings = config.iter().map(|(key, value)| {
        let value = value.as_str().map_or_else(|| escape(&value.to_string()), scalar);
        format!("      {}: {value}\n", scalar(key))
    });
    if config.is_empty() {
        String::new()
    } else {
        format!("    config:\n{}", settings.collect::<String>())
    }
}

/// A text as YAML reads it, quoted where it must be.
fn scalar(text: &str) -> String {
    if is_bare(text) { text.to_owned() } else { escape(&Value::from(text).to_string()) }
}

/// JSON is YAML but for characters that have no place in either.
fn escape(json: &str) -> String {
    json.chars()
        .map(|c: char| match u32::from(c) {
            _ if !is_dangerous(c) => c.to_string(),
            code @ ..=0xffff => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        })
        .collect()
}

/// A key with a text: words are folded into lines, which are read as one; what folding would change
/// is quoted.
fn prose(key: &str, text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let short = escape(&Value::from(text).to_string());
    let fits = key.len() + 2 + short.len() <= WIDTH;
    if fits
        || words.iter().any(|word| {
            word.is_empty() || word.contains(|c: char| c.is_whitespace() || is_dangerous(c))
        })
    {
        return format!("{key}: {short}\n");
    }
    let mut lines = vec![String::new()];
    for word in words {
        let line =
            lines.last_mut().filter(|line| line.is_empty() || line.len() + 3 + word.len() <= WIDTH);
        match line {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => *line = format!("{line} {word}"),
            None => lines.push(word.to_owned()),
        }
    }
    format!("{key}: >-\n  {}\n", lines.join("\n  "))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use syrch::strategies;

    use super::*;

    fn read(text: &str) -> Value {
        serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn what_is_written_is_the_strategy_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.yml");
        for name in strategies::names() {
            let one = strategies::find(name).unwrap();
            std::fs::write(&path, text(&one, |role| format!("the {role}"))).unwrap();
            let again = strategies::find(path.to_str().unwrap()).unwrap();
            assert_eq!(again.strategy(), one.strategy());
            assert_eq!(again.policy, one.whole_policy());
            let texts = |one: &Definition| [&one.summary, &one.idea, &one.when].map(Clone::clone);
            assert_eq!(texts(&again), texts(&one));
        }
    }

    #[test]
    fn settings_are_written_as_they_are_read() {
        let map = json!({
            "a b": "x: y", "no": "no", "list": [1, "\u{7f}\u{e0001}"], "n": 0.5, "text": "plain",
            "nested": {"k": null}
        });
        let written = config(map.as_object().unwrap());
        assert_eq!(read(&written)["config"], map);
        assert!(!written.contains(|c: char| c != '\n' && is_dangerous(c)), "{written}");
    }

    proptest! {
        #[test]
        fn prose_is_read_as_it_was(text in "[ -~éλ\n\t]{1,300}") {
            prop_assert_eq!(&read(&prose("idea", &text))["idea"], &json!(text));
        }
    }
}
