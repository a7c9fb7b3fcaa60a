//! The same questions in all formats, and content of any kind.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Home;
use crate::{Format, Gold, Question};

/// Questions as the formats can hold them.
fn any_question() -> impl Strategy<Value = Question> {
    let text = "[a-zA-Z0-9\"',; éß\n]{0,20}[a-z]";
    let golds = prop::collection::btree_set(text, 1..4);
    let fields = prop::collection::btree_map("f_[a-z]{1,6}", text, 0..3);
    let choice =
        |options: &'static [&'static str]| prop::sample::select(options).prop_map(str::to_owned);
    (
        "[a-z]{1,8}",
        prop::option::of(choice(&["sqlite", "postgres", "spark"])),
        text,
        prop::option::of(text),
        golds,
        any::<bool>(),
        prop::option::of(choice(&["2024-02-29", "1999-12-31"])),
        fields,
    )
        .prop_map(|(db, engine, question, evidence, golds, ordered, as_of, fields)| Question {
            id: String::new(),
            db,
            engine,
            question,
            evidence,
            golds: golds.into_iter().map(Gold::Sql).collect(),
            ordered,
            as_of,
            conversation: None,
            fields,
        })
}

/// A question as an object, under the names of a format.
fn object(question: &Question, names: [&str; 3]) -> serde_json::Map<String, Value> {
    let [id, db, sql] = names;
    let statements = question.statements();
    let mut object = serde_json::Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put(id, json!(question.id));
    put(db, json!(question.db));
    if let Some(engine) = &question.engine {
        put("engine", json!(engine));
    }
    put("question", json!(question.question));
    put("evidence", json!(question.evidence));
    put(sql, json!(statements[0]));
    put("gold_alternatives", json!(statements[1..]));
    put("ordered", json!(question.ordered));
    put("as_of", json!(question.as_of));
    question.fields.iter().for_each(|(name, value)| drop(put(name, json!(value))));
    object
}

fn csv_of(objects: &[serde_json::Map<String, Value>]) -> Vec<u8> {
    let names: std::collections::BTreeSet<&String> =
        objects.iter().flat_map(|object| object.keys()).collect();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&names).unwrap();
    for object in objects {
        writer
            .write_record(names.iter().map(|name: &&String| match object.get(*name) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            }))
            .unwrap();
    }
    writer.into_inner().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_formats_hold_the_same_questions(
        mut questions in prop::collection::vec(any_question(), 1..6),
    ) {
        questions.iter_mut().enumerate().for_each(|(at, question)| question.id = format!("q{at}"));
        let place = Home::new();
        let ours = ["id", "db", "gold_sql"];
        let mut digests = std::collections::BTreeSet::new();
        for (format, names) in [
            (Format::Jsonl, ours),
            (Format::Syrch, ["id", "db", "expected_sql"]),
            (Format::Bird, ["question_id", "db_id", "SQL"]),
            (Format::Spider, ["id", "db_id", "query"]),
        ] {
            // The alternatives are of our own format, which they would make the others.
            let objects: Vec<_> = questions.iter().map(|question: &Question| {
                let mut object = object(question, names);
                if names != ours && question.golds.len() == 1 {
                    object.remove("gold_alternatives");
                }
                object
            }).collect();
            let lines: String =
                objects.iter().map(|object| format!("{}\n", json!(object))).collect();
            let array = json!(objects).to_string();
            for content in [lines.into_bytes(), array.into_bytes(), csv_of(&objects)] {
                let suite = place.read(&content).unwrap();
                prop_assert_eq!(&suite.questions, &questions);
                digests.insert(suite.digest);
                let has_one = questions[0].golds.len() == 1;
                prop_assert!(
                    suite.format == Format::Csv || !has_one || suite.format == format,
                    "{:?}",
                    suite.format
                );
            }
        }
        prop_assert_eq!(digests.len(), 1);
    }

    #[test]
    fn any_content_is_read_or_refused(content in prop::collection::vec(any::<u8>(), 0..300)) {
        let place = Home::new();
        for head in [&b""[..], b"{\"question\":", b"[{\"question\":", b"id,question,sql\n"] {
            let _ = place.read([head, &content].concat());
        }
    }
}
