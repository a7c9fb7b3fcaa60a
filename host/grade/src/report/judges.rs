//! Judges against the truth: how often they said yes to right and to wrong statements.

use serde::{Deserialize, Serialize};

use crate::Verdict;
use crate::run::{Graded, Judgement};
use crate::stats::{Interval, wilson};

/// A comparison of a judge's opinions with the verdicts of a rule, over the statements that it
/// judged and that count under the rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeReport {
    /// The name of the judge: `reward` for the reward plugin, `model` for model calls that judge
    /// statements or choose among them.
    pub judge: String,
    /// Right statements to which it said yes.
    pub yes_right: u64,
    /// Wrong statements to which it said yes.
    pub yes_wrong: u64,
    /// Right statements to which it said no.
    pub no_right: u64,
    /// Wrong statements to which it said no.
    pub no_wrong: u64,
    /// The share of the wrong statements that it let pass.
    pub passed: Rate,
    /// The share of the right statements that it refused.
    pub refused: Rate,
}

/// A share with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// The share, 0 to 1; `None` of nothing.
    pub share: Option<f64>,
    /// Its 95 % interval after Wilson, 0 to 1; from 0 to 1 of nothing.
    pub interval: Interval,
}

impl Rate {
    fn new(count: u64, all: u64) -> Self {
        Self { share: (all > 0).then(|| count as f64 / all as f64), interval: wilson(count, all) }
    }
}

/// The judges that judged any of the statements.
pub(crate) fn judges(graded: &[&Graded], rule: &str) -> Vec<JudgeReport> {
    let reward = report_judge("reward", graded, rule, |judgement| judgement.reward);
    let model = report_judge("model", graded, rule, |judgement| judgement.model);
    reward.into_iter().chain(model).collect()
}

fn report_judge(
    judge: &str,
    graded: &[&Graded],
    rule: &str,
    word: impl Fn(&Judgement) -> Option<bool>,
) -> Option<JudgeReport> {
    let mut yes_right = 0;
    let mut yes_wrong = 0;
    let mut no_right = 0;
    let mut no_wrong = 0;
    for judgement in graded.iter().flat_map(|one| &one.judgements) {
        match (word(judgement), judgement.verdicts.get(rule)) {
            (Some(true), Some(Verdict::Right)) => yes_right += 1,
            (Some(true), Some(Verdict::Wrong)) => yes_wrong += 1,
            (Some(false), Some(Verdict::Right)) => no_right += 1,
            (Some(false), Some(Verdict::Wrong)) => no_wrong += 1,
            _ => {}
        }
    }
    (yes_right + yes_wrong + no_right + no_wrong > 0).then(|| JudgeReport {
        judge: judge.to_owned(),
        yes_right,
        yes_wrong,
        no_right,
        no_wrong,
        passed: Rate::new(yes_wrong, yes_wrong + no_wrong),
        refused: Rate::new(no_right, yes_right + no_right),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::tests::made::{self, SKILLS};
    use super::*;

    fn judgement(reward: Option<bool>, model: Option<bool>, verdict: Verdict) -> Judgement {
        Judgement {
            sql: "SELECT 1".into(),
            reward,
            model,
            verdicts: BTreeMap::from([("bag-v1".to_owned(), verdict)]),
        }
    }

    #[test]
    fn words_are_counted_against_the_truth() {
        let (_, mut graded) = made::run(&SKILLS, 2);
        graded[0].judgements = vec![
            judgement(Some(true), Some(false), Verdict::Right),
            judgement(Some(true), None, Verdict::Wrong),
            judgement(Some(false), Some(true), Verdict::Wrong),
            judgement(Some(false), None, Verdict::Excluded),
        ];
        graded[1].judgements = vec![judgement(Some(true), None, Verdict::Right)];
        let all: Vec<&Graded> = graded.iter().take(2).collect();
        let found = judges(&all, "bag-v1");
        fn counts(report: &JudgeReport) -> (u64, u64, u64, u64) {
            (report.yes_right, report.yes_wrong, report.no_right, report.no_wrong)
        }
        assert_eq!((found[0].judge.as_str(), counts(&found[0])), ("reward", (2, 1, 0, 1)));
        assert_eq!((found[0].passed.share, found[0].refused.share), (Some(0.5), Some(0.0)));
        assert_eq!(found[0].passed.interval, wilson(1, 2));
        assert_eq!((found[1].judge.as_str(), counts(&found[1])), ("model", (0, 1, 1, 0)));
        assert_eq!(judges(&all, "strict"), []);
    }
}
