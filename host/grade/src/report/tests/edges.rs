//! Empty, failed and hostile runs: every format of every report.

use syrch_kit::markup;

use super::made::{self, SKILLS, Skill, answer, fail, header};
use crate::Verdict::{self, Excluded, Right, Wrong};
use crate::report::render::{csv, markdown, page, parquet, tables};
use crate::report::{
    BenchmarkReport, CompareOptions, CompareReport, GridReport, RunReport, Section,
};
use crate::run::{EarlierTries, End, Graded, Header, Judged};

const QUICK: CompareOptions = CompareOptions { seed: None, resamples: 200 };

/// Everything that is made of a run, as pages, texts and files.
fn everything(header: &Header, graded: &[Graded]) -> (CompareReport, Vec<String>) {
    let benchmark = BenchmarkReport::new(header, graded, "bag-v1");
    let compare = CompareReport::new(header, graded, "bag-v1", &QUICK);
    let grid = GridReport::new(header, graded, "bag-v1", &Default::default());
    let reports: [RunReport; 2] = [benchmark.into(), compare.clone().into()];
    let mut pictures = Vec::new();
    let mut remarks = Vec::new();
    for document in reports.each_ref().map(page::document) {
        let sections = document["sections"].as_array().unwrap();
        let own = sections.iter().flat_map(|section| section["pictures"].as_array().unwrap());
        pictures.extend(own.map(|picture| picture["svg"].as_str().unwrap().to_owned()));
        let page = document.to_string();
        assert!(!page.contains("NaN") && !page.contains("inf "), "a figure that is none");
        remarks.extend(sections.iter().flat_map(|section| {
            section["remarks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|one| one.as_str().unwrap().to_owned())
        }));
    }
    for table in reports
        .iter()
        .flat_map(|report: &RunReport| {
            Section::ALL
                .iter()
                .flat_map(|section| tables::for_section(report, *section))
                .collect::<Vec<_>>()
        })
        .chain([tables::grid(&grid)])
    {
        assert!(
            table.grid.rows.iter().all(|row| row.len() == table.grid.columns.len()),
            "{}",
            table.title
        );
    }
    let json = serde_json::to_string(&compare).unwrap();
    assert_eq!(
        serde_json::from_str::<CompareReport>(&json).unwrap(),
        compare,
        "a number that JSON does not hold"
    );
    assert!(parquet::parquet(&compare.results).unwrap().starts_with(b"PAR1"));
    let mut all = reports.iter().map(markdown::document).collect::<Vec<_>>();
    all.push(csv::csv(&compare.results));
    all.extend(grid.files().map(|(_, text)| text));
    all.extend(pictures);
    all.extend(remarks);
    (compare, all)
}

#[test]
fn columns_are_known_by_rules_that_count_them() {
    fn show(rule: &str, rows: u64) -> String {
        let mut one = answer("a", 0, Wrong);
        one.rows = Some(rows);
        one.verdicts.insert(rule.to_owned(), Judged { verdict: Right, fingerprint: None });
        let text =
            markdown::document(&BenchmarkReport::new(&header(&["a"], 1), &[one], "bag-v1").into());
        text.lines().last().unwrap().split(" | ").nth(4).unwrap().to_owned()
    }
    for rule in ["bag-v1", "bird-ex", "spider-ex", "strict"] {
        assert_eq!(show(rule, 1), "yes", "{rule}");
    }
    // More columns than expected are right by `spider2`, any number of them by others where there
    // are no rows.
    for (rule, rows) in [("spider2", 1), ("fuzzed", 1), ("bird-ex", 0), ("spider-ex", 0)] {
        assert_eq!(show(rule, rows), "–", "{rule}");
    }
}

fn uniform(questions: u64, verdict: Verdict) -> (Header, Vec<Graded>) {
    let graded = (0..questions)
        .flat_map(|place| ["a", "b"].map(|arm| answer(arm, place, verdict)))
        .collect();
    (header(&["a", "b"], questions), graded)
}

#[test]
fn no_question_and_no_arm() {
    let (compare, texts) = everything(&header(&["a", "b"], 0), &[]);
    assert_eq!(
        (compare.pairs[0].questions, compare.pairs[0].difference, compare.basis.partial),
        (0, None, None)
    );
    assert!(texts[0].contains("**Passed:** 0/0"));
    let (compare, _) = everything(&header(&[], 3), &[answer("unknown", 0, Right)]);
    assert!(compare.arms.is_empty() && compare.results.is_empty());
}

#[test]
fn one_question() {
    let (header, graded) = uniform(1, Right);
    let (compare, texts) = everything(&header, &graded);
    assert_eq!((compare.pairs[0].questions, compare.pairs[0].difference), (1, Some(0.0)));
    assert_no_slips(&texts);
}

/// No plural follows the number 1.
fn assert_no_slips(texts: &[String]) {
    let nouns = [
        "questions",
        "answers",
        "databases",
        "arms",
        "cells",
        "searches",
        "calls",
        "model calls",
        "tokens",
        "tries",
        "pairs",
        "seeds",
        "times",
    ];
    for text in texts {
        for noun in nouns {
            // `11 questions` and `1.1 questions` are right.
            let slip = format!("1 {noun}");
            let found = text
                .match_indices(&slip)
                .find(|(at, _)| !text[..*at].ends_with(|c: char| c.is_ascii_digit() || c == '.'));
            assert_eq!(found.map(|(at, _)| &text[at.saturating_sub(40)..]), None, "{slip}");
        }
    }
}

#[test]
fn one_of_everything() {
    for (verdict, ends) in
        [(Right, None), (Wrong, None), (Wrong, Some(End::Failed)), (Excluded, None)]
    {
        let (header, mut graded) = uniform(1, verdict);
        if let Some(end) = ends {
            graded.iter_mut().for_each(|one| fail(one, end, "model"));
        }
        assert_no_slips(&everything(&header, &graded).1);
        // One of two answers, right where the other is not, in a run that was tried before.
        graded[0].verdicts = answer("a", 0, Right).verdicts;
        assert_no_slips(&everything(&header, &graded).1);
        graded[1].gold_fault = Some("no such table".into());
        graded[1].verdicts.clear();
        assert_no_slips(&everything(&header, &graded).1);
        assert_no_slips(&everything(&header, &graded[..1]).1);
        let mut report = CompareReport::new(&header, &graded, "bag-v1", &QUICK);
        let tries = EarlierTries { tries: 1, calls: 1, tokens: 1, usd: None };
        report.with_earlier_tries(&[("a".to_owned(), tries)].into());
        assert!(
            report
                .basis
                .warnings
                .iter()
                .any(|one| one.ends_with("1 try of `a` took 1 model call, 1 token"))
        );
    }
}

#[test]
fn all_right_all_wrong_all_excluded() {
    for (verdict, right, of) in [(Right, 30, 30), (Wrong, 0, 30), (Excluded, 0, 0)] {
        let (header, mut graded) = uniform(30, verdict);
        graded.iter_mut().for_each(|one| one.confidence = Some(0.5));
        let (compare, texts) = everything(&header, &graded);
        let share = &compare.arms[0].figures.share;
        assert_eq!((share.right, share.of), (right, of));
        assert!(texts[0].contains(&format!("**Passed:** {right}/{of}")));
        assert_eq!(compare.arms[0].figures.calibration.as_ref().and_then(|one| one.auroc), None);
    }
}

#[test]
fn everything_failed_and_nothing_is_known() {
    let (header, mut graded) = uniform(30, Wrong);
    for one in &mut graded {
        fail(one, End::Failed, "model");
        (one.cost.usd, one.cost.calls, one.time_ms) = (None, 1, f64::NAN);
        (one.gold_sql, one.gold_rows) = (None, None);
    }
    let (compare, texts) = everything(&header, &graded);
    let figures = &compare.arms[0].figures;
    assert_eq!(
        (figures.costs.usd, figures.costs.latency, figures.costs.usd_unknown),
        (None, None, Some(30))
    );
    assert_eq!(
        (compare.pareto.usd, compare.pareto.p50_ms, figures.outcomes.failed),
        (None, None, 30)
    );
    assert!(figures.calibration.is_none());
    let name = &compare.arms[1].arm.name;
    for remark in [
        "No answer that counts has a confidence.".to_owned(),
        format!("No answer of {name} that counts has a confidence."),
    ] {
        assert!(texts.contains(&remark), "{remark}");
    }
}

#[test]
fn no_expected_answer_is_available() {
    let (header, mut graded) = uniform(10, Right);
    for one in &mut graded {
        one.verdicts.clear();
        one.gold_fault = Some("no such table".into());
    }
    let (compare, _) = everything(&header, &graded);
    assert_eq!((compare.head.suite.gold_faults, compare.arms[0].figures.share.of), (10, 0));
    assert_eq!(
        compare.basis.warnings[0],
        "10 questions do not count: the expected answer is not available"
    );
}

#[test]
fn ten_thousand_questions_are_a_page_that_opens() {
    let (header, mut graded) = made::run(&[SKILLS[0], SKILLS[1]], 10_000);
    for one in &mut graded {
        one.sql = Some(format!("SELECT {} FROM t", "column_name, ".repeat(100)));
    }
    let (_, texts) = everything(&header, &graded);
    for page in texts.iter().filter(|text| text.starts_with("<!doctype")) {
        assert!(page.len() < 10_000_000, "{}", page.len());
        assert!(page.contains(" more are left out here; the JSON has them."));
    }
    assert!(texts[1].len() < 65_536, "a comment on a pull request: {}", texts[1].len());
}

#[test]
fn many_arms_are_drawn() {
    let names: Vec<String> = (0..54).map(|number| format!("cell-{number}")).collect();
    let (header, graded) = made::run(
        &names
            .iter()
            .map(|name: &String| Skill { name: String::leak(name.clone()), right: 0.7, calls: 2 })
            .collect::<Vec<_>>(),
        12,
    );
    let (compare, _) = everything(&header, &graded);
    assert_eq!((compare.arms.len(), compare.pairs.len()), (54, 53));
}

/// Texts that a terminal, a browser, a spreadsheet, Markdown or a Parquet reader would obey, or
/// that end what they stand in.
const HOSTILE: [&str; 8] = [
    "</title></svg></style></script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>' onmouseover='alert(1)",
    "=cmd|' /C calc'!A0",
    "| a | b |\n# heading\n![x](https://e.example/x.png) ``` ~~~",
    "\u{1b}[2J\u{202e}\u{0}\u{feff}\r\n\u{ffff}",
    "&lt;b&gt; &amp; ]]> <!-- -->",
    "",
    "漢字 ﷽ 👩‍👧 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\
     aaaaaaaaaaaaaaa",
];

fn make_hostile_run(text: &str, other: &str) -> (Header, Vec<Graded>) {
    let (mut header, mut graded) = made::run(&[SKILLS[0], SKILLS[1]], 40);
    for one in &mut graded {
        one.arm = if one.arm == SKILLS[0].name { text.into() } else { format!("{other}2") };
        (one.id, one.db) = (format!("{text}{}", one.place), format!("{text}{}", one.place % 3));
        (one.question, one.sql, one.gold_sql) =
            (text.into(), Some(text.into()), Some(other.into()));
        one.fields.insert(text.into(), other.into());
        one.run = Some(text.into());
        if let Some(judged) = one.verdicts.get("spider-ex").cloned() {
            one.verdicts.insert(text.into(), judged);
        }
        if let Some(fault) = &mut one.fault {
            (fault.class, fault.message) = (text.into(), other.into());
        }
        if one.place == 7 {
            one.gold_fault = Some(text.into());
            one.verdicts.clear();
        }
    }
    for (arm, name) in header.arms.iter_mut().zip([text.to_owned(), format!("{other}2")]) {
        (arm.name, arm.strategy, arm.settings) =
            (name, text.into(), serde_json::json!({text: other}));
        arm.plugins[0].source = text.into();
    }
    (header.id, header.host, header.simulated) = (text.into(), text.into(), Some(text.into()));
    (header.suite.path, header.suite.digest) = (text.into(), text.into());
    (header, graded)
}

/// The lines of Markdown that are no code.
fn outside_of_code(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut fence = None;
    for line in text.lines() {
        match fence {
            Some(end) if line == end => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = line.strip_suffix("sql"),
            None => lines.push(line),
        }
    }
    assert_eq!(fence, None, "a fence that does not end");
    lines
}

#[test]
fn hostile_texts_stay_texts() {
    for (text, other) in HOSTILE.iter().zip(HOSTILE.iter().cycle().skip(1)) {
        let (header, graded) = make_hostile_run(text, other);
        let (_, texts) = everything(&header, &graded);
        let pictures = texts.iter().filter(|made| made.starts_with("<svg"));
        assert!(pictures.clone().count() > 0);
        for made in pictures {
            for (name, attributes) in markup::elements(made) {
                assert!(
                    !["script", "img", "iframe", "link", "object", "a", "image", "use"]
                        .contains(&name.as_str()),
                    "{name}"
                );
                assert!(
                    attributes.keys().all(|name: &String| {
                        !name.starts_with("on")
                            && name != "href"
                            && name != "src"
                            && name != "style"
                    }),
                    "{attributes:?}"
                );
            }
            assert!(
                !made
                    .chars()
                    .any(|c| syrch_core::text::escape::is_dangerous(c) && c != '\n' && c != '\t')
            );
        }
        for made in &texts[..2] {
            assert!(!made.contains(['\u{1b}', '\u{202e}', '\0']));
            for line in outside_of_code(made) {
                assert!(
                    !line.contains("<script")
                        && !line.contains("<img")
                        && !line.starts_with("# heading"),
                    "{line}"
                );
            }
        }
        for record in ::csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(texts[2].as_bytes())
            .records()
        {
            for cell in &record.unwrap() {
                assert!(!syrch_core::text::escape::is_formula(cell), "{cell:?}");
            }
        }
    }
}
