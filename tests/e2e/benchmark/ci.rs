//! Tests for systems of continuous integration: a least share of right answers, JUnit's XML, and
//! exit codes.

use syrch_kit::{MockEndpoint, Reply, Script};

use super::{Bench, script};
use crate::endpoint::Said;

#[test]
fn a_share_below_the_least_one_fails() {
    let bench = Bench::with_questions(10);
    let endpoint = MockEndpoint::start(script());
    for (least, code) in [("0.8", 0), ("0", 0), ("0.81", 5), ("1", 5)] {
        let said = Said::from_output(
            bench.asks(&endpoint, &format!("--min-score {least}")).output().unwrap(),
        );
        assert_eq!(said.code, code, "{least}: {}", said.all());
        assert_eq!(said.stderr.contains("8 of 10 are right"), code == 5, "{}", said.all());
    }
    for wrong in ["80", "-0.1", "x", "NaN"] {
        let said = Said::from_output(
            bench.asks(&endpoint, &format!("--min-score {wrong}")).output().unwrap(),
        );
        assert_eq!(said.code, 2, "{wrong}: {}", said.all());
    }
}

#[test]
fn junit_has_a_case_for_each_question() {
    let bench = Bench::with_questions(10);
    let endpoint = MockEndpoint::start(script());
    let said = Said::from_output(bench.asks(&endpoint, "--report out.junit.xml").output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
    let xml = std::fs::read_to_string(bench.place.path().join("out.junit.xml")).unwrap();
    assert!(xml.contains("tests=\"10\" failures=\"2\" errors=\"0\" skipped=\"0\""), "{xml}");
    assert_eq!(xml.matches("<testcase ").count(), 10, "{xml}");
}

#[test]
fn failed_answers_and_lost_shards_are_no_success() {
    let bench = Bench::with_questions(4);
    let answers: String = (0..4)
        .map(|at| {
            format!(
                "{{\"id\": \"q{at:04}\", \"outcome\": \"failed\", \"error\": {{\"class\": \
                 \"model\", \"message\": \"down\"}}}}\n"
            )
        })
        .collect();
    bench.place.file("answers.jsonl", answers);
    let said = bench.say("benchmark suite.jsonl --answers answers.jsonl");
    assert_eq!(said.code, 12, "{}", said.all());
    let said = bench.say("report last");
    assert_eq!(said.code, 12, "{}", said.all());
    let endpoint = MockEndpoint::start(script());
    let said = Said::from_output(bench.asks(&endpoint, "--shard 1/2").output().unwrap());
    assert_eq!(said.code, 0, "{}", said.all());
    let said = bench.say("report last");
    assert_eq!(said.code, 5, "{}", said.all());
    assert!(said.stderr.contains("shard 2/2 is missing"), "{}", said.all());
}

#[test]
fn the_dearest_failed_question_is_in_the_report() {
    let bench = Bench::with_questions(3);
    let endpoint =
        MockEndpoint::start(Script::new().with(|request, _| {
            match super::question_number(request)? {
                1 => Some(Reply::status(500, "out of order").delay_ms(300)),
                _ => super::answer(request),
            }
        }));
    let said = Said::from_output(
        bench.asks(&endpoint, "--strategy single --format markdown").output().unwrap(),
    );
    let (_, table) = said
        .stdout
        .split_once("Most expensive questions")
        .unwrap_or_else(|| panic!("{}", said.all()));
    assert!(table.split("</details>").next().unwrap().contains("| q0001 |"), "{table}");
}
