//! Cross-validation: checks whether a curve holds where it was not fitted, on other databases.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CalibrateError, Curve, Method, Point};
use crate::stats::{auroc, brier, expected_calibration_error, log_loss, reliability};

/// Answers that a fit takes at least.
pub const LEAST_ANSWERS: usize = 20;
/// Answers that [`Method::Isotonic`] takes at least: its corners follow every chance of fewer ones.
/// A. Niculescu-Mizil and R. Caruana, "Predicting good probabilities with supervised learning",
/// ICML 2005, found it behind the logistic curve below some hundreds of them.
pub const LEAST_ISOTONIC: usize = 100;
/// Parts at most; each is held out once.
const FOLDS: usize = 10;
/// Bins of the calibration error.
const BINS: u32 = 10;

/// The quality of each method on answers that it was not fitted on.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The parts that were held out, one after the other.
    pub folds: usize,
    /// True if a part is whole databases; with one database alone it is every nth of its answers.
    pub by_database: bool,
    /// Answers and right ones of each database.
    pub databases: BTreeMap<String, Shares>,
    /// The ways, in the order of [`Method::ALL`]; the first is what was printed in the run.
    pub measured: Vec<Measured>,
    /// The one with the lowest Brier score of those that nothing speaks [`Against`];
    /// [`Method::None`] unless another is better.
    pub chosen: Method,
}

/// Answers and how many are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Shares {
    /// The number of answers.
    pub answers: u64,
    /// The number of right answers among them.
    pub right: u64,
}

/// The reason why a way is not chosen, whatever its Brier score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// It takes more answers: [`LEAST_ISOTONIC`].
    TooFew,
    /// Its Brier score is worse than that of what was printed, by more than noise.
    Brier,
    /// Its log loss is.
    LogLoss,
}

impl Against {
    /// The reason in a few words, as tables show it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TooFew => "too few answers",
            Self::Brier => "worse Brier score",
            Self::LogLoss => "worse log loss",
        }
    }
}

/// The quality of one method.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The method that was tried.
    pub method: Method,
    /// The confidence that would be printed for each answer, in the order of the points, by a curve
    /// that was fitted without its part.
    pub held_out: Vec<f64>,
    /// Brier score of these.
    pub brier: f64,
    /// The log loss of the held-out confidences.
    pub log_loss: f64,
    /// Expected calibration error over ten bins.
    pub calibration_error: f64,
    /// Area under the ROC curve.
    pub auroc: f64,
    /// The reason why it is not chosen.
    pub against: Option<Against>,
}

/// Tries each method on held-out answers: one database at a time is left out of the fit, or groups
/// of databases of about the same size when there are more than ten; with one database alone, every
/// tenth answer.
///
/// M. Stone, "Cross-validatory choice and assessment of statistical predictions", Journal of the
/// Royal Statistical Society B 36 (1974), 111–147. The parts are databases because answers on one
/// database are alike: a curve that saw some of them does too well on the others.
///
/// # Errors
/// With fewer than [`LEAST_ANSWERS`] answers, or when all of them are right or all wrong.
pub fn cross_validate(points: &[Point]) -> Result<Report, CalibrateError> {
    let answers = points.len();
    let right = points.iter().filter(|point| point.right).count();
    if answers < LEAST_ANSWERS {
        return Err(CalibrateError::TooFew { answers });
    }
    if right == 0 || right == answers {
        return Err(CalibrateError::OneSided { answers, right: right > 0 });
    }
    let databases = shares(points);
    let fold = folds(points, &databases);
    let mut measured: Vec<Measured> =
        Method::ALL.into_iter().map(|method| measure(method, points, &fold)).collect();
    let printed: Vec<f64> = points.iter().map(|point| point.printed).collect();
    for way in &mut measured {
        way.against = against(way, &printed, points);
    }
    let eligible = measured.iter().filter(|way| way.against.is_none());
    let best = eligible.min_by(|one, other| one.brier.total_cmp(&other.brier));
    Ok(Report {
        folds: fold.iter().max().map_or(0, |last| last + 1),
        by_database: databases.len() > 1,
        databases,
        chosen: best.map_or(Method::None, |best| best.method),
        measured,
    })
}

fn shares(points: &[Point]) -> BTreeMap<String, Shares> {
    let mut databases: BTreeMap<String, Shares> = BTreeMap::new();
    for point in points {
        let shares = databases.entry(point.database.clone()).or_default();
        shares.answers += 1;
        shares.right += u64::from(point.right);
    }
    databases
}

/// The part that each point is in.
fn folds(points: &[Point], databases: &BTreeMap<String, Shares>) -> Vec<usize> {
    if databases.len() < 2 {
        return (0..points.len()).map(|at| at % FOLDS).collect();
    }
    let mut by_size: Vec<(&String, u64)> =
        databases.iter().map(|(name, shares)| (name, shares.answers)).collect();
    by_size.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(other.0)));
    let mut sizes = vec![0_u64; databases.len().min(FOLDS)];
    let mut fold_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, answers) in by_size {
        // Always into the smallest part, the first of equal ones.
        let smallest =
            sizes.iter().enumerate().min_by_key(|(_, size)| **size).map_or(0, |(at, _)| at);
        sizes[smallest] += answers;
        fold_of.insert(name, smallest);
    }
    points
        .iter()
        .map(|point| fold_of.get(point.database.as_str()).copied().unwrap_or_default())
        .collect()
}

fn measure(method: Method, points: &[Point], fold: &[usize]) -> Measured {
    let held_out = if method == Method::None {
        points.iter().map(|point| point.printed).collect()
    } else {
        predict_held_out(method, points, fold)
    };
    let scored: Vec<(f64, bool)> =
        held_out.iter().zip(points).map(|(confidence, point)| (*confidence, point.right)).collect();
    Measured {
        method,
        brier: brier(&scored).unwrap_or(f64::NAN),
        log_loss: log_loss(&scored).unwrap_or(f64::NAN),
        calibration_error: expected_calibration_error(&reliability(&scored, BINS)),
        auroc: auroc(&scored).unwrap_or(f64::NAN),
        against: None,
        held_out,
    }
}

fn against(way: &Measured, printed: &[f64], points: &[Point]) -> Option<Against> {
    let worse =
        |loss: fn(&[(f64, bool)]) -> Option<f64>| is_worse(&way.held_out, printed, points, loss);
    match way.method {
        Method::None => None,
        Method::Isotonic if points.len() < LEAST_ISOTONIC => Some(Against::TooFew),
        _ if worse(brier) => Some(Against::Brier),
        _ if worse(log_loss) => Some(Against::LogLoss),
        _ => None,
    }
}

/// Returns true if the loss is greater than that of the printed confidences by more than one
/// standard error of the answers' differences: as L. Breiman, J. Friedman, R. Olshen and C. Stone,
/// "Classification and Regression Trees" (1984), tell worse from noise.
fn is_worse(
    held_out: &[f64],
    printed: &[f64],
    points: &[Point],
    loss: fn(&[(f64, bool)]) -> Option<f64>,
) -> bool {
    let of = |confidence: f64, right: bool| loss(&[(confidence, right)]).unwrap_or_default();
    let both = held_out.iter().zip(printed).zip(points);
    let more: Vec<f64> =
        both.map(|((new, old), point)| of(*new, point.right) - of(*old, point.right)).collect();
    let answers = more.len() as f64;
    let mean = more.iter().sum::<f64>() / answers;
    let variance = more.iter().map(|more| (more - mean).powi(2)).sum::<f64>() / (answers - 1.0);
    mean > (variance / answers).sqrt()
}

fn predict_held_out(method: Method, points: &[Point], fold: &[usize]) -> Vec<f64> {
    let mut confidences = vec![0.0; points.len()];
    for part in 0..fold.iter().max().map_or(0, |last| last + 1) {
        let seen: Vec<Point> = points
            .iter()
            .zip(fold)
            .filter(|(_, of)| **of != part)
            .map(|(point, _)| point.clone())
            .collect();
        let curve = Curve::fit(method, &seen);
        for (at, point) in points.iter().enumerate().filter(|(at, _)| fold[*at] == part) {
            confidences[at] = curve.apply(point.confidence) * point.left;
        }
    }
    confidences
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;

    const NAMES: [&str; 14] =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"];

    /// Answers of a model that claims `claim(p)` where it is right with probability p.
    fn answers(databases: usize, claim: impl Fn(f64) -> f64) -> Vec<Point> {
        let mut random = Pcg64::seed_from_u64(20);
        let mut point = |at: usize| {
            let p = random.random_range(0.05..0.95);
            let confidence = claim(p);
            let database = NAMES[at % databases].to_owned();
            Point {
                database,
                confidence,
                printed: confidence,
                left: 1.0,
                right: random.random_bool(p),
            }
        };
        (0..800).map(&mut point).collect()
    }

    #[test]
    fn overconfidence_is_found_and_mended_on_unseen_databases() {
        let report = cross_validate(&answers(5, |p| 0.6 + 0.4 * p)).unwrap();
        assert!(report.by_database && report.folds == 5);
        assert_ne!(report.chosen, Method::None);
        let [raw, isotonic, logistic] = &report.measured[..] else { panic!("three ways") };
        assert!(isotonic.brier < raw.brier - 0.05 && logistic.brier < raw.brier - 0.05);
        assert!(
            raw.calibration_error > 0.2
                && isotonic.calibration_error < 0.06
                && logistic.calibration_error < 0.06
        );
        assert!(isotonic.log_loss < raw.log_loss && (logistic.auroc - raw.auroc).abs() < 0.01);
    }

    #[test]
    fn what_is_calibrated_already_is_left_alone() {
        assert_eq!(cross_validate(&answers(5, |p| p)).unwrap().chosen, Method::None);
    }

    #[test]
    fn a_curve_never_sees_what_it_is_tried_on() {
        let points = answers(3, |p| 0.6 + 0.4 * p);
        let report = cross_validate(&points).unwrap();
        let others: Vec<Point> =
            points.iter().filter(|point| point.database != "b").cloned().collect();
        for (at, measured) in [(1, Method::Isotonic), (2, Method::Logistic)] {
            let curve = Curve::fit(measured, &others);
            for (place, point) in
                points.iter().enumerate().filter(|(_, point)| point.database == "b")
            {
                assert_eq!(report.measured[at].held_out[place], curve.apply(point.confidence));
            }
        }
    }

    #[test]
    fn isotonic_takes_a_hundred_answers() {
        let points = answers(4, |p| 0.6 + 0.4 * p);
        fn against(points: &[Point], answers: usize) -> (Option<Against>, Method) {
            let report = cross_validate(&points[..answers]).unwrap();
            (report.measured[1].against, report.chosen)
        }
        assert_eq!(against(&points, 99), (Some(Against::TooFew), Method::Logistic));
        assert_eq!(against(&points, 100).0, None);
    }

    #[test]
    fn a_lower_brier_score_is_not_bought_with_a_worse_log_loss() {
        // Nine databases are right throughout, the tenth is wrong throughout: a curve that was
        // fitted without it is surer there than the claims.
        fn point(database: &str, right: bool) -> Point {
            Point { database: database.to_owned(), confidence: 0.9, printed: 0.9, left: 1.0, right }
        }
        let right = (0..900).map(|at| point(NAMES[at % 9], true));
        let points: Vec<Point> = right.chain((0..25).map(|_| point("z", false))).collect();
        let report = cross_validate(&points).unwrap();
        let [raw, isotonic, logistic] = &report.measured[..] else { panic!("three ways") };
        assert!(isotonic.brier < raw.brier && logistic.brier < raw.brier);
        assert_eq!(
            (isotonic.against, logistic.against),
            (Some(Against::LogLoss), Some(Against::LogLoss))
        );
        assert_eq!(report.chosen, Method::None);
    }

    #[test]
    fn what_the_aggregator_takes_off_is_taken_off() {
        let points: Vec<Point> = answers(3, |p| 0.6 + 0.4 * p)
            .into_iter()
            .map(|point| Point { left: 0.5, ..point })
            .collect();
        let measured = &cross_validate(&points).unwrap().measured;
        assert!(measured[1].held_out.iter().all(|confidence| *confidence <= 0.5));
        assert_eq!(measured[0].held_out[7], points[7].printed);
    }

    #[test]
    fn many_databases_are_grouped_and_one_is_split() {
        let many = cross_validate(&answers(14, |p| p)).unwrap();
        assert!(many.by_database && many.folds == 10 && many.databases.len() == 14);
        let one = cross_validate(&answers(1, |p| p)).unwrap();
        assert!(!one.by_database && one.folds == 10);
        let points = answers(14, |p| p);
        let fold = folds(&points, &shares(&points));
        for (one, other) in points.iter().zip(&fold).zip(points.iter().zip(&fold).skip(14)) {
            assert_eq!(one.0.database, other.0.database);
            assert_eq!(one.1, other.1);
        }
    }

    #[test]
    fn too_little_is_said_so() {
        let points = answers(2, |p| p);
        assert_eq!(cross_validate(&points[..7]), Err(CalibrateError::TooFew { answers: 7 }));
        let right: Vec<Point> =
            points.iter().map(|point| Point { right: true, ..point.clone() }).collect();
        let error = cross_validate(&right).unwrap_err();
        assert_eq!(error, CalibrateError::OneSided { answers: 800, right: true });
        assert_eq!(
            error.to_string(),
            "all 800 answers are right: confidences have nothing to distinguish"
        );
    }
}
