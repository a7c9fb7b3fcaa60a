//! The difficulty of a question: the share of samples that are right. It is the same for all
//! samples of a question, whatever the seed; therefore more samples help less than independent ones
//! would.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Distinct, Expr, GroupByExpr, Query, Select, SetExpr, Statement, Visit, Visitor,
};
use statrs::distribution::{Beta, ContinuousCDF, Normal};

use super::chance::Chance;

/// The shares of right samples over questions, as a beta distribution. Over 919 of Spider's
/// questions and 16 recorded systems it is Beta(0.84, 0.22); over the 522 of them whose databases
/// are at hand, which are easier, the greatest likelihood is at these (a mean of 0.82). With a
/// skill of −0.25 the figures are those of the 919.
pub(super) const SHAPE: (f64, f64) = (1.00, 0.22);
/// The weight of the features of the expected statement in the difficulty: the rank correlation of
/// the features' sum with the systems' share of right answers is 0.47, with one database left out
/// at a time.
const FOLLOWS: f64 = 0.49;
/// The mean and the standard deviation of the features' sum over the 522 questions.
const SUM: (f64, f64) = (2.228, 0.752);

/// The log-odds that a sample of the question is right, for the recorded systems. `features` is the
/// sum of [`features`]; `None` if the statement cannot be parsed; the difficulty is random then.
pub(super) fn ease(question: &Chance, features: Option<f64>) -> f64 {
    let luck = question.normal("difficulty");
    let seen = features.map(|sum| ((sum - SUM.0) / SUM.1).clamp(-3.0, 3.0));
    // A Gaussian copula: the distribution stays what it is, and its ranks follow the features.
    let rank = seen.map_or(luck, |seen| FOLLOWS * seen + (1.0 - FOLLOWS * FOLLOWS).sqrt() * luck);
    let place = Normal::standard().cdf(rank).clamp(1e-9, 1.0 - 1e-9);
    let share = Beta::new(SHAPE.0, SHAPE.1).map_or(mean(), |beta| beta.inverse_cdf(place));
    logit(share.clamp(1e-9, 1.0 - 1e-9))
}

/// The share of right samples over all questions.
pub(super) fn mean() -> f64 {
    SHAPE.0 / (SHAPE.0 + SHAPE.1)
}

/// The log-odds of a share.
pub(super) fn logit(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

/// The share of log-odds.
pub(super) fn sigmoid(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// The log-odds of being right by the features of a statement, with the coefficients of a logistic
/// regression over 919 questions, one database left out at a time.
pub(super) fn features(statement: &Statement, question: &str) -> f64 {
    let mut count = Count::default();
    let _ = statement.visit(&mut count);
    let words = question.split_whitespace().count() as f64 / 10.0;
    3.56 - 0.55 * count.joins
        - 1.11 * count.subqueries()
        - 0.50 * count.groups
        - 0.43 * count.orders
        - 0.25 * count.predicates
        - 1.03 * count.distinct
        - 0.32 * words
        - 0.10 * count.columns
        + 0.24 * count.set_operations
}

/// The number of each feature in a statement.
#[derive(Default)]
struct Count {
    joins: f64,
    queries: f64,
    groups: f64,
    orders: f64,
    predicates: f64,
    distinct: f64,
    columns: f64,
    set_operations: f64,
}

impl Count {
    /// The number of queries besides the outermost.
    fn subqueries(&self) -> f64 {
        (self.queries - 1.0).max(0.0)
    }
}

fn set_operations(body: &SetExpr) -> f64 {
    match body {
        SetExpr::SetOperation { left, right, .. } => {
            1.0 + set_operations(left) + set_operations(right)
        }
        _ => 0.0,
    }
}

impl Visitor for Count {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.queries += 1.0;
        self.orders += f64::from(query.order_by.is_some());
        self.set_operations += set_operations(&query.body);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let joins: usize =
            select.from.iter().map(|from| from.joins.len()).sum::<usize>() + select.from.len();
        self.joins += joins.saturating_sub(1) as f64;
        let grouped = match &select.group_by {
            GroupByExpr::All(_) => true,
            GroupByExpr::Expressions(by, _) => !by.is_empty(),
        };
        self.groups += f64::from(grouped);
        self.distinct += f64::from(matches!(select.distinct, Some(Distinct::Distinct)));
        self.columns = self.columns.max(select.projection.len() as f64);
        self.predicates += select.selection.as_ref().map_or(0.0, predicates);
        self.predicates += select.having.as_ref().map_or(0.0, predicates);
        ControlFlow::Continue(())
    }
}

/// The conditions of a chain of AND and OR.
fn predicates(condition: &Expr) -> f64 {
    use sqlparser::ast::BinaryOperator::{And, Or};
    match condition {
        Expr::BinaryOp { left, op: And | Or, right } => predicates(left) + predicates(right),
        Expr::Nested(inner) => predicates(inner),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::mutants::parse;
    use super::*;

    fn sum(sql: &str) -> f64 {
        features(
            &parse(sql, &syrch_core::Dialect::Sqlite).unwrap(),
            "one two three four five six seven eight nine ten",
        )
    }

    #[test]
    fn features_are_weighed_as_measured() {
        let plain = 3.56 - 0.32 - 0.10;
        for (sql, more) in [
            ("SELECT a FROM t", 0.0),
            ("SELECT a, b FROM t", -0.10),
            ("SELECT DISTINCT a FROM t ORDER BY b", -1.03 - 0.43),
            ("SELECT a FROM t JOIN u ON t.x = u.x WHERE b = 1 AND (c = 2 OR d = 3)", -0.55 - 0.75),
            ("SELECT a FROM t GROUP BY a HAVING count(*) > 1", -0.50 - 0.25),
            ("SELECT a FROM t WHERE x IN (SELECT x FROM u)", -1.11 - 0.25),
            ("SELECT a FROM t UNION SELECT a FROM u", 0.24),
        ] {
            assert!((sum(sql) - plain - more).abs() < 1e-9, "{sql}: {}", sum(sql) - plain);
        }
    }

    #[test]
    fn shares_are_spread_as_measured_and_harder_statements_are_rarer_right() {
        fn question(n: u32) -> Chance {
            Chance::from_parts([n.to_le_bytes().as_slice()])
        }
        let shares = |features: Option<f64>| -> Vec<f64> {
            (0..4_000).map(|n| sigmoid(ease(&question(n), features))).collect()
        };
        fn mean_of(shares: &[f64]) -> f64 {
            shares.iter().sum::<f64>() / shares.len() as f64
        }
        let luck = shares(None);
        assert!((mean_of(&luck) - mean()).abs() < 0.01, "{}", mean_of(&luck));
        let never = luck.iter().filter(|share| **share < 0.05).count() as f64 / 4_000.0;
        let expected = Beta::new(SHAPE.0, SHAPE.1).unwrap().cdf(0.05);
        assert!((never - expected).abs() < 0.01, "{never} {expected}");
        let hard = mean_of(&shares(Some(SUM.0 - SUM.1)));
        let easy = mean_of(&shares(Some(SUM.0 + SUM.1)));
        assert!(hard + 0.1 < easy, "{hard} {easy}");
    }

    /// Measures [`SUM`], and that the questions of the suite are as hard as they were for the
    /// recorded systems.
    #[test]
    fn the_questions_at_hand_have_the_measured_features_and_difficulties() {
        let Some(data) = syrch_kit::data_root() else { return };
        let text = std::fs::read_to_string(data.join("spider/questions.jsonl")).unwrap();
        let mut sums = Vec::new();
        let mut shares = Vec::new();
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            let field = |name: &str| value[name].as_str().unwrap();
            let sum = features(
                &parse(field("gold_sql"), &syrch_core::Dialect::Sqlite).unwrap(),
                field("question"),
            );
            let key = format!("{}/{}/{}", field("db"), field("id"), field("question").trim());
            shares.push(sigmoid(ease(&Chance::from_parts([key.as_bytes()]), Some(sum))));
            sums.push(sum);
        }
        fn mean_of(all: &[f64]) -> f64 {
            all.iter().sum::<f64>() / all.len() as f64
        }
        let mean = mean_of(&sums);
        let deviation =
            mean_of(&sums.iter().map(|sum| (sum - mean).powi(2)).collect::<Vec<_>>()).sqrt();
        println!(
            "features {mean:.3} with a deviation of {deviation:.3}; {:.4} right",
            mean_of(&shares)
        );
        assert!((mean - SUM.0).abs() < 0.01 && (deviation - SUM.1).abs() < 0.01);
        // One of the recorded answers to each is right for 0.828 of them.
        assert!((mean_of(&shares) - 0.828).abs() < 0.015);
    }

    #[test]
    fn log_odds_and_shares_are_two_words_for_one_thing() {
        for share in [0.01, 0.5, 0.82] {
            assert!((sigmoid(logit(share)) - share).abs() < 1e-12);
        }
    }
}
