//! Numbers of arguments, as clients of other languages write them.

use serde::de::{Deserialize, Deserializer, Error};

/// Reads a whole number, perhaps one with a point such as 2.0; `None` for null.
pub(crate) fn read_whole<'de, D: Deserializer<'de>>(input: D) -> Result<Option<usize>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(input)? else { return Ok(None) };
    if number.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&number) {
        return Err(D::Error::custom(format!("{number} is no whole number of at least 0")));
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole and of 32 bits"
    )]
    Ok(Some(number as usize))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn whole_numbers_may_have_a_point() {
        for (value, number) in [(json!(2), Some(2)), (json!(2.0), Some(2)), (Value::Null, None)] {
            assert_eq!(read_whole(&value).unwrap(), number);
        }
        for value in [json!(2.5), json!(-1), json!("2"), json!(1e30)] {
            assert!(read_whole(&value).is_err(), "{value}");
        }
    }
}
