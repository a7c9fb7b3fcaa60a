//! The kinds of values that an expression may have in SQLite, whose columns hold values of any
//! type. They decide whether two equal values are the same value, which `DISTINCT`, GROUP BY, `min`
//! and `max` need, and whether a sum depends on the order of the rows.

use sqlparser::ast::{BinaryOperator, DataType, Expr, UnaryOperator, Value};

/// The classes of values that an expression may have, NULL aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Kind {
    /// True if it may be an integer.
    int: bool,
    /// True if it may be a real with a fraction.
    fraction: bool,
    /// True if it may be a real without a fraction.
    whole: bool,
    /// True if it may be a text or a blob.
    text: bool,
}

/// The conversion that a column makes of the values that are stored in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Affinity {
    /// The column stores numbers as texts.
    Text,
    /// Texts that look like a number become one.
    Numeric,
    /// Values stay as they are, as those of most expressions do.
    Any,
}

impl Kind {
    pub(super) const NULL: Self = Self { int: false, fraction: false, whole: false, text: false };
    pub(super) const INT: Self = Self { int: true, ..Self::NULL };
    pub(super) const REAL: Self = Self { fraction: true, whole: true, ..Self::NULL };
    pub(super) const TEXT: Self = Self { text: true, ..Self::NULL };
    pub(super) const NUMBER: Self = Self { int: true, fraction: true, whole: true, text: false };
    /// A real that was computed: unlike one that is stored, it may be `-0.0`, which equals `0.0`
    /// and differs.
    pub(super) const COMPUTED: Self = Self::NUMBER;
    pub(super) const ANY: Self = Self { int: true, fraction: true, whole: true, text: true };

    /// Returns true if equal values are the same value: `1` and `1.0` are equal and differ.
    pub(super) fn is_canonical(self) -> bool {
        !(self.int && self.whole)
    }

    /// Returns true if all values are integers, so that a sum of them does not depend on their
    /// order.
    pub(super) fn is_integer(self) -> bool {
        !self.fraction && !self.whole && !self.text
    }

    /// Returns true if it may be a text or a blob.
    pub(super) fn may_be_text(self) -> bool {
        self.text
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self {
            int: self.int || other.int,
            fraction: self.fraction || other.fraction,
            whole: self.whole || other.whole,
            text: self.text || other.text,
        }
    }

    /// The kind and the affinity of a column by its declared type, by the rules of "Datatypes In
    /// SQLite", 3.1. A column that is declared for integers or reals is taken at its word, though
    /// only a STRICT table holds it to that.
    pub(super) fn for_column(declared: &str) -> (Self, Affinity) {
        let declared = declared.to_ascii_uppercase();
        let has = |words: &[&str]| words.iter().any(|word| declared.contains(word));
        if declared.trim() == "ANY" {
            // In a STRICT table it converts nothing.
            (Self::ANY, Affinity::Any)
        } else if has(&["INT"]) {
            (Self::INT, Affinity::Numeric)
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            (Self::TEXT, Affinity::Text)
        } else if declared.is_empty() || has(&["BLOB"]) {
            (Self::ANY, Affinity::Any)
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            (Self::REAL, Affinity::Numeric)
        } else {
            // A real that equals an integer is stored as one.
            (Self { whole: false, ..Self::ANY }, Affinity::Numeric)
        }
    }

    fn for_cast(data_type: &DataType, inner: Self) -> Self {
        let (kind, affinity) = Self::for_column(&data_type.to_string());
        match (affinity, kind.int) {
            (Affinity::Text, _) => Self::TEXT,
            (Affinity::Any, _) => Self::ANY,
            (Affinity::Numeric, true) if kind.is_integer() => Self::INT,
            (Affinity::Numeric, false) if inner.is_integer() => Self::REAL,
            (Affinity::Numeric, false) => Self::COMPUTED,
            // A cast leaves a real as it is.
            (Affinity::Numeric, true) => {
                Self { text: false, int: true, fraction: true, whole: inner.whole || inner.text }
            }
        }
    }

    fn arithmetic(left: Self, right: Self) -> Self {
        if left.is_integer() && right.is_integer() { Self::INT } else { Self::COMPUTED }
    }

    fn for_binary(op: &BinaryOperator, kinds: &[Self]) -> Self {
        let [left, right] = kinds else { return Self::ANY };
        match op {
            BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo => Self::arithmetic(*left, *right),
            BinaryOperator::StringConcat => Self::TEXT,
            BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
            | BinaryOperator::BitwiseAnd
            | BinaryOperator::BitwiseOr
            | BinaryOperator::PGBitwiseShiftLeft
            | BinaryOperator::PGBitwiseShiftRight => Self::INT,
            _ => Self::ANY,
        }
    }

    fn for_value(value: &Value) -> Self {
        match value {
            Value::Number(digits, _)
                if digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() < 19 =>
            {
                Self::INT
            }
            Value::Number(..) => Self::NUMBER,
            Value::Boolean(_) => Self::INT,
            Value::Null => Self::NULL,
            Value::SingleQuotedString(_) => Self::TEXT,
            _ => Self::ANY,
        }
    }

    /// The kind of an expression that is neither a column nor a call, by the kinds of its parts:
    /// those of expressions, then those of queries. What is not listed here may have any value.
    pub(super) fn for_expr(expr: &Expr, kinds: &[Self]) -> Self {
        let first = kinds.first().copied().unwrap_or(Self::ANY);
        match expr {
            Expr::Value(value) => Self::for_value(&value.value),
            Expr::Nested(_) | Expr::Subquery(_) | Expr::Collate { .. } => first,
            Expr::UnaryOp { op: UnaryOperator::Plus, .. } => first,
            Expr::UnaryOp { op: UnaryOperator::Minus, .. } => match first.is_integer() {
                true => Self::INT,
                false => Self::COMPUTED,
            },
            Expr::UnaryOp { op: UnaryOperator::Not | UnaryOperator::BitwiseNot, .. } => Self::INT,
            Expr::BinaryOp { op, .. } => Self::for_binary(op, kinds),
            Expr::Cast { data_type, .. } => Self::for_cast(data_type, first),
            Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsDistinctFrom(..)
            | Expr::IsNotDistinctFrom(..)
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::Exists { .. } => Self::INT,
            Expr::Substring { .. } | Expr::Trim { .. } => Self::TEXT,
            Expr::Case { operand, conditions, else_result, .. } => {
                let mut results = kinds.iter().skip(usize::from(operand.is_some()));
                let mut kind = Self::NULL;
                for _ in conditions {
                    results.next();
                    kind = results.next().map_or(Self::ANY, |result| kind.or(*result));
                }
                else_result
                    .as_ref()
                    .and_then(|_| results.next())
                    .map_or(kind, |result| kind.or(*result))
            }
            _ => Self::ANY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_of_a_column_are_the_same_value_unless_it_converts_nothing() {
        for (declared, is_canonical, is_integer) in [
            ("INTEGER", true, true),
            ("bigint", true, true),
            ("VARCHAR(20)", true, false),
            ("REAL", true, false),
            ("DECIMAL(10,2)", true, false),
            ("date", true, false),
            ("", false, false),
            ("any", false, false),
            ("BLOB", false, false),
        ] {
            let (kind, _) = Kind::for_column(declared);
            assert_eq!(
                (kind.is_canonical(), kind.is_integer()),
                (is_canonical, is_integer),
                "{declared}"
            );
        }
        let real = Kind::for_column("REAL").0;
        assert!(!real.or(Kind::INT).is_canonical() && real.or(Kind::TEXT).is_canonical());
    }

    #[test]
    fn arithmetic_with_a_real_may_be_a_negative_zero() {
        let binary = |op, left, right| Kind::for_binary(&op, &[left, right]);
        assert_eq!(binary(BinaryOperator::Divide, Kind::INT, Kind::INT), Kind::INT);
        assert_eq!(binary(BinaryOperator::Multiply, Kind::ANY, Kind::REAL), Kind::COMPUTED);
        assert!(!Kind::COMPUTED.is_canonical() && Kind::REAL.is_canonical());
        assert!(!binary(BinaryOperator::Plus, Kind::NUMBER, Kind::INT).is_canonical());
    }
}
