//! Cells of results as JSON.

use syrch_core::Value;

/// A cell as JSON: numbers stay numbers, bytes become `{"bytes": "<hex>"}`, numbers that JSON lacks
/// become text.
#[must_use]
pub fn json_value(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Boolean(value) => (*value).into(),
        Value::Integer(value) => (*value).into(),
        Value::Real(value) => serde_json::Number::from_f64(*value)
            .map_or_else(|| value.to_string().into(), Into::into),
        Value::Decimal(text) | Value::Text(text) | Value::Temporal(text) | Value::Other(text) => {
            text.clone().into()
        }
        Value::Bytes(bytes) => {
            serde_json::json!({ "bytes": syrch_core::text::hex(bytes) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_value_in_json() {
        fn show(value: Value) -> String {
            json_value(&value).to_string()
        }
        assert_eq!(show(Value::Text("006".into())), "\"006\"");
        assert_eq!(show(Value::Real(315.0)), "315.0");
        assert_eq!(show(Value::Real(0.123_456_789_012_345_6)), "0.1234567890123456");
        assert_eq!(show(Value::Integer(i64::MIN)), "-9223372036854775808");
        assert_eq!(show(Value::Real(f64::INFINITY)), "\"inf\"");
        assert_eq!(show(Value::Bytes(vec![0, 255])), "{\"bytes\":\"00ff\"}");
        assert_eq!(show(Value::Null), "null");
    }
}
