//! Fitting calibrators on graded answers: a curve from the calibrator's own confidence to how often
//! answers with it were right, whether it holds on databases that it was not fitted on, and the
//! bands that an answer's footer quotes.
//!
//! ```
//! use syrch_grade::calibrate::{Method, Point, cross_validate};
//!
//! // A model that is right twice in three times, and always says 0.9.
//! let point = |at: usize| Point {
//!     database: ["shop", "flights"][at % 2].into(),
//!     confidence: 0.9,
//!     printed: 0.9,
//!     left: 1.0,
//!     right: at % 3 > 0,
//! };
//! let points: Vec<Point> = (0..60).map(point).collect();
//! let report = cross_validate(&points)?;
//! assert_ne!(report.chosen, Method::None);
//! assert!(report.measured[1].brier < report.measured[0].brier);
//! # Ok::<(), syrch_grade::calibrate::CalibrateError>(())
//! ```

mod bands;
mod curve;
mod isotonic;
mod logistic;
mod validate;

pub use bands::{Band, Bands, LEAST_OF_DATABASE, bands};
pub use curve::{Curve, Method};
pub use isotonic::{Isotonic, isotonic};
pub use logistic::{Logistic, logistic};
pub use validate::{
    Against, LEAST_ANSWERS, LEAST_ISOTONIC, Measured, Report, Shares, cross_validate,
};

/// One graded answer, as calibration sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The database: answers on one database are right and wrong together, so that a curve is tried
    /// on others than it was fitted on.
    pub database: String,
    /// The confidence that the calibrator gave the answer's statement, 0 to 1: the input of the
    /// curve.
    pub confidence: f64,
    /// The confidence that was printed, after the aggregator's doubts, 0 to 1: the curve has to do
    /// better.
    pub printed: f64,
    /// The factor, 0 to 1, that the aggregator will leave of a calibrated confidence: 1 when it
    /// takes off no doubts any more.
    pub left: f64,
    /// True if the answer is right.
    pub right: bool,
}

/// The reason why no curve can be fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalibrateError {
    /// There are fewer than [`LEAST_ANSWERS`] answers.
    #[error(
        "{} too few to fit a curve on; it takes at least {LEAST_ANSWERS}", with_confidence(*answers)
    )]
    TooFew {
        /// The number of answers.
        answers: usize,
    },
    /// Too few for corners.
    #[error(
        "{} too few for an isotonic curve; it takes at least {LEAST_ISOTONIC}, a logistic one \
         {LEAST_ANSWERS}",
        with_confidence(*answers)
    )]
    TooFewForIsotonic {
        /// The number of answers.
        answers: usize,
    },
    /// All right or all wrong.
    #[error(
        "all {answers} answers are {}: confidences have nothing to distinguish",
        if *right { "right" } else { "wrong" }
    )]
    OneSided {
        /// The number of answers.
        answers: usize,
        /// True if all answers are right. If false, all are wrong.
        right: bool,
    },
}

/// So many answers, with the verb.
fn with_confidence(answers: usize) -> String {
    match answers {
        1 => "1 graded answer with a confidence is".to_owned(),
        many => format!("{many} graded answers with a confidence are"),
    }
}
