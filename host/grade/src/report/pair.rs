//! Two arms on the same questions: the paired difference, and the tests of it.

use serde::{Deserialize, Serialize};

use super::bands::Band;
use super::pairing::{
    Both, Clusters, CostOfOneMoreRight, Drawn, EProcess, FEW_DATABASES, Tally, clusters, counting,
    e_process, interval, is_right, meet, one_more,
};
use super::{figures, slices};
use crate::run::Graded;
use crate::stats::{self, Interval};

/// Resamples for the interval of a slice: it is shown, nothing is decided by it.
const SMALL: u32 = 2_000;
/// A comparison of the second arm with the first, over the questions that count for both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairReport {
    /// The name of the first arm.
    pub first: String,
    /// The name of the second arm, which is compared with the first.
    pub second: String,
    /// Questions that count for both.
    pub questions: u64,
    /// Questions that both answer right.
    pub both_right: u64,
    /// Questions that neither does.
    pub both_wrong: u64,
    /// Questions that only the first answers right: `b` of McNemar's test.
    pub b: u64,
    /// Questions that only the second answers right: its `c`.
    pub c: u64,
    /// The part of the questions that only one answers right, 0 to 1; `None` if there are no
    /// questions.
    pub discordance: Option<f64>,
    /// The second's share of right answers minus the first's, −1 to 1; `None` if there are no
    /// questions.
    pub difference: Option<f64>,
    /// Its 95 % interval, by bootstrap over `clusters`; `None` if there are fewer than two of them.
    pub interval: Option<Interval>,
    /// The difference over several seeds. `None` if there is one seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// The clusters that the bootstrap draws.
    pub clusters: Clusters,
    /// The exact two-sided p of McNemar's test.
    pub mcnemar: f64,
    /// The same after Holm's adjustment over all pairs of the report.
    pub holm: f64,
    /// The least difference, 0 to 1, that so many questions with so much discordance find with 80 %
    /// power (two-sided 5 %); `None` if no difference would be found, or nothing differs.
    pub minimum_detectable: Option<f64>,
    /// The test that may be evaluated after every question.
    pub e_process: EProcess,
    /// The decision by the tests.
    pub decision: Decision,
    /// The decision with its figures, as a sentence without a capital and a full stop.
    pub verdict: String,
    /// The cost of one more right answer with the second; `None` if it has no more of them.
    pub cost_of_one_more_right: Option<CostOfOneMoreRight>,
    /// The difference under every rule.
    pub rules: Vec<RuleDifference>,
    /// The difference by every field with at most 20 values.
    pub slices: Vec<SliceDifference>,
    /// The questions that only one answers right.
    pub flipped: Vec<Flipped>,
}

/// The decision whether the second arm is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The second is better, beyond chance.
    Better,
    /// The second is worse, beyond chance.
    Worse,
    /// The test and the interval do not agree.
    Unsure,
    /// No difference was found.
    None,
}

/// The difference under one rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleDifference {
    /// The name of the rule.
    pub rule: String,
    /// Questions that count for both.
    pub questions: u64,
    /// Questions that only the first answers right.
    pub b: u64,
    /// Questions that only the second answers right.
    pub c: u64,
    /// The second's share minus the first's.
    pub difference: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The exact two-sided p of McNemar's test.
    pub mcnemar: f64,
}

/// The difference on the questions with one value of one field. There are many slices, so one that
/// stands out is a hint and no finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SliceDifference {
    /// The name of the suite's field.
    pub field: String,
    /// Its value; `None` for the questions that do not have it.
    pub value: Option<String>,
    /// Questions that count for both.
    pub questions: u64,
    /// Questions that only the first answers right.
    pub b: u64,
    /// Questions that only the second answers right.
    pub c: u64,
    /// The second's share minus the first's.
    pub difference: Option<f64>,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The unit that its bootstrap draws: databases where the slice has five or more, else
    /// questions.
    pub drawn: Drawn,
}

/// A question that only one arm answers right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flipped {
    /// The id of the question.
    pub id: String,
    /// The name of its database.
    pub db: String,
    /// The text of the question.
    pub question: String,
    /// The arm that is right.
    pub right: RightOne,
    /// The statement of the first arm. `None` if it has none.
    pub first_sql: Option<String>,
    /// The statement of the second arm. `None` if it has none.
    pub second_sql: Option<String>,
    /// The expected statement. `None` if rows or a text are expected.
    pub gold_sql: Option<String>,
}

/// The arm that answers a question right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RightOne {
    /// Only the first arm is right.
    First,
    /// Only the second arm is right.
    Second,
}

/// The settings of the bootstrap, and whether the e-process decides.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawing {
    pub(crate) seed: u64,
    pub(crate) resamples: u32,
    pub(crate) stop_early: bool,
}

impl PairReport {
    /// Compares two arms, whose answers are in the suite's order; Holm's adjustment, the decision
    /// and the sentence come with all pairs.
    pub(crate) fn new(
        first: &[&Graded],
        second: &[&Graded],
        names: (&str, &str),
        rule: &str,
        drawing: Drawing,
    ) -> Self {
        let met = meet(first, second);
        let both = counting(&met, rule);
        let tally = Tally::from_pairs(&both, rule);
        let questions = both.len() as u64;
        let discordance = (questions > 0).then(|| (tally.b + tally.c) as f64 / questions as f64);
        let mcnemar = stats::mcnemar(tally.b, tally.c);
        Self {
            first: names.0.to_owned(),
            second: names.1.to_owned(),
            questions,
            both_right: tally.both_right,
            both_wrong: questions - tally.both_right - tally.b - tally.c,
            b: tally.b,
            c: tally.c,
            discordance,
            difference: tally.difference(questions),
            interval: interval(&both, rule, clusters(&both).of, drawing.seed, drawing.resamples),
            band: None,
            clusters: clusters(&both),
            mcnemar,
            holm: mcnemar,
            minimum_detectable: discordance
                .and_then(|discordance| stats::minimum_detectable(questions, discordance)),
            e_process: e_process(&both, rule, drawing.stop_early),
            decision: Decision::None,
            verdict: String::new(),
            cost_of_one_more_right: one_more(&both, &tally),
            rules: by_rule(&met, drawing),
            slices: by_slice(&both, rule, drawing.seed),
            flipped: find_flips(&both, rule),
        }
    }

    pub(crate) fn without_times(&mut self) {
        if let Some(cost) = &mut self.cost_of_one_more_right {
            (cost.calls, cost.usd) = (None, None);
        }
    }
}

fn by_rule(met: &[Both], drawing: Drawing) -> Vec<RuleDifference> {
    let all: Vec<&Graded> = met.iter().flat_map(|(first, second)| [*first, *second]).collect();
    figures::rules(&all).into_iter().map(|rule| RuleDifference::new(met, rule, drawing)).collect()
}

impl RuleDifference {
    fn new(met: &[Both], rule: &str, drawing: Drawing) -> Self {
        let both = counting(met, rule);
        let tally = Tally::from_pairs(&both, rule);
        let questions = both.len() as u64;
        Self {
            rule: rule.to_owned(),
            questions,
            b: tally.b,
            c: tally.c,
            difference: tally.difference(questions),
            interval: interval(&both, rule, clusters(&both).of, drawing.seed, drawing.resamples),
            mcnemar: stats::mcnemar(tally.b, tally.c),
        }
    }
}

fn by_slice(both: &[Both], rule: &str, seed: u64) -> Vec<SliceDifference> {
    let first: Vec<&Graded> = both.iter().map(|(first, _)| *first).collect();
    let mut all = Vec::new();
    for (field, values) in slices::fields(&first) {
        for (value, places) in values {
            let part: Vec<Both> =
                places.iter().filter_map(|place| both.get(*place)).copied().collect();
            let tally = Tally::from_pairs(&part, rule);
            let questions = part.len() as u64;
            let of_part = clusters(&part);
            let drawn = if of_part.count < FEW_DATABASES { Drawn::Questions } else { of_part.of };
            all.push(SliceDifference {
                field: field.clone(),
                value,
                questions,
                b: tally.b,
                c: tally.c,
                difference: tally.difference(questions),
                interval: interval(&part, rule, drawn, seed, SMALL),
                drawn,
            });
        }
    }
    all
}

fn find_flips(both: &[Both], rule: &str) -> Vec<Flipped> {
    both.iter()
        .filter_map(|(first, second)| {
            let right = match (is_right(first, rule), is_right(second, rule)) {
                (true, false) => RightOne::First,
                (false, true) => RightOne::Second,
                _ => return None,
            };
            Some(Flipped {
                id: first.id.clone(),
                db: first.db.clone(),
                question: first.question.clone(),
                right,
                first_sql: first.sql.clone(),
                second_sql: second.sql.clone(),
                gold_sql: first.gold_sql.clone().or_else(|| second.gold_sql.clone()),
            })
        })
        .collect()
}
