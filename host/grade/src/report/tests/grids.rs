//! Grids: which cell is best, and the files.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::made::{answer, header};
use crate::Verdict::{Right, Wrong};
use crate::report::render::tables;
use crate::report::{Band, GridReport};
use crate::run::{Graded, Judged};

const CELLS: [&str; 4] = ["cell-1", "cell-2", "cell-3", "cell-4"];

fn settings() -> BTreeMap<String, BTreeMap<String, Value>> {
    fn one(place: usize) -> BTreeMap<String, Value> {
        BTreeMap::from([
            ("planner.depth".to_owned(), json!(place / 2)),
            ("calibration".to_owned(), json!(place.is_multiple_of(2))),
        ])
    }
    CELLS.iter().enumerate().map(|(place, cell)| ((*cell).to_owned(), one(place))).collect()
}

fn make_answers(right: [u64; 4]) -> Vec<Graded> {
    let mut graded = Vec::new();
    for (cell, right) in CELLS.iter().zip(right) {
        graded.extend(
            (0..40).map(|place| answer(cell, place, if place < right { Right } else { Wrong })),
        );
    }
    graded
}

fn report(graded: &[Graded]) -> GridReport {
    GridReport::new(&header(&CELLS, 40), graded, "bag-v1", &settings())
}

#[test]
fn the_best_has_the_most_right_then_costs_least_then_is_first() {
    assert_eq!(report(&make_answers([10, 30, 29, 5])).best.as_deref(), Some("cell-2"));
    let mut graded = make_answers([30, 30, 30, 30]);
    assert_eq!(report(&graded).best.as_deref(), Some("cell-1"));
    graded[130].cost.input_tokens -= 1;
    // Which cell pays the tokens of a call that several share is chance.
    assert_eq!(report(&graded).best.as_deref(), Some("cell-1"));
    graded[90].cost.calls = 0;
    assert_eq!(report(&graded).best.as_deref(), Some("cell-3"));
}

#[test]
fn cells_are_shown_as_they_are_ranked() {
    fn names(report: &GridReport) -> Vec<String> {
        report.rank_cells().iter().map(|cell| cell.name.clone()).collect::<Vec<_>>()
    }
    let mut made = report(&make_answers([10, 30, 29, 5]));
    assert_eq!(names(&made), ["cell-2", "cell-3", "cell-1", "cell-4"]);
    assert_eq!(made.cells[0].name, "cell-1");
    let shown = tables::grid(&made);
    assert_eq!(
        shown.grid.rows.iter().map(|row| row[0].as_str().unwrap()).collect::<Vec<_>>(),
        names(&made)
    );
    // Of equal ones that with the fewest calls is first, also where calls are left out.
    let mut graded = self::make_answers([30, 30, 30, 5]);
    graded[90].cost.calls = 0;
    made = report(&graded);
    assert_eq!(names(&made), ["cell-3", "cell-1", "cell-2", "cell-4"]);
    made.without_times();
    assert_eq!(names(&made), ["cell-3", "cell-1", "cell-2", "cell-4"]);
}

#[test]
fn cells_have_their_band_what_was_timed_and_what_was_fuzzed() {
    let mut asked = header(&["cell-1", "cell-2", "cell-1 #8", "cell-2 #8"], 4);
    let mut graded = Vec::new();
    for arm in asked.arms.iter_mut().skip(2) {
        arm.again = Some(arm.name[..6].to_owned());
    }
    for (arm, right) in asked.arms.iter().zip([2, 3, 1, 4]) {
        graded.extend(
            (0..4).map(|place| answer(&arm.name, place, if place < right { Right } else { Wrong })),
        );
    }
    for one in &mut graded {
        let verdict = if one.place == 0 { Right } else { Wrong };
        one.verdicts.insert("fuzzed".to_owned(), Judged { verdict, fingerprint: None });
    }
    let mut report = GridReport::new(&asked, &graded, "bag-v1", &settings());
    let bands = report.cells.iter().map(|cell| cell.band).collect::<Vec<_>>();
    assert_eq!(
        bands,
        [(0.25, 0.5), (0.75, 1.0)].map(|(low, high)| Some(Band { low, high, seeds: 2 }))
    );
    assert_eq!((report.best.as_deref(), report.basis.partial.is_none()), (Some("cell-2"), true));
    assert!(
        report
            .basis
            .warnings
            .iter()
            .any(|one| one.starts_with("over 2 seeds `cell-1` has 25.0 to 50.0 % right"))
    );
    report.with_timings(&BTreeMap::from([("cell-1".to_owned(), 80.0)]), 3);
    let table = tables::grid(&report);
    assert_eq!(
        table.grid.columns[10..],
        ["over 2 seeds", "fuzzed", "R-VES (each pair timed 3 times)"]
    );
    assert_eq!(
        table.grid.rows[0][10..],
        ["75.0 to 100.0 %", "1 of 4", "–"].map(|text| json!(text))
    );
    assert_eq!(
        table.grid.rows[1][10..],
        ["25.0 to 50.0 %", "1 of 4", "80.0 %"].map(|text| json!(text))
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["cells"][0]["r_ves"], &json["timed_repeats"]), (&json!(80.0), &json!(3)));
    report.without_times();
    assert_eq!((report.cells[0].r_ves, report.timed_repeats), (None, None));
}

#[test]
fn what_is_not_worse_beyond_chance_ties() {
    let report = report(&make_answers([10, 30, 29, 5]));
    assert_eq!(report.ties, ["cell-3"]);
    let p: Vec<bool> =
        report.cells.iter().map(|cell| cell.p_to_best.is_some_and(|p| p < 0.05)).collect();
    assert_eq!((p, report.cells[1].p_to_best), (vec![true, false, false, true], None));
}

#[test]
fn without_expected_answers_the_surest_is_best() {
    let mut graded = make_answers([0; 4]);
    for one in &mut graded {
        one.verdicts.clear();
        one.confidence = Some(if one.arm == "cell-3" { 0.9 } else { 0.6 });
    }
    let report = report(&graded);
    assert_eq!((report.best.as_deref(), report.cells[2].share.of), (Some("cell-3"), 0));
    assert!((report.cells[2].mean_confidence.unwrap() - 0.9).abs() < 1e-12);
}

#[test]
fn the_files_have_their_founding_names() {
    let made = report(&make_answers([10, 30, 29, 5]));
    let files = made.files();
    assert_eq!(
        files.each_ref().map(|(name, _)| *name),
        ["config.json", "results.json", "best.json", "summary.md"]
    );
    fn read(files: &[(&str, String); 4], place: usize) -> Value {
        serde_json::from_str::<Value>(&files[place].1).unwrap()
    }
    assert_eq!(
        read(&files, 0)["settings"],
        json!({"calibration": [true, false], "planner.depth": [0, 1]})
    );
    assert_eq!(serde_json::from_value::<GridReport>(read(&files, 1)).unwrap(), made);
    assert_eq!(
        (&read(&files, 2)["name"], &read(&files, 2)["right"]),
        (&json!("cell-2"), &json!(30))
    );
    assert_eq!(files[3].1, include_str!("grid.md"), "\n{}", files[3].1);
}

#[test]
fn a_grid_without_cells_has_no_best() {
    let empty = GridReport::new(&header(&[], 0), &[], "bag-v1", &BTreeMap::new());
    assert_eq!((empty.best.as_deref(), empty.best_cell()), (None, None));
    assert!(empty.files()[3].1.contains("No cell was tried."));
    assert_eq!(empty.files()[2].1, "null\n");
    // Cells that were tried without an answer differ from no cells.
    let mut made = report(&make_answers([0; 4]));
    made.best = None;
    assert!(made.files()[3].1.contains("\n\nNo cell has an answer.\n\n"), "{}", made.files()[3].1);
    assert!(report(&[]).head.suite.asked == 0 && report(&[]).without_best() == "no cell was tried");
}

#[test]
fn equal_grids_make_equal_documents() {
    let graded = make_answers([10, 30, 29, 5]);
    let mut later = graded.clone();
    later.iter_mut().for_each(|one| one.time_ms += 5.0);
    let mut one = report(&graded);
    let mut other = report(&later);
    assert_ne!(one, other);
    one.without_times();
    other.without_times();
    assert_eq!(one, other);
}
