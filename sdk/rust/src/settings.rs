//! A plugin's settings: one declaration gives the type, its defaults, its JSON schema and its
//! reader.

use serde_json::{Map, Value, json};

/// The settings of a plugin. [`crate::settings!`] implements it.
pub trait Settings: Sized + Default {
    /// The JSON schema (draft 2020-12) of the settings, with defaults and ranges.
    fn schema() -> Value;

    /// Reads settings; what is not given has its default, and an empty text gives all defaults.
    ///
    /// # Errors
    /// Fails, with the reason in words, if the text is not a JSON object, or has an unknown name, a
    /// wrong type or a number out of its range.
    fn read(config: &str) -> Result<Self, String>;
}

/// The settings of a plugin that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoSettings {}

impl Settings for NoSettings {
    fn schema() -> Value {
        schema_of(Map::new())
    }

    fn read(config: &str) -> Result<Self, String> {
        let mut given = object(config)?;
        finish(&mut given, &[])?;
        Ok(Self {})
    }
}

/// A type that a setting may have.
pub trait Setting: Sized {
    /// Its name in JSON Schema.
    const TYPE: &'static str;
    /// The words that it may be, for a type of words; else empty.
    const WORDS: &'static [&'static str] = &[];
    /// Reads a value; `None` if it is of another type.
    fn from_json(value: &Value) -> Option<Self>;
    /// The value in JSON.
    fn to_json(&self) -> Value;
    /// The JSON Schema of its values, without a default.
    #[must_use]
    fn schema() -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(Self::TYPE));
        if !Self::WORDS.is_empty() {
            schema.insert("enum".to_owned(), json!(Self::WORDS));
        }
        schema
    }
}

/// A list of any length.
impl<S: Setting> Setting for Vec<S> {
    const TYPE: &'static str = "array";

    fn from_json(value: &Value) -> Option<Self> {
        value.as_array()?.iter().map(S::from_json).collect()
    }

    fn to_json(&self) -> Value {
        self.iter().map(S::to_json).collect()
    }

    fn schema() -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(Self::TYPE));
        schema.insert("items".to_owned(), Value::Object(S::schema()));
        schema
    }
}

/// A list of that length, such as a pair.
impl<S: Setting, const N: usize> Setting for [S; N] {
    const TYPE: &'static str = "array";

    fn from_json(value: &Value) -> Option<Self> {
        Vec::from_json(value)?.try_into().ok()
    }

    fn to_json(&self) -> Value {
        self.iter().map(S::to_json).collect()
    }

    fn schema() -> Map<String, Value> {
        let mut schema = <Vec<S> as Setting>::schema();
        schema.insert("minItems".to_owned(), json!(N));
        schema.insert("maxItems".to_owned(), json!(N));
        schema
    }
}

macro_rules! setting_types {
    ($($rust:ty, $name:literal, $read:expr;)+) => {
        $(impl Setting for $rust {
            const TYPE: &'static str = $name;
            fn from_json(value: &Value) -> Option<Self> {
                $read(value)
            }
            fn to_json(&self) -> Value {
                json!(self)
            }
        })+
    };
}

setting_types! {
    bool, "boolean", Value::as_bool;
    f64, "number", Value::as_f64;
    u64, "integer", Value::as_u64;
    u32, "integer", |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok());
    String, "string", |value: &Value| value.as_str().map(str::to_owned);
}

/// Declares the type of a setting that is one of several words. The first is its `Default`.
///
/// ```
/// syrch_plugin::words! {
///     /// What to do with an empty result.
///     pub enum Empty { Reject = "reject", Accept = "accept" }
/// }
/// syrch_plugin::settings! {
///     /// How strict the plugin is.
///     pub struct Strictness {
///         /// What to do with an empty result.
///         empty: Empty = Empty::Reject;
///     }
/// }
/// use syrch_plugin::settings::Settings as _;
/// assert_eq!(Strictness::read(r#"{"empty": "accept"}"#).unwrap().empty, Empty::Accept);
/// assert_eq!(
///     Strictness::read(r#"{"empty": "ask"}"#).unwrap_err(),
///     "`empty` must be one of reject, accept, not \"ask\""
/// );
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$outer:meta])* $vis:vis enum $name:ident {
            $first:ident = $start:literal $(, $variant:ident = $word:literal)* $(,)?
        }
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[allow(missing_docs, reason = "the words say what they mean")]
        $vis enum $name { #[default] $first $(, $variant)* }

        impl $crate::settings::Setting for $name {
            const TYPE: &'static str = "string";
            const WORDS: &'static [&'static str] = &[$start $(, $word)*];

            fn from_json(value: &$crate::serde_json::Value) -> ::std::option::Option<Self> {
                match value.as_str()? {
                    $start => ::std::option::Option::Some(Self::$first),
                    $($word => ::std::option::Option::Some(Self::$variant),)*
                    _ => ::std::option::Option::None,
                }
            }

            fn to_json(&self) -> $crate::serde_json::Value {
                match self {
                    Self::$first => $start.into(),
                    $(Self::$variant => $word.into(),)*
                }
            }
        }
    };
}

/// Declares a plugin's settings: each with its documentation, type, default and, for numbers, its
/// range.
///
/// ```
/// syrch_plugin::settings! {
///     /// How strict the plugin is.
///     pub struct Strictness {
///         /// Rows above this number count as too many.
///         overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
///         /// Whether to ask the model.
///         ask: bool = false;
///     }
/// }
/// use syrch_plugin::settings::Settings as _;
/// assert_eq!(Strictness::default().overflow_rows, 1000);
/// assert_eq!(Strictness::schema()["properties"]["overflow_rows"]["minimum"], 1);
/// assert!(Strictness::read(r#"{"overflow_rows": 0}"#).is_err());
/// ```
///
/// With `..solver` at their end they have the settings that solvers share: `overflow_rows`,
/// `parent_rows` and `catalog_bytes`, the last two of which are a
/// [`PromptSize`](crate::brief::PromptSize).
#[macro_export]
macro_rules! settings {
    (
        $(#[$outer:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty = $default:expr $(, $least:literal ..= $greatest:literal)?;
            )+
        }
    ) => {
        $(#[$outer])*
        #[derive(Debug, Clone, PartialEq)]
        $vis struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl ::std::default::Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $crate::settings::Settings for $name {
            fn schema() -> $crate::serde_json::Value {
                let defaults = Self::default();
                let mut properties = $crate::serde_json::Map::new();
                $(
                    properties.insert(
                        stringify!($field).to_owned(),
                        $crate::settings::property(
                            concat!($($doc),+),
                            &defaults.$field,
                            $crate::settings!(@range $($least, $greatest)?),
                        ),
                    );
                )+
                $crate::settings::schema_of(properties)
            }

            fn read(config: &str) -> ::std::result::Result<Self, ::std::string::String> {
                let mut given = $crate::settings::object(config)?;
                let mut settings = Self::default();
                $(
                    $crate::settings::take(
                        &mut given,
                        stringify!($field),
                        &mut settings.$field,
                        $crate::settings!(@range $($least, $greatest)?),
                    )?;
                )+
                $crate::settings::finish(&mut given, &[$(stringify!($field)),+])?;
                Ok(settings)
            }
        }
    };
    (
        $(#[$outer:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident: $type:ty = $default:expr $(, $least:literal ..= $greatest:literal)?;
            )+
            ..solver
        }
    ) => {
        $crate::settings! {
            $(#[$outer])*
            $vis struct $name {
                $($(#[doc = $doc])+ $field: $type = $default $(, $least ..= $greatest)?;)+
                /// Rows above this number count as more than a good answer has.
                overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
                /// Rows of each finished dependency that stand in the prompt, as far as they are
                /// granted.
                parent_rows: u32 = 3, 0 ..= 50;
                /// Bytes of a prompt that the catalog may fill.
                catalog_bytes: u32 = 48_000, 500 ..= 200_000;
            }
        }

        impl ::std::convert::From<&$name> for $crate::brief::PromptSize {
            fn from(settings: &$name) -> Self {
                Self { catalog_bytes: settings.catalog_bytes, parent_rows: settings.parent_rows }
            }
        }
    };
    (@range) => { ::std::option::Option::None };
    (@range $least:literal, $greatest:literal) => {
        ::std::option::Option::Some((
            $crate::serde_json::json!($least),
            $crate::serde_json::json!($greatest),
        ))
    };
}

/// A range as JSON numbers, so that whole numbers stay whole in the schema.
#[doc(hidden)]
pub type Range = Option<(Value, Value)>;

#[doc(hidden)]
pub fn property<S: Setting>(description: &str, default: &S, range: Range) -> Value {
    let mut property = Map::new();
    property.insert("type".to_owned(), json!(S::TYPE));
    property.insert("description".to_owned(), json!(description.trim()));
    property.insert("default".to_owned(), default.to_json());
    property.extend(S::schema());
    if let Some((least, greatest)) = range {
        property.insert("minimum".to_owned(), least);
        property.insert("maximum".to_owned(), greatest);
    }
    Value::Object(property)
}

#[doc(hidden)]
#[must_use]
pub fn schema_of(properties: Map<String, Value>) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

#[doc(hidden)]
pub fn object(config: &str) -> Result<Map<String, Value>, String> {
    if config.trim().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(config) {
        Ok(Value::Object(given)) => Ok(given),
        Ok(_) => Err("settings must be a JSON object".to_owned()),
        Err(error) => Err(format!("settings are not JSON: {error}")),
    }
}

#[doc(hidden)]
pub fn take<S: Setting>(
    given: &mut Map<String, Value>,
    name: &str,
    slot: &mut S,
    range: Range,
) -> Result<(), String> {
    let Some(value) = given.remove(name) else { return Ok(()) };
    *slot = S::from_json(&value).ok_or_else(|| match S::WORDS {
        [] => format!("`{name}` must be of type {}, not {value}", S::TYPE),
        words => format!("`{name}` must be one of {}, not {value}", words.join(", ")),
    })?;
    if let (Some((least, greatest)), Some(number)) = (range, value.as_f64()) {
        let inside = least.as_f64().is_none_or(|least| number >= least)
            && greatest.as_f64().is_none_or(|greatest| number <= greatest);
        if !inside {
            return Err(format!("`{name}` must be from {least} to {greatest}, not {value}"));
        }
    }
    Ok(())
}

#[doc(hidden)]
pub fn finish(given: &mut Map<String, Value>, known: &[&str]) -> Result<(), String> {
    match given.keys().next() {
        None => Ok(()),
        Some(name) if known.is_empty() => Err(format!("unknown setting `{name}`: there are none")),
        Some(name) => Err(format!("unknown setting `{name}`; known are {}", known.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::settings! {
        /// Two of each kind that matters.
        struct Sample {
            /// A share.
            share: f64 = 0.5, 0.0 ..= 1.0;
            /// A count,
            /// reported in two lines.
            count: u32 = 3, 1 ..= 9;
            /// A switch.
            switch: bool = true;
            /// A word.
            word: String = "x".to_owned();
        }
    }

    #[test]
    fn schema_has_defaults_ranges_and_words() {
        let schema = Sample::schema();
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(
            schema["properties"]["count"],
            json!({
                "type": "integer", "description": "A count, reported in two lines.", "default": 3,
                "minimum": 1, "maximum": 9
            })
        );
        assert_eq!(
            schema["properties"]["switch"],
            json!({"type": "boolean", "description": "A switch.", "default": true})
        );
    }

    #[test]
    fn reads_what_is_given_and_keeps_the_rest() {
        assert_eq!(Sample::read(""), Ok(Sample::default()));
        let sample = Sample::read(r#"{"share": 1, "word": "y"}"#).unwrap();
        assert_eq!(sample, Sample { share: 1.0, word: "y".to_owned(), ..Sample::default() });
    }

    #[test]
    fn lists_have_the_schema_of_what_they_hold() {
        type Pairs = Vec<[f64; 2]>;
        let of_pair =
            json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2});
        assert_eq!(Value::Object(Pairs::schema()), json!({"type": "array", "items": of_pair}));
        assert_eq!(
            Pairs::from_json(&json!([[0, 0.2], [0.5, 1]])),
            Some(vec![[0.0, 0.2], [0.5, 1.0]])
        );
        assert_eq!(Pairs::from_json(&json!([[0, 0.2, 1]])), None);
        assert_eq!(vec![[0.0, 0.5]].to_json(), json!([[0.0, 0.5]]));
    }

    #[test]
    fn says_what_is_wrong() {
        fn say(config: &str) -> String {
            Sample::read(config).unwrap_err()
        }
        assert_eq!(say("[]"), "settings must be a JSON object");
        assert_eq!(say(r#"{"share": 2}"#), "`share` must be from 0.0 to 1.0, not 2");
        assert_eq!(
            say(r#"{"switch": "false"}"#),
            "`switch` must be of type boolean, not \"false\""
        );
        assert_eq!(
            say(r#"{"shares": 1}"#),
            "unknown setting `shares`; known are share, count, switch, word"
        );
        assert!(say("{").starts_with("settings are not JSON"));
        assert_eq!(
            NoSettings::read(r#"{"a":1}"#).unwrap_err(),
            "unknown setting `a`: there are none"
        );
    }
}
