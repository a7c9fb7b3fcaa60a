//! From values to places, and where an axis has its ticks.

/// Maps the values of an axis linearly to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    /// Between ticks, where the domain was made to end on them.
    step: Option<f64>,
}

impl Scale {
    /// Values from `low` to `high` at the places from `from` to `to`. A domain without width gets
    /// one.
    #[must_use]
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let (low, high) =
            if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
        let high = if high > low { high } else { low + if low == 0.0 { 1.0 } else { low.abs() } };
        Self { low, high, from, to, step: None }
    }

    /// A domain that ends on ticks on both sides.
    #[must_use]
    pub fn with_round_ends((low, high): (f64, f64), places: (f64, f64), ticks: u32) -> Self {
        let tight = Self::new((low, high), places);
        let step = tight.step(ticks);
        let low = (tight.low / step + 1e-9).floor() * step;
        let high = (tight.high / step - 1e-9).ceil() * step;
        Self { low, high, step: Some(step), ..tight }
    }

    /// The place of a value; of one beyond the domain, the nearer end.
    #[must_use]
    pub fn at(&self, value: f64) -> f64 {
        let value = if value.is_finite() { value.clamp(self.low, self.high) } else { self.low };
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Values for ticks, about so many, with the decimals that distinguish them.
    #[must_use]
    pub fn ticks(&self, about: u32) -> (Vec<f64>, usize) {
        let step = self.step.unwrap_or_else(|| self.step(about));
        let first = (self.low / step - 1e-9).ceil();
        let count = ((self.high / step + 1e-9).floor() - first).max(0.0) as usize;
        // Adding 0 turns −0 into 0.
        let ticks = (0..=count).map(|place| (first + place as f64) * step + 0.0).collect();
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        (ticks, decimals)
    }

    /// A step of 1, 2 or 5 times a power of ten.
    fn step(&self, about: u32) -> f64 {
        let rough = (self.high - self.low) / f64::from(about.max(1));
        let power = 10_f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough * (1.0 - 1e-9));
        step.unwrap_or(10.0) * power
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round() {
        let (ticks, decimals) = Scale::new((0.0, 1.0), (0.0, 100.0)).ticks(5);
        assert_eq!((ticks.len(), decimals), (6, 1));
        assert!((ticks[1] - 0.2).abs() < 1e-12);
        let scale = Scale::with_round_ends((-7.3, 4.1), (0.0, 100.0), 6);
        assert_eq!((scale.at(-8.0), scale.at(6.0)), (0.0, 100.0));
        assert_eq!(Scale::new((5.0, 5.0), (0.0, 10.0)).at(5.0), 0.0);
    }

    proptest! {
        #[test]
        fn every_value_has_a_place_and_ticks_are_few(
            low in -1e6_f64..1e6, wide in 0.0_f64..1e6, about in 2_u32..12
        ) {
            let scale = Scale::with_round_ends((low, low + wide), (10.0, 110.0), about);
            for value in [low, low + wide, f64::NAN, f64::INFINITY] {
                prop_assert!((10.0..=110.0).contains(&scale.at(value)));
            }
            let (ticks, _) = scale.ticks(about);
            prop_assert!(ticks.len() >= 2 && ticks.len() <= about as usize * 3, "{:?}", ticks);
        }
    }
}
