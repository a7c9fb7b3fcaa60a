//! `strict`: the same rows in the same sequence, the same columns in the same places and under the
//! same names (letter case aside, as engines have it), numbers exact. Results without rows are the
//! same when their columns are. Names are not compared where the expected rows have none of their
//! own.

use super::cells::Pair;
use super::fingerprint;
use super::{Facts, RuleDef, Verdict};

pub(super) const STRICT: RuleDef = RuleDef {
    name: "strict",
    summary: "rows in sequence, columns by position and name, numbers exact",
    empty_is_informative: true,
    counts_columns: true,
    compare,
    fingerprint: |sheet, _| fingerprint::digest_sequence(sheet),
};

fn compare(pair: &Pair<'_>, facts: Facts) -> Verdict {
    let gold = pair.results.0.schema().fields();
    let predicted = pair.results.1.schema().fields();
    let same_names = || {
        gold.len() == predicted.len()
            && gold
                .iter()
                .zip(predicted)
                .all(|(a, b)| a.name().to_lowercase() == b.name().to_lowercase())
    };
    Verdict::right_if(
        (facts.unnamed || same_names()) && pair.gold.columns == pair.predicted.columns,
    )
}

#[cfg(test)]
mod tests {
    use syrch_core::ResultSet;

    use super::super::sample::{empty, ints, result_with_names, table};
    use super::super::{Facts, Rule, Verdict};

    #[test]
    fn everything_counts() {
        fn verdict_of(a: &ResultSet, b: &ResultSet) -> Verdict {
            Rule::STRICT.compare(a, b, Facts::default())
        }
        let gold = result_with_names(&["a", "b"], vec![ints(&[1, 2]), ints(&[3, 4])]);
        assert_eq!(
            verdict_of(&gold, &result_with_names(&["A", "b"], vec![ints(&[1, 2]), ints(&[3, 4])])),
            Verdict::Right
        );
        assert_eq!(
            verdict_of(&gold, &result_with_names(&["a", "c"], vec![ints(&[1, 2]), ints(&[3, 4])])),
            Verdict::Wrong
        );
        assert_eq!(
            verdict_of(&gold, &result_with_names(&["b", "a"], vec![ints(&[3, 4]), ints(&[1, 2])])),
            Verdict::Wrong
        );
        assert_eq!(
            verdict_of(&gold, &result_with_names(&["a", "b"], vec![ints(&[2, 1]), ints(&[4, 3])])),
            Verdict::Wrong
        );
        let unnamed = Facts { unnamed: true, ..Facts::default() };
        let others = result_with_names(&["x", "y"], vec![ints(&[1, 2]), ints(&[3, 4])]);
        assert_eq!(Rule::STRICT.compare(&gold, &others, unnamed), Verdict::Right);
        assert_eq!(
            Rule::STRICT.compare(&gold, &result_with_names(&["x"], vec![ints(&[1, 2])]), unnamed),
            Verdict::Wrong
        );
        assert_eq!(verdict_of(&empty(&["a"]), &empty(&["a"])), Verdict::Right);
        assert_eq!(verdict_of(&empty(&["a"]), &empty(&["b"])), Verdict::Wrong);
        assert_eq!(verdict_of(&empty(&["c"]), &table(vec![ints(&[1])])), Verdict::Wrong);
    }
}
