//! Branches on error: EP-14, EP-16, and the bounds of the beam.

use super::*;

use Purpose::{Generate, Judge, Repair};

const WRONG: &str = "SELECT * FROM employees WHERE department = 'Sales'";
const OTHER: &str = "SELECT * FROM employees WHERE department LIKE 'Eng%'";
const THIRD: &str = "SELECT * FROM employees WHERE department IN ('Engineering')";

/// The example, whose second step is wrong at first; `then` are its alternatives.
fn stage_with_rejection(then: &[(&str, usize)]) -> Stage {
    let mut stage = Stage::new(&example());
    stage.runs(ALL, 10).runs(WRONG, 4).runs(BOTH, 2).generates(ALL).generates(WRONG);
    for (sql, count) in then {
        stage.runs(sql, *count).repairs(sql);
    }
    stage.judges(&[YES, &no("FILTERS", "the department is another one")]);
    stage
}

#[test]
fn a_rejected_step_gets_alternatives_that_know_why() {
    let mut stage = stage_with_rejection(&[(OTHER, 6), (IN, 5), (THIRD, 7)]);
    stage
        .judges(&[&no("FILTERS", "too wide"), YES, &no("TABLES", "no")])
        .generates(BOTH)
        .judges(&[YES, YES]);
    let outcome = stage.solve();
    assert_eq!(outcome.candidates[0].sql, BOTH);
    assert_eq!(
        stage.purposes(),
        [
            Generate, Judge, Generate, Judge, Repair, Repair, Repair, Judge, Judge, Judge,
            Generate, Judge, Judge
        ]
    );
    let requests = stage.host.model.requests();
    assert_eq!(requests[4..7].iter().map(|asked| asked.sample).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(
        requests[4..7]
            .iter()
            .all(|asked| asked.temperature == Some(0.7) && asked.subjects == [WRONG])
    );
    // EP-14: the class, the judge's reason and what mends it reach the next prompt.
    let parts = [
        WRONG,
        "rejected: wrong_filter: the department is another one",
        "the value as it is stored",
    ];
    assert_has(&stage.host.model.prompt(4), &parts);
    assert_has(
        &stage.host.model.prompt(4),
        &["Your step now, filter: keep Engineering", "The statement so far:"],
    );
    // The tree that a person sees.
    let proposed = stage.proposals();
    fn line(id: &str, parent: &str, origin: &str) -> (String, String, String) {
        (id.to_owned(), parent.to_owned(), origin.to_owned())
    }
    assert_eq!(proposed[1], line("A.2", "A.1", "generate"));
    assert_eq!(proposed[3], line("A.4", "A.2", "alternative"));
    assert_eq!(proposed[5], line("A.6", "A.4", "generate"));
    assert_eq!(
        stage.events("branched"),
        [json!({ "from": 0, "into": [1, 2, 3], "subtask": "2", "class": "wrong_filter" })]
    );
    assert_has(&stage.host.trace.discarded("A.2").unwrap(), &["wrong_filter"]);
    let reported = memo(&outcome);
    assert_eq!(reported["branches_explored"], 4);
    assert_eq!(reported["errors"], json!({ "wrong_filter": 2, "wrong_table": 1 }));
    let two =
        reported["branches"].as_array().unwrap().iter().find(|branch| branch["id"] == 2).unwrap();
    assert_eq!(
        (&two["parent"], &two["depth"], &two["active"]),
        (&json!(0), &json!(1), &json!(true))
    );
    assert_eq!(two["failure_point"]["class"], "wrong_filter");
    let signals = &outcome.candidates[0].signals;
    let extra =
        |name: &str| signals.extra.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    assert_eq!(
        (extra("semantic_errors"), extra("cumulative_reward"), signals.attempts),
        (Some(1.0), Some(3.0), 2)
    );
}

#[test]
fn an_engine_error_of_meaning_branches_with_its_hint() {
    let mut stage = Stage::new(&[]);
    stage
        .host
        .database
        .fail_check(WRONG, sql_error(SqlErrorKind::AmbiguousName, "`name` could be either"));
    stage.generates(WRONG).runs(BOTH, 2).repairs(BOTH).judges(&[YES]);
    stage.settings.alternatives = 1;
    assert_eq!(stage.answer().unwrap(), BOTH);
    assert_eq!(stage.purposes(), [Generate, Repair, Judge]);
    assert_has(&stage.prompts(&Repair)[0], &["`name` could be either", "qualify every column"]);
    assert_eq!(stage.events("branched")[0]["class"], "wrong_join");
}

#[test]
fn alternatives_have_a_number_and_a_temperature() {
    for number in [0, 2] {
        let mut stage = stage_with_rejection(&[(IN, 5), (OTHER, 6)]);
        stage.settings.alternatives = number;
        stage.settings.alternative_temperature = 1.1;
        stage.judges(&[YES, &no("FILTERS", "too wide")]).generates(BOTH).judges(&[YES, YES]);
        stage.solve();
        let repairs: Vec<Request> = stage
            .host
            .model
            .requests()
            .into_iter()
            .filter(|asked| asked.purpose == Repair)
            .collect();
        assert_eq!(repairs.len(), number as usize);
        assert!(repairs.iter().all(|asked| asked.temperature == Some(1.1)));
    }
}

/// Two alternatives that are both accepted, with different rows.
fn stage_with_fork() -> Stage {
    let mut stage = stage_with_rejection(&[(IN, 5), (OTHER, 6)]);
    stage.settings.alternatives = 2;
    stage.judges(&[YES, YES]);
    stage
}

#[test]
fn accepted_alternatives_are_branches_and_the_best_by_cumulative_reward_wins() {
    let mut stage = stage_with_fork();
    // The first branch's last step is rejected for good, the second's is not.
    let worse = "SELECT name FROM employees WHERE department = 'Engineering'";
    stage.settings.max_branch_depth = 1;
    stage.runs(worse, 5).generates(worse).generates(BOTH).judges(&[
        &no("COLUMNS", "all are asked for"),
        YES,
        YES,
    ]);
    let outcome = stage.solve();
    assert_eq!(outcome.candidates[0].sql, BOTH);
    let reported = memo(&outcome);
    let rewards: Vec<&JsonValue> = reported["branches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|branch| &branch["cumulative_reward"])
        .collect();
    assert_eq!(rewards, [&json!(1.0), &json!(2.0), &json!(3.0)]);
    assert_has(
        &stage.host.trace.discarded("A.3").unwrap(),
        &["cumulative reward 2.00; A.6 comes first with 3.00"],
    );
    // The whole is judged once, for the best branch alone.
    assert_eq!(
        stage.prompts(&Judge).iter().filter(|prompt| !prompt.contains("this step:")).count(),
        1
    );
}

#[test]
fn the_beam_is_cut_to_its_width() {
    let mut stage = stage_with_fork();
    stage.settings.beam_width = 1;
    stage.generates(BOTH).judges(&[YES, YES]);
    assert_eq!(stage.answer().unwrap(), BOTH);
    assert_has(
        &stage.host.trace.discarded("A.4").unwrap(),
        &["its branch was cut: cumulative reward 2.00"],
    );
    assert_eq!(stage.prompts(&Generate).len(), 3);
    // With the default width both go on.
    let mut stage = stage_with_fork();
    stage.generates(BOTH).generates(BOTH).judges(&[YES, YES, YES]);
    stage.solve();
    assert_eq!(stage.prompts(&Generate).len(), 4);
}

#[test]
fn alternatives_with_equal_rows_are_one_branch() {
    let mut stage = stage_with_rejection(&[(IN, 5), (THIRD, 5)]);
    stage.settings.alternatives = 2;
    stage.judges(&[YES, YES]).generates(BOTH).judges(&[YES, YES]);
    assert_eq!(stage.answer().unwrap(), BOTH);
    assert_eq!(stage.host.trace.discarded("A.4").unwrap(), "the same rows as A.3");
    assert_eq!(stage.prompts(&Generate).len(), 3);
}

#[test]
fn branches_that_meet_again_are_one() {
    let mut stage = stage_with_fork();
    stage.generates(BOTH).generates(BOTH).judges(&[YES, YES, YES]);
    assert_eq!(stage.answer().unwrap(), BOTH);
    assert_eq!(stage.host.trace.discarded("A.6").unwrap(), "the same rows as A.5");
    let extended = Traced::Discarded("A.1".into(), "extended by A.3 and A.4".into());
    assert!(stage.host.trace.lines().contains(&extended));
}

#[test]
fn rejected_alternatives_branch_again_as_deep_as_allowed() {
    for (depth, repairs) in [(0, 0), (1, 1), (2, 2), (3, 3)] {
        let mut stage = Stage::new(&[]);
        stage.settings.alternatives = 1;
        stage.settings.max_branch_depth = depth;
        stage.runs(WRONG, 4).generates(WRONG).judges(&[no("FILTERS", "off").as_str(); 9]);
        for number in 0..9 {
            let sql = format!("SELECT {number}");
            stage.runs(&sql, number + 1).repairs(&sql);
        }
        let outcome = stage.solve();
        assert!(outcome.candidates.is_empty());
        assert_eq!(stage.prompts(&Repair).len(), repairs, "depth {depth}");
        let reported = memo(&outcome);
        let branches = reported["branches"].as_array().unwrap();
        let deepest = branches.iter().map(|branch| branch["depth"].as_u64().unwrap()).max();
        assert_eq!(deepest, Some(u64::from(depth)));
        if depth == 3 {
            assert_has(&stage.prompts(&Repair)[2], &[WRONG, "SELECT 0\n", "SELECT 1\n"]);
        }
    }
}

// Errors of meaning are worth more alternatives than others, and only the best of a level get any.
#[test]
fn a_level_of_alternatives_is_ordered_and_cut() {
    let mut stage = Stage::new(&[]);
    stage.settings =
        Settings { alternatives: 2, max_branch_depth: 2, beam_width: 1, ..Settings::default() };
    stage
        .host
        .database
        .fail_check(THIRD, sql_error(SqlErrorKind::FunctionRefused, "`x` is not listed"));
    stage
        .runs(WRONG, 4)
        .runs(OTHER, 6)
        .runs(BOTH, 2)
        .generates(WRONG)
        .repairs(THIRD)
        .repairs(OTHER);
    stage.repairs(BOTH).repairs(IN).runs(IN, 5).judges(&[
        &no("FILTERS", "off"),
        &no("FILTERS", "too wide"),
        YES,
    ]);
    assert_eq!(stage.answer().unwrap(), BOTH);
    let repairs = stage.prompts(&Repair);
    assert_eq!(repairs.len(), 4);
    assert_has(&repairs[2], &[WRONG, OTHER, "too wide"]);
    assert_lacks(&repairs[2], &[THIRD]);

    for (width, repairs) in [(1, 4), (2, 6)] {
        let mut stage = Stage::new(&[]);
        stage.settings = Settings {
            alternatives: 2,
            max_branch_depth: 2,
            beam_width: width,
            ..Settings::default()
        };
        stage.runs(WRONG, 4).generates(WRONG).judges(&[no("FILTERS", "off").as_str(); 9]);
        for number in 0..9 {
            let sql = format!("SELECT {number}");
            stage.runs(&sql, number + 1).repairs(&sql);
        }
        assert_eq!(stage.answer(), None);
        assert_eq!(stage.prompts(&Repair).len(), repairs, "width {width}");
    }
}

#[test]
fn the_statement_that_stays_the_same_is_not_run_again() {
    let mut stage = Stage::new(&[]);
    stage.settings.alternatives = 2;
    stage.runs(WRONG, 4).runs(BOTH, 2).generates(WRONG).repairs(WRONG).repairs(BOTH);
    stage.judges(&[&no("FILTERS", "off"), YES]);
    assert_eq!(stage.answer().unwrap(), BOTH);
    assert_eq!(stage.host.database.log(), [WRONG, BOTH]);
}

#[test]
fn what_is_below_the_threshold_gets_alternatives_and_is_better_than_nothing() {
    let solved = |threshold: f64| {
        let mut stage = Stage::new(&[]);
        stage.settings = Settings {
            acceptance_threshold: threshold,
            alternatives: 1,
            max_branch_depth: 1,
            ..Settings::default()
        };
        stage.runs(ALL, 3).runs(IN, 4).generates(ALL).repairs(IN);
        stage.verdicts = RefCell::new(vec![accepted(0.8, "nearly"), accepted(0.6, "less so")]);
        let outcome = stage.solve();
        (outcome.candidates[0].sql.clone(), outcome.candidates[0].score, stage)
    };
    let (sql, score, stage) = solved(0.8);
    assert_eq!((sql.as_str(), score, stage.purposes()), (ALL, Some(0.8), vec![Generate]));
    let (sql, score, stage) = solved(1.0);
    assert_eq!((sql.as_str(), score, stage.purposes()), (ALL, Some(0.8), vec![Generate, Repair]));
    assert_has(
        &stage.host.model.prompt(1),
        &["its reward is 0.80, where 1.00 is asked for: nearly"],
    );
    assert_has(&stage.host.trace.kept("A.1").unwrap(), &["with less than was asked for"]);
}

#[test]
fn a_small_budget_makes_fewer_branches_and_says_so() {
    let solved = |calls: u32| {
        let mut stage = Stage::new(&[]);
        stage.calls = Some(calls);
        stage.runs(WRONG, 4).generates(WRONG).judges(&[no("FILTERS", "off").as_str(); 9]);
        for number in 0..9 {
            let sql = format!("SELECT {number}");
            stage.runs(&sql, number + 1).repairs(&sql);
        }
        stage.settings.max_branch_depth = 1;
        stage.solve();
        (stage.prompts(&Repair).len(), stage.host.trace.notes().join("\n"))
    };
    assert_eq!(solved(9).0, 3);
    let (repairs, notes) = solved(7);
    assert_eq!(repairs, 2);
    assert_has(&notes, &["allows 2 of 3 alternatives"]);
    assert_eq!(solved(2).0, 0);

    let mut stage = stage_with_rejection(&[]);
    stage.host.budget.time = TimeLeft::Little;
    stage.generates(BOTH).judges(&[YES, YES]);
    stage.solve();
    assert_eq!(stage.prompts(&Repair).len(), 0);
}
