//! Real questions, real answers: the recorded systems over Spider's questions, asked as one system
//! would be.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{Bench, figures};
use crate::endpoint::Said;

/// Orders in which the systems' answers come.
const SEEDS: u64 = 3;

fn bare(sql: &str) -> String {
    sql.trim().trim_end_matches(';').trim_end().to_owned()
}

/// Returns the verdicts of the original rules of Spider and BIRD on each recorded statement, by the
/// question and the statement.
fn original(path: &Path) -> BTreeMap<(String, String), [bool; 2]> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut known = BTreeMap::new();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let id = line["id"].as_str().unwrap();
        for answer in line["candidates"].as_object().unwrap().values() {
            let said = ["ex", "bird_ex"].map(|rule| answer[rule] == 1);
            known.insert((id.to_owned(), bare(answer["sql"].as_str().unwrap())), said);
        }
    }
    known
}

#[test]
#[ignore = "a measurement: `make figures` makes it"]
fn recorded_answers_are_right_as_often_as_they_are_known_to_be() {
    let Some(data) = syrch_kit::data_root() else { return };
    let bench = Bench::new();
    let spider = data.join("spider");
    let original = original(&spider.join("recorded.jsonl"));
    let mut right = 0;
    let mut of = 0;
    let mut judged = 0;
    for seed in 0..SEEDS {
        let mut command = bench.command("benchmark");
        command.arg(spider.join("questions.jsonl")).args(["--seed", &seed.to_string()]);
        command.arg("--llm").arg(format!("replay:{}", spider.join("recorded.jsonl").display()));
        command.args([
            "--strategy",
            "single",
            "--rule",
            "spider-ex",
            "--traces",
            "none",
            "--format",
            "json",
        ]);
        let document = Said::from_output(command.output().unwrap()).document(0);
        assert_eq!(
            (&document["ends"]["failed"], &document["suite"]["gold_faults"]),
            (&0.into(), &0.into())
        );
        let (now, questions) = figures(&document);
        println!("seed {seed}: {now} of {questions} right under spider-ex");
        (right, of) = (right + now, of + questions);
        for row in document["results"].as_array().unwrap() {
            let Some(sql) = row["sql"].as_str() else { continue };
            let id = row["id"].as_str().unwrap();
            let expected =
                original.get(&(id.to_owned(), bare(sql))).unwrap_or_else(|| panic!("{row}"));
            let found = ["spider-ex", "bird-ex"].map(|rule| row["verdicts"][rule] == "right");
            assert_eq!(&found, expected, "{row}");
            judged += 1;
        }
    }
    println!("{judged} answers are judged as by the original rules");
    // Over all orders 82.8 % are right.
    let share = right as f64 / of as f64;
    assert!((0.815..0.845).contains(&share) && judged > of * 9 / 10, "{share}");
}
