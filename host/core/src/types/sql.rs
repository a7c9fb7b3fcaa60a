//! The values that a database returns besides rows: errors, shapes, single values.

use serde::{Deserialize, Serialize};

use super::Column;

/// The kind of a statement's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SqlErrorKind {
    /// The text does not parse.
    Syntax,
    /// The catalog has no such table.
    UnknownTable,
    /// No table of the statement has such a column.
    UnknownColumn,
    /// A name fits several columns.
    AmbiguousName,
    /// Values have the wrong type.
    TypeMismatch,
    /// The statement would change something.
    WriteRefused,
    /// A function is not on the guard's list.
    FunctionRefused,
    /// The statement reads what was not granted, or breaks another rule of the guard.
    Denied,
    /// The deadline ended the statement.
    Timeout,
    /// A limit of size ended the statement.
    TooLarge,
    /// The guest, the host or the user cancelled the statement.
    Cancelled,
    /// The search may run no more statements.
    Budget,
    /// The database cannot be used now.
    Unavailable,
    /// A failure of another kind.
    Other,
}

impl SqlErrorKind {
    /// Returns whether the guard or the grant refused the statement, which may be correct
    /// otherwise.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        matches!(self, Self::WriteRefused | Self::FunctionRefused | Self::Denied)
    }

    /// The kind's name in output and in the contract.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UnknownTable => "unknown-table",
            Self::UnknownColumn => "unknown-column",
            Self::AmbiguousName => "ambiguous-name",
            Self::TypeMismatch => "type-mismatch",
            Self::WriteRefused => "write-refused",
            Self::FunctionRefused => "function-refused",
            Self::Denied => "denied",
            Self::Timeout => "timeout",
            Self::TooLarge => "too-large",
            Self::Cancelled => "cancelled",
            Self::Budget => "budget",
            Self::Unavailable => "unavailable",
            Self::Other => "other",
        }
    }
}

/// A statement's failure. `rule` names the guard's rule or the limit that refused it, for people
/// and for `sql --stdin-jsonl`; guests see it at the head of the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct SqlError {
    /// The kind of failure.
    pub kind: SqlErrorKind,
    /// A message without cell text.
    pub message: String,
    /// The byte of the statement that the error is about.
    pub position: Option<u32>,
    /// Names of the catalog that nearly match.
    pub suggestions: Vec<String>,
    /// The rule or limit that refused it, such as `single-statement` or `deadline`.
    pub rule: Option<String>,
}

impl SqlError {
    /// Bytes of a message at most: the names that it quotes may be as long as a statement.
    pub const MESSAGE: usize = 4 << 10;

    /// An error of that kind without position, suggestions and rule. A message that is too long
    /// is cut.
    #[must_use]
    pub fn new(kind: SqlErrorKind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if message.len() > Self::MESSAGE {
            message.truncate(message.floor_char_boundary(Self::MESSAGE));
            message.push_str("… (cut)");
        }
        Self { kind, message, position: None, suggestions: Vec::new(), rule: None }
    }

    /// The error with the rule or limit that refused the statement.
    #[must_use]
    pub fn rule(mut self, rule: impl Into<String>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// The error with its position in the statement.
    #[must_use]
    pub fn at(mut self, position: u32) -> Self {
        self.position = Some(position);
        self
    }

    /// The error with the nearest names.
    #[must_use]
    pub fn suggest(mut self, names: Vec<String>) -> Self {
        self.suggestions = names;
        self
    }
}

/// The rule by which results count as equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Equality {
    /// Equal as multisets of rows.
    Bag,
    /// Equal as sets of rows.
    Set,
    /// Equal as sequences of rows.
    Ordered,
    /// Another equality, by name; the host knows none.
    Other(String),
}

/// One column of a result's shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnProfile {
    /// The column's name and declared type.
    pub column: Column,
    /// The number of NULLs among the rows within the caps.
    pub nulls: u64,
    /// The number of different values, if it was counted.
    pub distinct: Option<u64>,
}

/// The shape of a result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Profile {
    /// The number of rows within the caps.
    pub rows: u64,
    /// True if a cap cut the result.
    pub truncated: bool,
    /// The columns, in order.
    pub columns: Vec<ColumnProfile>,
    /// Remarks for the reader.
    pub warnings: Vec<String>,
}

/// The value of one cell of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "type", content = "value")]
pub enum Value {
    /// The cell is NULL.
    Null,
    /// A truth value of a Boolean column.
    Boolean(bool),
    /// An integer of up to 64 bits.
    Integer(i64),
    /// A floating-point number, which may be infinite or NaN.
    Real(#[serde(with = "every_real")] f64),
    /// A decimal number, digit for digit.
    Decimal(String),
    /// A string of characters.
    Text(String),
    /// A date, time or timestamp in the engine's spelling.
    Temporal(String),
    /// A string of bytes.
    Bytes(Vec<u8>),
    /// A value of another type, in the engine's spelling.
    Other(String),
}

/// Reals as JSON: finite ones as numbers, and infinities and NaN, which JSON lacks, as text.
mod every_real {
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Text(String),
    }

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() {
            serializer.serialize_f64(*value)
        } else {
            serializer.serialize_str(&value.to_string())
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(value) => Ok(value),
            Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_real_comes_back() {
        for value in [0.1 + 0.2, f64::MIN_POSITIVE, 315.0, f64::INFINITY, f64::NEG_INFINITY] {
            let text = serde_json::to_string(&Value::Real(value)).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), Value::Real(value), "{text}");
        }
    }
}
