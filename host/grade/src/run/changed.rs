//! The differences between the recorded start of a run and the current one: a run is resumed only
//! without any.

use std::collections::BTreeSet;

use serde_json::Value;
use syrch_core::text;

use super::header::{Arm, Header, PluginOfArm};

/// Digits of a digest in a message.
const SHOWN: usize = 8;

/// The differences, each as a phrase for "the run X cannot be resumed: changed since: …". Empty if
/// it can be resumed. The id of the run and the path of the suite may differ.
#[must_use]
pub fn find_changes(recorded: &Header, now: &Header) -> Vec<String> {
    let mut all = Vec::new();
    let mut note = |differs: bool, phrase: String| {
        if differs {
            all.push(phrase);
        }
    };
    note(recorded.format != now.format, format!("the format (it was {})", recorded.format));
    note(recorded.host != now.host, format!("the host (it was {})", recorded.host));
    let was = &recorded.suite;
    let is = &now.suite;
    note(
        (&was.digest, was.questions) != (&is.digest, is.questions),
        format!(
            "the suite's questions or expected answers (it was {} with {})",
            shorten_digest(&was.digest),
            syrch_core::text::count(was.questions, "question")
        ),
    );
    note(recorded.shard != now.shard, format!("the shard (it was {})", shard(recorded)));
    note(recorded.rule != now.rule, format!("the rule (it was {})", recorded.rule));
    note(recorded.seed != now.seed, format!("the seed (it was {})", recorded.seed));
    let simulated = recorded.simulated.as_deref().unwrap_or("none");
    note(recorded.simulated != now.simulated, format!("the simulated model (it was {simulated})"));
    note(recorded.fuzz != now.fuzz, "the fuzzed suite".to_owned());
    let early = if recorded.stop_early {
        "stopping early (it was requested)"
    } else {
        "stopping early (it was not requested)"
    };
    note(recorded.stop_early != now.stop_early, early.to_owned());
    all.extend(databases(recorded, now));
    all.extend(arms(recorded, now));
    all
}

fn shard(header: &Header) -> String {
    header.shard.map_or_else(|| "the whole suite".to_owned(), |shard| shard.to_string())
}

fn shorten_digest(digest: &str) -> &str {
    digest.get(..SHOWN).unwrap_or(digest)
}

fn databases(recorded: &Header, now: &Header) -> Vec<String> {
    let names: BTreeSet<&String> = recorded.databases.keys().chain(now.databases.keys()).collect();
    let differing = names.into_iter().filter_map(|name| {
        match (recorded.databases.get(name), now.databases.get(name)) {
            (Some(was), Some(is)) if was == is => None,
            (Some(_), Some(_)) => Some(format!("the database `{name}`")),
            (Some(_), None) => Some(format!("the database `{name}` (it is gone)")),
            _ => Some(format!("the database `{name}` (it is new)")),
        }
    });
    differing.collect()
}

fn arms(recorded: &Header, now: &Header) -> Vec<String> {
    fn arm_names(header: &Header) -> Vec<String> {
        header.arms.iter().map(|arm| arm.name.clone()).collect::<Vec<_>>()
    }
    if arm_names(recorded) != arm_names(now) {
        return vec![format!("the arms (they were {})", text::few(arm_names(recorded)))];
    }
    recorded.arms.iter().zip(&now.arms).flat_map(|(was, is)| arm(was, is)).collect()
}

fn arm(was: &Arm, is: &Arm) -> Vec<String> {
    let name = &was.name;
    let mut all = Vec::new();
    if was.strategy != is.strategy {
        all.push(format!("the strategy of `{name}` (it was {})", was.strategy));
    }
    let roles: BTreeSet<&str> =
        was.plugins.iter().chain(&is.plugins).map(|plugin| plugin.role.as_str()).collect();
    for role in roles {
        let of_role = |arm: &'_ Arm| -> Vec<PluginOfArm> {
            arm.plugins.iter().filter(|plugin| plugin.role == role).cloned().collect()
        };
        let was = of_role(was);
        let is = of_role(is);
        fn digests(plugins: &[PluginOfArm]) -> Vec<String> {
            plugins.iter().map(|plugin| plugin.digest.clone()).collect::<Vec<_>>()
        }
        if digests(&was) != digests(&is) {
            all.push(format!(
                "the plugin of the {role} of `{name}` (it was {})",
                describe_plugins(&was)
            ));
        }
    }
    let settings = differing_entries(&was.settings, &is.settings);
    all.extend(settings.into_iter().map(|(path, value)| match path.is_empty() {
        true => format!("the settings of `{name}`"),
        false => format!("the setting {path} of `{name}` (it was {value})"),
    }));
    all
}

fn describe_plugins(plugins: &[PluginOfArm]) -> String {
    let each: Vec<String> = plugins
        .iter()
        .map(|plugin| format!("{} {}", plugin.source, shorten_digest(&plugin.digest)))
        .collect();
    if each.is_empty() { "none".to_owned() } else { text::few(each) }
}

/// The settings whose values differ: their dotted paths and what they were.
fn differing_entries(was: &Value, is: &Value) -> Vec<(String, String)> {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            let keys: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
            let mut all = Vec::new();
            for key in keys {
                let a = was.get(key).unwrap_or(&Value::Null);
                let b = is.get(key).unwrap_or(&Value::Null);
                let dotted = |inner: &str| {
                    if inner.is_empty() { key.clone() } else { format!("{key}.{inner}") }
                };
                all.extend(
                    differing_entries(a, b)
                        .into_iter()
                        .map(|(inner, value)| (dotted(&inner), value)),
                );
            }
            all
        }
        (was, is) if was == is => Vec::new(),
        (Value::Null, _) => vec![(String::new(), "not set".to_owned())],
        _ => vec![(String::new(), syrch_core::text::clip(&was.to_string(), 80).to_owned())],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::super::Shard;
    use super::super::header::{RUN_FORMAT, SuiteOfRun};
    use super::*;

    fn header() -> Header {
        fn plugin(role: &str, source: &str, digest: &str) -> PluginOfArm {
            PluginOfArm {
                role: role.to_owned(),
                source: source.to_owned(),
                digest: digest.to_owned(),
            }
        }
        fn arm(name: &str) -> Arm {
            Arm {
                name: name.to_owned(),
                strategy: "plain".to_owned(),
                plugins: vec![
                    plugin("planner", "chase", "1234abcd99"),
                    plugin("solver", "plain", "77"),
                ],
                settings: json!({"model": {"temperature": 0.7, "name": "m"}, "rows": [1, 2]}),
                again: None,
            }
        }
        Header {
            format: RUN_FORMAT.to_owned(),
            id: "1".to_owned(),
            host: "0.1.0".to_owned(),
            suite: SuiteOfRun {
                path: "suite.jsonl".into(),
                digest: "feedc0de00".into(),
                questions: 12,
            },
            arms: vec![arm("a"), arm("b")],
            databases: BTreeMap::from([
                ("shop".to_owned(), "x".to_owned()),
                ("stock".to_owned(), "y".to_owned()),
            ]),
            rule: "bag-v1".to_owned(),
            shard: None,
            seed: 7,
            fuzz: None,
            simulated: None,
            stop_early: false,
        }
    }

    /// The differences to a header after a change.
    fn differences_after(change: impl FnOnce(&mut Header)) -> Vec<String> {
        let mut now = header();
        change(&mut now);
        find_changes(&header(), &now)
    }

    #[test]
    fn the_id_and_the_suites_path_may_differ_and_nothing_else() {
        let none: [String; 0] = [];
        assert_eq!(differences_after(|_| {}), none);
        assert_eq!(differences_after(|now| now.id = "2".into()), none);
        assert_eq!(differences_after(|now| now.suite.path = "../suite.jsonl".into()), none);
        assert_eq!(
            differences_after(|now| now.format = "x".into()),
            ["the format (it was syrch.run/1)"]
        );
        assert_eq!(differences_after(|now| now.host = "0.2.0".into()), ["the host (it was 0.1.0)"]);
        let suite =
            ["the suite's questions or expected answers (it was feedc0de with 12 questions)"];
        assert_eq!(differences_after(|now| now.suite.digest = "00".into()), suite);
        assert_eq!(differences_after(|now| now.suite.questions = 13), suite);
        assert_eq!(
            differences_after(|now| now.rule = "strict".into()),
            ["the rule (it was bag-v1)"]
        );
        assert_eq!(differences_after(|now| now.seed = 8), ["the seed (it was 7)"]);
        assert_eq!(
            differences_after(|now| now.simulated = Some("s".into())),
            ["the simulated model (it was none)"]
        );
        assert_eq!(
            differences_after(|now| now.stop_early = true),
            ["stopping early (it was not requested)"]
        );
        assert_eq!(differences_after(|now| now.fuzz = Some("f".into())), ["the fuzzed suite"]);
        let shard = Some(Shard { index: 1, of: 2 });
        assert_eq!(
            differences_after(|now| now.shard = shard),
            ["the shard (it was the whole suite)"]
        );
        let back = find_changes(&Header { shard, ..header() }, &header());
        assert_eq!(back, ["the shard (it was 1/2)"]);
        let was = Header {
            fuzz: Some("f".into()),
            simulated: Some("s".into()),
            stop_early: true,
            ..header()
        };
        assert_eq!(
            find_changes(&was, &header()),
            [
                "the simulated model (it was s)",
                "the fuzzed suite",
                "stopping early (it was requested)"
            ]
        );
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        fn read(header: &Header) -> Header {
            serde_json::from_value::<Header>(serde_json::to_value(header).unwrap()).unwrap()
        }
        assert_eq!(read(&header()), header());
        let mut full = Header {
            shard: Some(Shard { index: 2, of: 3 }),
            fuzz: Some("f".into()),
            simulated: Some("s".into()),
            stop_early: true,
            ..header()
        };
        full.arms[1].again = Some("a".to_owned());
        assert_eq!(read(&full), full);
        // Members without a value are not written.
        let written = serde_json::to_value(header()).unwrap();
        for key in ["shard", "fuzz", "simulated", "stop_early"] {
            assert_eq!(written.get(key), None, "{key}");
        }
    }

    #[test]
    fn databases_are_named() {
        let set =
            |now: &mut Header, name: &str| now.databases.insert(name.to_owned(), "z".to_owned());
        assert_eq!(differences_after(|now| drop(set(now, "shop"))), ["the database `shop`"]);
        assert_eq!(
            differences_after(|now| drop(set(now, "new"))),
            ["the database `new` (it is new)"]
        );
        assert_eq!(
            differences_after(|now| drop(now.databases.remove("stock"))),
            ["the database `stock` (it is gone)"]
        );
    }

    #[test]
    fn what_differs_in_an_arm_is_named() {
        assert_eq!(
            differences_after(|now| now.arms[0].strategy = "chase".into()),
            ["the strategy of `a` (it was plain)"]
        );
        let planner = ["the plugin of the planner of `a` (it was chase 1234abcd)"];
        assert_eq!(differences_after(|now| now.arms[0].plugins[0].digest = "00".into()), planner);
        assert_eq!(differences_after(|now| drop(now.arms[0].plugins.remove(0))), planner);
        // The same bytes under another name are the same plugin.
        assert!(
            differences_after(|now| now.arms[0].plugins[0].source = "plugins/chase.wasm".into())
                .is_empty()
        );
        let reward = PluginOfArm { role: "reward".into(), source: "r".into(), digest: "1".into() };
        let added = ["the plugin of the reward of `b` (it was none)"];
        assert_eq!(differences_after(|now| now.arms[1].plugins.push(reward)), added);
        let temperature = ["the setting model.temperature of `a` (it was 0.7)"];
        assert_eq!(
            differences_after(|now| now.arms[0].settings["model"]["temperature"] = json!(0)),
            temperature
        );
        assert_eq!(
            differences_after(|now| now.arms[1].settings["rows"] = json!([1])),
            ["the setting rows of `b` (it was [1,2])"]
        );
        assert_eq!(
            differences_after(|now| now.arms[1].settings["x"] = json!(1)),
            ["the setting x of `b` (it was not set)"]
        );
        assert_eq!(differences_after(|now| now.arms[1].settings = json!(3)).len(), 1);
        let order = ["the arms (they were a, b)"];
        assert_eq!(differences_after(|now| now.arms.reverse()), order);
        assert_eq!(differences_after(|now| drop(now.arms.pop())), order);
        let both = differences_after(|now| {
            now.seed = 8;
            now.arms[0].settings["model"] = json!({"name": "n"});
        });
        assert_eq!(both.len(), 3);
        assert_eq!(both[1..], ["the setting model.name of `a` (it was \"m\")", temperature[0]]);
    }
}
