//! Decimal numbers that an engine sends as texts, each with digits of its own behind the point.

use std::sync::Arc;

use arrow_array::{ArrayRef, Decimal128Array, StringArray};

/// The digits that Arrow's decimal numbers have at most.
const DIGITS: u8 = 38;

/// Decimal numbers with as many digits behind the point as the longest of them; the texts as they
/// are where one is not finite or has too many digits.
#[must_use]
pub fn decimals(cells: StringArray) -> ArrayRef {
    match exact(&cells) {
        Some(decimals) => Arc::new(decimals),
        None => Arc::new(cells),
    }
}

fn exact(cells: &StringArray) -> Option<Decimal128Array> {
    let scale = u8::try_from(
        cells
            .iter()
            .flatten()
            .map(|text: &str| text.split_once('.').map_or(0, |(_, fraction)| fraction.len()))
            .max()
            .unwrap_or(0),
    )
    .ok()
    .filter(|scale| *scale <= DIGITS)?;
    let unscaled = |text: &str| -> Option<i128> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        digits.checked_mul(
            10_i128.checked_pow(u32::from(scale) - u32::try_from(fraction.len()).ok()?)?,
        )
    };
    let values: Option<Vec<Option<i128>>> =
        cells.iter().map(|cell| cell.map_or(Some(None), |text| unscaled(text).map(Some))).collect();
    let column: Decimal128Array = values?.into_iter().collect();
    // It checks that all values have at most 38 digits.
    column.validate_decimal_precision(DIGITS).ok()?;
    column.with_precision_and_scale(DIGITS, i8::try_from(scale).ok()?).ok()
}
