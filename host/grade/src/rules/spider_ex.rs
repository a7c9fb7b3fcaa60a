//! `spider-ex`: execution accuracy as Spider's test suites count it (Zhong, Yu, Klein 2020;
//! `result_eq` in the `exec_eval.py` of test-suite-sql-eval): rows as a multiset, columns in any
//! order, cells equal as Python compares them; the rows in their sequence when the expected
//! statement says ORDER BY anywhere. Two results without rows are equal.
//!
//! The original throws pairs out early by the spelling of their cells, and so calls a few results
//! of several columns wrong in which 1 stands for 1.0; here they are right.

use super::cells::Pair;
use super::fingerprint::{self, Rounding};
use super::matching::{Same, columns_match};
use super::{Facts, RuleDef, Verdict};

pub(super) const SPIDER_EX: RuleDef = RuleDef {
    name: "spider-ex",
    summary: "rows as a multiset, columns in any order, row order when the gold has \
              ORDER BY, numbers exact",
    empty_is_informative: true,
    counts_columns: true,
    compare,
    fingerprint: |sheet, facts| {
        fingerprint::digest_bag(sheet, Rounding::None, facts.gold_has_order_by)
    },
};

fn compare(pair: &Pair<'_>, facts: Facts) -> Verdict {
    let same = Same { pool: &pair.pool, tolerance: 0.0 };
    Verdict::right_if(pair.both_empty() || columns_match(pair, facts.gold_has_order_by, &same))
}

#[cfg(test)]
mod tests {
    use syrch_core::ResultSet;

    use super::super::sample::{empty, ints, table};
    use super::super::{Facts, Rule, Verdict};

    #[test]
    fn the_order_of_rows_counts_when_the_gold_has_one() {
        let gold = table(vec![ints(&[1, 2]), ints(&[3, 4])]);
        let turned = table(vec![ints(&[4, 3]), ints(&[2, 1])]);
        let verdict_of = |gold_has_order_by: bool| {
            // What the question asks for is not asked.
            let facts = Facts { ordered: !gold_has_order_by, gold_has_order_by, unnamed: false };
            Rule::SPIDER_EX.compare(&gold, &turned, facts)
        };
        assert_eq!((verdict_of(false), verdict_of(true)), (Verdict::Right, Verdict::Wrong));
        let columns = table(vec![ints(&[3, 4]), ints(&[1, 2])]);
        let facts = Facts { gold_has_order_by: true, ..Facts::default() };
        assert_eq!(Rule::SPIDER_EX.compare(&gold, &columns, facts), Verdict::Right);
    }

    #[test]
    fn duplicates_count_and_nothing_against_nothing_is_right() {
        fn verdict_of(a: &ResultSet, b: &ResultSet) -> Verdict {
            Rule::SPIDER_EX.compare(a, b, Facts::default())
        }
        assert_eq!(
            verdict_of(&table(vec![ints(&[1, 1, 2])]), &table(vec![ints(&[1, 2, 2])])),
            Verdict::Wrong
        );
        assert_eq!(verdict_of(&empty(&["a"]), &empty(&["b", "c"])), Verdict::Right);
    }
}
