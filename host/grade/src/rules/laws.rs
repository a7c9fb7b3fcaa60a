//! Properties that hold for every rule, on random small tables.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, StringArray};
use proptest::prelude::*;
use syrch_core::ResultSet;

use super::sample::{ints, table, texts};
use super::{Facts, Rule, Verdict};

/// Columns of few different cells, so that results are often equal: halves, NULLs, and texts.
#[derive(Debug, Clone)]
enum Cells {
    Numbers(Vec<Option<u8>>),
    Texts(Vec<Option<u8>>),
}

impl Cells {
    fn array(&self) -> ArrayRef {
        match self {
            Self::Numbers(cells) => Arc::new(Float64Array::from_iter(
                cells.iter().map(|cell| cell.map(|cell| f64::from(cell) / 2.0)),
            )),
            Self::Texts(cells) => Arc::new(StringArray::from_iter(
                cells.iter().map(|cell| cell.map(|cell| cell.to_string())),
            )),
        }
    }

    fn permute(&self, rows: &[usize]) -> Self {
        match self {
            Self::Numbers(cells) => Self::Numbers(rows.iter().map(|row| cells[*row]).collect()),
            Self::Texts(cells) => Self::Texts(rows.iter().map(|row| cells[*row]).collect()),
        }
    }
}

fn result(columns: &[Cells]) -> ResultSet {
    table(columns.iter().map(Cells::array).collect())
}

fn columns(width: usize, height: usize) -> impl Strategy<Value = Vec<Cells>> {
    let cells = proptest::collection::vec(proptest::option::weighted(0.9, 0..3_u8), height);
    let column = (any::<bool>(), cells).prop_map(|(is_text, cells)| {
        if is_text { Cells::Texts(cells) } else { Cells::Numbers(cells) }
    });
    proptest::collection::vec(column, width)
}

/// Two tables, often of the same shape.
fn two() -> impl Strategy<Value = (Vec<Cells>, Vec<Cells>)> {
    (1..4_usize, 0..4_usize, 1..4_usize, 0..4_usize, any::<bool>()).prop_flat_map(
        |(width, height, w, h, is_same)| {
            let (w, h) = if is_same { (width, height) } else { (w, h) };
            (columns(width, height), columns(w, h))
        },
    )
}

/// A table, with an order of its rows and one of its columns.
fn table_with_orders() -> impl Strategy<Value = (Vec<Cells>, Vec<usize>, Vec<usize>)> {
    (1..5_usize, 1..7_usize).prop_flat_map(|(width, height)| {
        let order = |length| Just((0..length).collect::<Vec<usize>>()).prop_shuffle();
        (columns(width, height), order(height), order(width))
    })
}

const FACTS: [Facts; 2] = [
    Facts { ordered: false, gold_has_order_by: false, unnamed: false },
    Facts { ordered: true, gold_has_order_by: true, unnamed: false },
];

/// Returns true if the rule considers the prediction at all.
fn is_informative(rule: Rule, gold: &ResultSet) -> bool {
    rule != Rule::BAG_V1 || gold.row_count() > 0
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_result_is_right_against_itself(
        columns in (1..5_usize, 0..6_usize).prop_flat_map(|(w, h)| columns(w, h))
    ) {
        let one = result(&columns);
        for rule in Rule::all() {
            for facts in FACTS {
                let wanted =
                    if one.row_count() == 0 && *rule
                        == Rule::BAG_V1 { Verdict::Excluded } else { Verdict::Right };
                prop_assert_eq!(rule.compare(&one, &one, facts), wanted, "{}", rule);
            }
        }
    }

    /// All but `spider2`, which asks for containment only.
    #[test]
    fn the_sides_can_be_exchanged((a, b) in two()) {
        let a = result(&a);
        let b = result(&b);
        for rule in Rule::all().iter().filter(|rule| **rule != Rule::SPIDER2) {
            for facts in FACTS {
                if !is_informative(*rule, &a) || !is_informative(*rule, &b) {
                    continue;
                }
                prop_assert_eq!(
                    rule.compare(&a, &b, facts), rule.compare(&b, &a, facts), "{}", rule
                );
            }
        }
    }

    #[test]
    fn what_is_right_under_strict_is_wrong_under_none((a, b) in two()) {
        let a = result(&a);
        let b = result(&b);
        for facts in FACTS {
            if Rule::STRICT.compare(&a, &b, facts).is_right() {
                for rule in Rule::all() {
                    prop_assert_ne!(rule.compare(&a, &b, facts), Verdict::Wrong, "{}", rule);
                }
            }
            // The tolerance only adds, and so does giving up the order.
            if Rule::SPIDER_EX.compare(&a, &b, facts).is_right() {
                prop_assert_ne!(Rule::BAG_V1.compare(&a, &b, facts), Verdict::Wrong);
                prop_assert!(a.row_count() == 0 || Rule::SPIDER2.compare(&a, &b, facts).is_right());
                prop_assert!(Rule::SPIDER_EX.compare(&a, &b, FACTS[0]).is_right());
            }
        }
    }

    #[test]
    fn each_rule_lets_stand_in_any_order_what_it_says(
        (columns, rows, order) in table_with_orders()
    ) {
        let one = result(&columns);
        let by_rows =
            result(&columns.iter().map(|column| column.permute(&rows)).collect::<Vec<_>>());
        let by_columns = result(&order.iter().map(|at| columns[*at].clone()).collect::<Vec<_>>());
        let by_both =
            result(&order.iter().map(|at| columns[*at].permute(&rows)).collect::<Vec<_>>());
        for rule in [Rule::BAG_V1, Rule::SPIDER_EX, Rule::SPIDER2] {
            prop_assert!(rule.compare(&one, &by_both, FACTS[0]).is_right(), "{}", rule);
            prop_assert!(rule.compare(&one, &by_columns, FACTS[1]).is_right(), "{}", rule);
            prop_assert_eq!(rule.fingerprint(&one, FACTS[0]), rule.fingerprint(&by_both, FACTS[0]));
            prop_assert_eq!(
                rule.fingerprint(&one, FACTS[1]), rule.fingerprint(&by_columns, FACTS[1])
            );
        }
        prop_assert!(Rule::BIRD_EX.compare(&one, &by_rows, FACTS[1]).is_right());
    }

    /// On exact cells, equal digests mean equal results and the other way round; for `spider2`,
    /// equal both ways.
    #[test]
    fn fingerprints_agree_with_the_comparison((a, b) in two()) {
        let a = result(&a);
        let b = result(&b);
        for rule in Rule::all() {
            for facts in FACTS {
                if !is_informative(*rule, &a) {
                    prop_assert_eq!(rule.compare(&a, &b, facts), Verdict::Excluded);
                    continue;
                }
                let mut is_same = rule.compare(&a, &b, facts) != Verdict::Wrong;
                if *rule == Rule::SPIDER2 {
                    is_same &= rule.compare(&b, &a, facts).is_right();
                }
                let same_print = rule.fingerprint(&a, facts) == rule.fingerprint(&b, facts);
                prop_assert_eq!(is_same, same_print, "{} {:?}", rule, facts);
            }
        }
    }

    /// Noise far below the tolerance changes nothing where one is allowed, the digests included,
    /// and everything where none is.
    #[test]
    fn the_tolerance_is_the_rules_own(
        cells in proptest::collection::vec(1..1_000_u32, 1..8), at in 0..8_usize
    ) {
        let halves: Vec<f64> = cells.iter().map(|cell| f64::from(*cell) / 4.0).collect();
        let mut noisy = halves.clone();
        noisy[at % cells.len()] *= 1.0 + 1e-12;
        let exact = table(vec![Arc::new(Float64Array::from(halves.to_vec())) as ArrayRef]);
        let noisy = table(vec![Arc::new(Float64Array::from(noisy.to_vec())) as ArrayRef]);
        for rule in Rule::all() {
            let is_tolerant = [Rule::BAG_V1, Rule::SPIDER2].contains(rule);
            prop_assert_eq!(
                rule.compare(&exact, &noisy, FACTS[0]).is_right(), is_tolerant, "{}", rule
            );
            let same = rule.fingerprint(&exact, FACTS[0]) == rule.fingerprint(&noisy, FACTS[0]);
            prop_assert!(same == is_tolerant || *rule == Rule::SPIDER2, "{}", rule);
        }
    }
}

/// Columns with the same cells, which differ only in their rows.
#[test]
fn fingerprints_see_which_cells_share_a_row() {
    let straight = table(vec![ints(&[1, 2, 3]), texts(&["a", "b", "c"])]);
    let crossed = table(vec![ints(&[1, 2, 3]), texts(&["b", "a", "c"])]);
    for rule in [Rule::BAG_V1, Rule::SPIDER_EX, Rule::BIRD_EX, Rule::STRICT] {
        assert_ne!(
            rule.fingerprint(&straight, FACTS[0]),
            rule.fingerprint(&crossed, FACTS[0]),
            "{rule}"
        );
    }
}

/// As much as the caps let through, in another order of rows and columns, and with one cell
/// changed.
#[test]
fn great_results_are_compared() {
    const ROWS: i64 = 30_000;
    // Every second column holds the same cells as the one before, in another sequence.
    fn cell(row: i64, column: i64) -> i64 {
        ((row + (column % 2) * 7_919) % ROWS) * (column / 2 + 1)
    }
    let of = |columns: &[i64], rows: &dyn Fn(i64) -> i64, changed: i64| {
        let cells = |column: &i64| -> Vec<i64> {
            (0..ROWS)
                .map(|row| cell(rows(row), *column) + if row == 5 { changed } else { 0 })
                .collect()
        };
        table(columns.iter().map(|column| ints(&cells(column))).collect())
    };
    let forward: Vec<i64> = (0..20).collect();
    let backward: Vec<i64> = (0..20).rev().collect();
    let gold = of(&forward, &|row| row, 0);
    let turned = of(&backward, &|row| ROWS - 1 - row, 0);
    let changed = of(&forward, &|row| row, ROWS);
    for rule in [Rule::BAG_V1, Rule::SPIDER2] {
        assert!(rule.compare(&gold, &turned, FACTS[0]).is_right(), "{rule}");
    }
    for rule in [Rule::BIRD_EX, Rule::SPIDER_EX] {
        assert_eq!(rule.compare(&gold, &changed, FACTS[0]), Verdict::Wrong, "{rule}");
    }
    fn print(result: &ResultSet) -> String {
        Rule::BAG_V1.fingerprint(result, FACTS[0])
    }
    assert_eq!(print(&gold), print(&turned));
}
