//! Values on the command line: JSON where the text is JSON, else the text itself, with commas
//! between several.

use serde_json::Value;

/// The first value of a text, and what follows it: nothing, or a comma and more. JSON may hold
/// commas itself; other text ends at the first one.
fn split_first(text: &str) -> (Value, &str) {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    if let Some(Ok(value)) = stream.next() {
        let rest = text.get(stream.byte_offset()..).unwrap_or_default().trim_start();
        if rest.is_empty() || rest.starts_with(',') {
            return (value, rest);
        }
    }
    let (word, rest) = text.split_at(text.find(',').unwrap_or(text.len()));
    (Value::String(word.trim().to_owned()), rest)
}

/// The first value, which must not be nothing, and the text after its comma; `None` if there is no
/// comma.
fn read_next(text: &str) -> Result<(Value, Option<&str>), String> {
    let (value, rest) = split_first(text);
    // The empty text is written `""`.
    if value.as_str() == Some("") && !text.trim_start().starts_with('"') {
        return Err("a value is missing: write \"\" for the empty text".to_owned());
    }
    Ok((value, rest.strip_prefix(',')))
}

/// All values of a list.
pub(crate) fn values(text: &str) -> Result<Vec<Value>, String> {
    let mut all = Vec::new();
    let mut rest = Some(text);
    while let Some(text) = rest {
        let (value, after) = read_next(text)?;
        all.push(value);
        rest = after;
    }
    Ok(all)
}

/// `NAME=VALUE` with commas between several.
pub(crate) fn settings(text: &str) -> Result<Vec<(String, Value)>, String> {
    let mut all = Vec::new();
    let mut rest = Some(text);
    while let Some(text) = rest {
        let (name, value) =
            text.split_once('=').filter(|(name, _)| !name.contains(',')).ok_or_else(|| {
                format!("`{text}` is not NAME=VALUE; a text with a comma in it stands in quotes")
            })?;
        let (value, after) = read_next(value)?;
        all.push((name.trim().to_owned(), value));
        rest = after;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_split_at_the_commas_between_its_values() {
        assert_eq!(values("1,3,5"), Ok(vec![json!(1), json!(3), json!(5)]));
        assert_eq!(values("true, false ,0.5"), Ok(vec![json!(true), json!(false), json!(0.5)]));
        assert_eq!(values("[1,2],[3]"), Ok(vec![json!([1, 2]), json!([3])]));
        assert_eq!(
            values(r#""a,b",c d,{"x": [1, "," ]}"#),
            Ok(vec![json!("a,b"), json!("c d"), json!({"x": [1, ","]})])
        );
        assert_eq!(values("\"\""), Ok(vec![json!("")]));
        assert_eq!(values("1abc,[x"), Ok(vec![json!("1abc"), json!("[x")]));
        for wrong in ["", "1,", ",1", "1,,2", " "] {
            assert!(values(wrong).unwrap_err().starts_with("a value is missing"), "{wrong}");
        }
    }

    #[test]
    fn settings_have_names() {
        let two = settings("solver.rounds=2,settings.style=\"a,b\"").unwrap();
        assert_eq!(
            two,
            [("solver.rounds".to_owned(), json!(2)), ("settings.style".to_owned(), json!("a,b"))]
        );
        assert!(settings("a=1,b").unwrap_err().starts_with("`b` is not NAME=VALUE"));
        assert!(settings("a=x,y,b=1").unwrap_err().starts_with("`y,b=1` is not NAME=VALUE"));
        assert!(settings("a=").is_err() && settings("").is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_as_json_is_read(
            texts in prop::collection::vec(any::<String>(), 1..5), number in any::<i64>()
        ) {
            let mut all: Vec<Value> = texts.into_iter().map(Value::from).collect();
            all.push(json!([number, "a,b"]));
            let written = all.iter().map(Value::to_string).collect::<Vec<_>>().join(",");
            prop_assert_eq!(values(&written).unwrap(), all);
        }

        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            let _ = (values(&text), settings(&text));
        }
    }
}
