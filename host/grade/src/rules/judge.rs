//! The verdicts of all rules for an answer.

use std::collections::BTreeMap;

use syrch_core::ResultSet;

use super::cells::{Pair, Sheet};
use super::{Facts, RULES, Rule, Verdict, cut};
use crate::run::Judged;

/// The verdict of every rule on a prediction, by name: the best over the expected results, each
/// with its own facts. Without a prediction, because there was no answer or its statement failed,
/// every verdict is wrong, or excluded where no expected result is informative. Empty without an
/// expected result.
///
/// Fingerprints are made with the facts of the first expected result.
#[must_use]
pub fn judge_all(
    golds: &[(ResultSet, Facts)],
    predicted: Option<&ResultSet>,
) -> BTreeMap<String, Judged> {
    let Some((_, facts)) = golds.first() else { return BTreeMap::new() };
    let verdicts = match predicted {
        Some(predicted) => judge_pairs(golds, predicted),
        None => {
            RULES.map(|rule| if can_tell(rule, golds) { Verdict::Wrong } else { Verdict::Excluded })
        }
    };
    let sheet = predicted.map(Sheet::new);
    let judged = RULES.iter().zip(verdicts).map(|(rule, verdict)| {
        let fingerprint = sheet.as_ref().map(|sheet| (rule.0.fingerprint)(sheet, *facts));
        (rule.name().to_owned(), Judged { verdict, fingerprint })
    });
    judged.collect()
}

fn can_tell(rule: Rule, golds: &[(ResultSet, Facts)]) -> bool {
    golds.iter().any(|(gold, _)| !rule.is_blank(gold) && !gold.is_truncated())
}

/// The verdict of each rule; the cells of each pair are read once for all of them.
fn judge_pairs(golds: &[(ResultSet, Facts)], predicted: &ResultSet) -> [Verdict; RULES.len()] {
    fn all_blank(golds: &[(ResultSet, Facts)], rule: Rule) -> bool {
        golds.iter().all(|(gold, _)| rule.is_blank(gold))
    }
    let mut best =
        RULES.map(|rule| if all_blank(golds, rule) { Verdict::Excluded } else { Verdict::Wrong });
    for (gold, facts) in golds {
        if let Some(verdict) = cut(gold, predicted) {
            best = best.map(|best| best.or(verdict));
            continue;
        }
        let pair = Pair::new(gold, predicted);
        for (best, rule) in best.iter_mut().zip(&RULES) {
            if !best.is_right() && !rule.is_blank(gold) {
                *best = best.or((rule.0.compare)(&pair, *facts));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::sample::{cut, empty, ints, table, texts};
    use super::*;

    #[test]
    fn all_rules_judge_at_once_as_they_do_alone() {
        let facts =
            [Facts::default(), Facts { ordered: true, gold_has_order_by: true, unnamed: false }];
        let results = [
            table(vec![ints(&[1, 2, 2]), texts(&["a", "b", "c"])]),
            table(vec![texts(&["b", "a", "c"]), ints(&[2, 1, 2])]),
            table(vec![ints(&[1, 2])]),
            empty(&["a"]),
            cut(vec![ints(&[1, 2])]),
        ];
        for predicted in &results {
            for facts in facts {
                for golds in [&[0, 1, 3][..], &[3], &[3, 3], &[3, 2], &[4], &[3, 4], &[4, 2]] {
                    let golds: Vec<_> =
                        golds.iter().map(|at| (results[*at].clone(), facts)).collect();
                    let judged = judge_all(&golds, Some(predicted));
                    assert_eq!(judged.len(), Rule::all().len());
                    for rule in Rule::all() {
                        let alone =
                            rule.any(golds.iter().map(|(gold, facts)| (gold, *facts)), predicted);
                        let judged = &judged[rule.name()];
                        assert_eq!(judged.verdict, alone, "{rule}");
                        assert_eq!(
                            judged.fingerprint.as_deref(),
                            Some(rule.fingerprint(predicted, facts).as_str())
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn no_answer_is_wrong_and_no_gold_says_nothing() {
        let gold = [(table(vec![ints(&[1])]), Facts::default())];
        let judged = judge_all(&gold, None);
        assert_eq!(judged.len(), 5);
        assert!(
            judged
                .values()
                .all(|judged| judged.verdict == Verdict::Wrong && judged.fingerprint.is_none())
        );
        assert!(judge_all(&[], Some(&gold[0].0)).is_empty());
    }

    /// The number of questions that count does not depend on the model that answers.
    #[test]
    fn what_is_expected_alone_decides_whether_a_question_counts() {
        let facts = Facts::default();
        let blank = (empty(&["a"]), facts);
        let rows = (table(vec![ints(&[1])]), facts);
        let answers =
            [None, Some(empty(&["b"])), Some(rows.0.clone()), Some(cut(vec![ints(&[1])]))];
        for answer in &answers {
            let verdict_of =
                |golds: &[(ResultSet, Facts)]| judge_all(golds, answer.as_ref())["bag-v1"].verdict;
            assert_eq!(verdict_of(std::slice::from_ref(&blank)), Verdict::Excluded);
            assert_ne!(verdict_of(&[blank.clone(), rows.clone()]), Verdict::Excluded);
            let strict = judge_all(std::slice::from_ref(&blank), answer.as_ref())["strict"].verdict;
            assert_eq!(strict, Verdict::Wrong);
        }
    }
}
