//! `bird-ex`: execution accuracy as BIRD counts it (Li et al. 2023; `evaluation.py`, in its
//! mini-dev `evaluation_ex.py`): the rows as a set, the columns by position, cells equal as Python
//! compares them. Sets without rows are equal, however many columns the statements name.

use super::cells::{Grid, Pair};
use super::fingerprint::{self, Rounding};
use super::{Facts, RuleDef, Verdict};

pub(super) const BIRD_EX: RuleDef = RuleDef {
    name: "bird-ex",
    summary: "rows as a set, columns by position, order ignored, numbers exact",
    empty_is_informative: true,
    counts_columns: true,
    compare,
    fingerprint: |sheet, _| fingerprint::digest_set(sheet, Rounding::None),
};

fn compare(pair: &Pair<'_>, _: Facts) -> Verdict {
    Verdict::right_if(different_rows(&pair.gold) == different_rows(&pair.predicted))
}

fn different_rows(grid: &Grid) -> Vec<Vec<u32>> {
    let mut rows: Vec<Vec<u32>> = grid.rows().collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use super::super::sample::{empty, ints, table, texts};
    use super::super::{Facts, Rule, Verdict};

    fn verdict_of(gold: &syrch_core::ResultSet, predicted: &syrch_core::ResultSet) -> Verdict {
        Rule::BIRD_EX.compare(
            gold,
            predicted,
            Facts { ordered: true, gold_has_order_by: true, ..Facts::default() },
        )
    }

    #[test]
    fn rows_are_a_set_and_columns_have_their_places() {
        let gold = table(vec![ints(&[1, 2, 2]), ints(&[7, 8, 8])]);
        assert_eq!(verdict_of(&gold, &table(vec![ints(&[2, 1]), ints(&[8, 7])])), Verdict::Right);
        assert_eq!(verdict_of(&gold, &table(vec![ints(&[7, 8]), ints(&[1, 2])])), Verdict::Wrong);
        assert_eq!(verdict_of(&gold, &table(vec![ints(&[1, 2])])), Verdict::Wrong);
    }

    #[test]
    fn numbers_are_exact_and_are_no_texts() {
        fn third(value: f64) -> syrch_core::ResultSet {
            table(vec![std::sync::Arc::new(arrow_array::Float64Array::from(vec![value]))])
        }
        assert_eq!(verdict_of(&third(1.0), &table(vec![ints(&[1])])), Verdict::Right);
        assert_eq!(verdict_of(&third(0.333_333_3), &third(0.333_333_4)), Verdict::Wrong);
        assert_eq!(
            verdict_of(&table(vec![texts(&["1"])]), &table(vec![ints(&[1])])),
            Verdict::Wrong
        );
    }

    #[test]
    fn nothing_against_nothing_is_right() {
        assert_eq!(verdict_of(&empty(&["a"]), &empty(&["a", "b"])), Verdict::Right);
        assert_eq!(verdict_of(&empty(&["a"]), &table(vec![ints(&[1])])), Verdict::Wrong);
    }
}
