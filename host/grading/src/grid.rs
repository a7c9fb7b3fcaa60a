//! The cells of a grid: an arm for each combination of one value of every axis, or for some
//! combinations that are drawn at random.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use syrch::Settings;
use syrch_core::roles::Role;

use super::arms::Knob;

/// The greatest number of cells of a grid, more than a user would wait for. The cells share
/// databases and plugins, so that each takes little memory.
pub const MOST_CELLS: u64 = 1_000;

/// A knob with the values that it takes in a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The setting that is varied.
    pub knob: Knob,
    /// The values in their order: at least one, and no value twice.
    pub values: Vec<Value>,
}

/// A combination of one value of every axis.
#[derive(Debug, Clone)]
pub struct GridCell {
    /// The name of the arm, which has all values: `max_depth=1 calibration=true`.
    pub name: String,
    /// The values, by the names of the axes.
    pub values: BTreeMap<String, Value>,
    /// The settings of searches in this cell.
    pub settings: Settings,
}

/// The reason why a grid cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// A knob may not have a value, or no plugin implements its role.
    #[error("{0}")]
    Unfit(String),
    /// An axis has the same value twice.
    #[error("{axis}: the value {value} is given twice")]
    Twice {
        /// The name of the axis.
        axis: String,
        /// The value, as JSON.
        value: String,
    },
    /// Two axes vary the same knob, which has this name.
    #[error("{0} is given twice")]
    TwoAxes(String),
    /// One axis removes the calibrator whose setting another one varies.
    #[error("calibration=false takes away the calibrator whose setting `{0}` is varied")]
    NoCalibrator(String),
    /// There are more than [`MOST_CELLS`] cells.
    #[error("the grid has {cells} cells, more than {MOST_CELLS}")]
    TooMany {
        /// The number of cells.
        cells: String,
    },
}

/// The axes of the default grid, which has 54 cells, as in syrch 0.1.2.
#[must_use]
pub fn default_axes() -> Vec<Axis> {
    let axis = |knob: Option<Knob>, values: &[Value]| {
        knob.map(|knob| Axis { knob, values: values.to_vec() })
    };
    let all = [
        axis(Knob::policy("max_depth"), &[json!(1), json!(3), json!(5)]),
        axis(Knob::policy("high_confidence"), &[json!(0.7), json!(0.85), json!(0.95)]),
        axis(Knob::policy("max_attempts"), &[json!(1), json!(3), json!(5)]),
        axis(Some(Knob::Calibration), &[json!(true), json!(false)]),
    ];
    all.into_iter().flatten().collect()
}

/// The cells of a grid, in the order of the axes: the last axis changes fastest. `random` is a
/// number of cells and a seed: that many cells are drawn with the seed and returned in the same
/// order, or all of them if there are no more.
///
/// # Errors
/// When an axis or a value occurs twice, a value is not allowed, or there are too many cells.
pub fn cells(
    base: &Settings,
    axes: &[Axis],
    random: Option<(u64, u64)>,
) -> Result<Vec<GridCell>, GridError> {
    check(axes)?;
    let of = axes.iter().try_fold(1_u64, |cells, axis| cells.checked_mul(axis.values.len() as u64));
    let wanted = random.map(|(wanted, _)| wanted).or(of).filter(|wanted| *wanted <= MOST_CELLS);
    let Some(wanted) = wanted else {
        let cells = random.map(|(wanted, _)| wanted).or(of);
        let cells = cells.map_or_else(|| "more than 10^19".to_owned(), |cells| cells.to_string());
        return Err(GridError::TooMany { cells });
    };
    // If the number of cells does not fit, the cells that are drawn are among the first 2^64.
    let of = of.unwrap_or(u64::MAX);
    let places: Vec<u64> = match random {
        Some((_, seed)) if wanted < of => draw(wanted, of, seed).into_iter().collect(),
        _ => (0..of).collect(),
    };
    places.into_iter().map(|place| cell(base, axes, place)).collect()
}

fn check(axes: &[Axis]) -> Result<(), GridError> {
    for (at, axis) in axes.iter().enumerate() {
        let name = axis.knob.to_string();
        if axes[..at].iter().any(|other| other.knob == axis.knob) {
            return Err(GridError::TwoAxes(name));
        }
        for (place, value) in axis.values.iter().enumerate() {
            axis.knob.check(value).map_err(GridError::Unfit)?;
            if axis.values[..place].contains(value) {
                return Err(GridError::Twice { axis: name, value: value.to_string() });
            }
        }
    }
    let turned = axes.iter().find(|axis| matches!(axis.knob, Knob::Plugin(Role::Calibrator, _)));
    match turned.filter(|_| {
        axes.iter().any(|axis: &Axis| {
            axis.knob == Knob::Calibration && axis.values.contains(&json!(false))
        })
    }) {
        Some(axis) => Err(GridError::NoCalibrator(axis.knob.to_string())),
        None => Ok(()),
    }
}

/// Draws `wanted` distinct numbers below `of`, each set of them with the same probability (R. W.
/// Floyd in J. Bentley, "Programming Pearls: A Sample of Brilliance", Communications of the ACM 30
/// (1987), 754–757). `wanted` is less than `of`.
fn draw(wanted: u64, of: u64, seed: u64) -> BTreeSet<u64> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut drawn = BTreeSet::new();
    for last in of - wanted..of {
        let place = random.random_range(0..=last);
        if !drawn.insert(place) {
            drawn.insert(last);
        }
    }
    drawn
}

/// The cell of that number, from 0.
fn cell(base: &Settings, axes: &[Axis], place: u64) -> Result<GridCell, GridError> {
    let mut rest = place;
    let mut chosen = Vec::with_capacity(axes.len());
    for axis in axes.iter().rev() {
        let many = axis.values.len().max(1) as u64;
        let at = usize::try_from(rest % many).unwrap_or_default();
        chosen.extend(axis.values.get(at).map(|value| (&axis.knob, value)));
        rest /= many;
    }
    chosen.reverse();
    let mut settings = base.clone();
    chosen
        .iter()
        .try_for_each(|(knob, value)| knob.set(value, &mut settings).map_err(GridError::Unfit))?;
    let name = chosen
        .iter()
        .map(|(knob, value)| format!("{knob}={}", format_value(value)))
        .collect::<Vec<_>>()
        .join(" ");
    let values =
        chosen.into_iter().map(|(knob, value)| (knob.to_string(), value.clone())).collect();
    Ok(GridCell { name, values, settings })
}

/// A value as a cell's name shows it: a text of one word as it is, everything else as JSON.
fn format_value(value: &Value) -> String {
    fn is_plain(text: &str) -> bool {
        !text.is_empty()
            && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))
            && serde_json::from_str::<Value>(text).is_err()
    }
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis(key: &str, values: &[Value]) -> Axis {
        let knob = Knob::policy(key).unwrap_or_else(|| Knob::Plugin(Role::Solver, key.to_owned()));
        Axis { knob, values: values.to_vec() }
    }

    fn all(axes: &[Axis], random: Option<(u64, u64)>) -> Result<Vec<GridCell>, GridError> {
        cells(&Settings::default(), axes, random)
    }

    #[test]
    fn the_default_grid_has_54_cells() {
        let cells = all(&default_axes(), None).unwrap();
        let names: BTreeSet<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!((cells.len(), names.len()), (54, 54));
        assert_eq!(
            cells[0].name,
            "max_depth=1 high_confidence=0.7 max_attempts=1 calibration=true"
        );
        assert_eq!(
            cells[53].name,
            "max_depth=5 high_confidence=0.95 max_attempts=5 calibration=false"
        );
        let last = &cells[53].settings;
        assert_eq!(
            (last.policy.max_depth, last.policy.max_attempts, last.policy.high_confidence),
            (5, 5, 0.95)
        );
        assert_eq!(cells[53].values["high_confidence"], json!(0.95));
        let described: BTreeSet<String> =
            cells.iter().map(|cell| serde_json::to_string(&cell.settings).unwrap()).collect();
        assert_eq!(described.len(), 54);
    }

    #[test]
    fn values_of_all_kinds_have_distinct_names() {
        let kinds = [
            json!("a"),
            json!("1"),
            json!(1),
            json!("a b"),
            json!([1, 2]),
            json!(null),
            json!("true"),
            json!(""),
        ];
        let names: Vec<String> =
            all(&[axis("x", &kinds)], None).unwrap().into_iter().map(|cell| cell.name).collect();
        let expected = ["a", "\"1\"", "1", "\"a b\"", "[1,2]", "null", "\"true\"", "\"\""];
        assert_eq!(names, expected.map(|text| format!("solver.x={text}")));
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        let depth = || axis("max_depth", &[json!(1), json!(2)]);
        assert_eq!(
            all(&[depth(), depth()], None).unwrap_err().to_string(),
            "max_depth is given twice"
        );
        let twice = all(&[axis("x", &[json!("a"), json!("a")])], None).unwrap_err();
        assert_eq!(twice.to_string(), "solver.x: the value \"a\" is given twice");
        let unfit = all(&[axis("max_depth", &[json!(17)])], None).unwrap_err();
        assert_eq!(unfit.to_string(), "max_depth: 17 is not a whole number from 1 to 16");
        let knob = Knob::Plugin(Role::Calibrator, "retry".into());
        let both = all(&[default_axes().remove(3), Axis { knob, values: vec![json!(0.1)] }], None)
            .unwrap_err();
        assert_eq!(
            both.to_string(),
            "calibration=false takes away the calibrator whose setting `calibrator.retry` is varied"
        );
    }

    #[test]
    fn too_many_cells_are_refused_and_some_of_them_can_be_drawn() {
        let hundred: Vec<Value> = (0..101).map(Value::from).collect();
        let two = [axis("a", &hundred), axis("b", &hundred)];
        assert_eq!(
            all(&two, None).unwrap_err().to_string(),
            "the grid has 10201 cells, more than 1000"
        );
        assert_eq!(
            all(&two, Some((1_001, 0))).unwrap_err(),
            GridError::TooMany { cells: "1001".into() }
        );
        assert_eq!(all(&two, Some((7, 1))).unwrap().len(), 7);
        let twelve: Vec<Axis> = (0..12).map(|n| axis(&format!("k{n}"), &hundred)).collect();
        assert_eq!(
            all(&twelve, None).unwrap_err(),
            GridError::TooMany { cells: "more than 10^19".into() }
        );
        assert_eq!(all(&twelve, Some((5, 1))).unwrap().len(), 5);
        assert_eq!(all(&default_axes(), Some((100, 1))).unwrap().len(), 54);
    }

    proptest! {
        #[test]
        fn drawn_cells_are_distinct_in_order_and_the_same_for_a_seed(
            wanted in 1_u64..54, seed in any::<u64>()
        ) {
            let names = |seed| -> Vec<String> {
                all(&default_axes(), Some((wanted, seed)))
                    .unwrap()
                    .into_iter()
                    .map(|cell| cell.name)
                    .collect()
            };
            let whole: Vec<String> =
                all(&default_axes(), None).unwrap().into_iter().map(|cell| cell.name).collect();
            let drawn = names(seed);
            let places: Vec<_> =
                drawn.iter().map(|name| whole.iter().position(|known| known == name)).collect();
            prop_assert!(
                places.windows(2).all(|pair| pair[0] < pair[1]) && places.len() as u64 == wanted
            );
            prop_assert_eq!(drawn, names(seed));
        }
    }

    #[test]
    fn every_cell_is_drawn_about_as_often() {
        let mut counts = [0_u32; 10];
        for seed in 0..2_000 {
            draw(3, 10, seed).into_iter().for_each(|place| counts[place as usize] += 1);
        }
        // 600 each, with a standard deviation of 20.5.
        assert!(counts.iter().all(|count| (500..700).contains(count)), "{counts:?}");
    }
}
