//! The types of columns and of expressions, as far as they matter for aggregates and dates.

use sqlparser::ast::{BinaryOperator, DataType, Expr, UnaryOperator, Value};

/// The type of a value, roughly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    /// A number.
    Number,
    /// A text.
    Text,
    /// A date or a moment.
    Time,
    /// A truth value.
    Boolean,
    /// Another type, or one that cannot be known.
    Unknown,
}

/// The parts by which declared types are recognised, in order.
const PARTS: &[(Type, &[&str])] = &[
    (Type::Unknown, &["ARRAY", "MAP", "STRUCT", "LIST", "INTERVAL", "POINT", "JSON", "RANGE"]),
    (Type::Boolean, &["BOOL"]),
    (Type::Time, &["TIMESTAMP", "DATE"]),
    (Type::Text, &["CHAR", "TEXT", "STRING", "CLOB", "ENUM", "UUID", "NAME"]),
    (
        Type::Number,
        &[
            "INT", "REAL", "DOUB", "FLOA", "NUMER", "DECIMAL", "NUMBER", "MONEY", "SERIAL", "LONG",
            "SHORT",
        ],
    ),
];

impl Type {
    /// The type of a column by its declared type, as any engine spells it.
    pub(crate) fn from_declared(sql_type: &str) -> Self {
        let name = sql_type.to_ascii_uppercase();
        if name.ends_with(']') {
            return Self::Unknown;
        }
        // The first that fits: an INTERVAL is no INT, and a TIMESTAMP no TEXT.
        PARTS
            .iter()
            .find(|(_, parts)| parts.iter().any(|part| name.contains(part)))
            .map_or(Self::Unknown, |(found, _)| *found)
    }

    /// The word for it in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Text => "a text",
            Self::Time => "a time",
            Self::Boolean => "a truth value",
            Self::Unknown => "of another type",
        }
    }

    fn or(self, other: Self) -> Self {
        match self {
            Self::Unknown => other,
            known if other == Self::Unknown || other == known => known,
            _ => Self::Unknown,
        }
    }
}

/// The walk over an expression that asks for the type of each of its columns.
pub(crate) trait Columns {
    /// The type of `table.column`. Called once for each place where it stands.
    fn column(&mut self, table: &str, column: &str) -> Type;

    /// Called for each arithmetic operand that is a text.
    fn text_in_arithmetic(&mut self, operand: &Expr);

    /// The type of an admitted expression, whose depth is bounded.
    fn type_of(&mut self, tree: &Expr) -> Type {
        match tree {
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [table, column] => self.column(&table.value, &column.value),
                _ => Type::Unknown,
            },
            Expr::Value(value) => match value.value {
                Value::Number(..) => Type::Number,
                Value::SingleQuotedString(_) => Type::Text,
                Value::Boolean(_) => Type::Boolean,
                _ => Type::Unknown,
            },
            Expr::TypedString(_) => Type::Time,
            Expr::Nested(inner) => self.type_of(inner),
            Expr::UnaryOp { op: UnaryOperator::Not, expr } => self.boolean(&[expr]),
            Expr::UnaryOp { op: _, expr } => self.arithmetic(&[expr]),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::Plus
                | BinaryOperator::Minus
                | BinaryOperator::Multiply
                | BinaryOperator::Divide
                | BinaryOperator::Modulo => self.arithmetic(&[left, right]),
                BinaryOperator::StringConcat => {
                    self.boolean(&[left, right]);
                    Type::Text
                }
                _ => self.boolean(&[left, right]),
            },
            Expr::IsNull(inner)
            | Expr::IsNotNull(inner)
            | Expr::IsTrue(inner)
            | Expr::IsNotTrue(inner)
            | Expr::IsFalse(inner)
            | Expr::IsNotFalse(inner) => self.boolean(&[inner]),
            Expr::Between { expr, low, high, .. } => self.boolean(&[expr, low, high]),
            Expr::InList { expr, list, .. } => {
                self.boolean(&[expr]);
                list.iter().for_each(|item| {
                    self.type_of(item);
                });
                Type::Boolean
            }
            Expr::Like { expr, pattern, .. } => self.boolean(&[expr, pattern]),
            Expr::Case { operand, conditions, else_result, .. } => {
                operand.iter().for_each(|operand| {
                    self.type_of(operand);
                });
                let mut result = Type::Unknown;
                for branch in conditions {
                    self.type_of(&branch.condition);
                    result = result.or(self.type_of(&branch.result));
                }
                match else_result {
                    Some(value) => result.or(self.type_of(value)),
                    None => result,
                }
            }
            Expr::Cast { expr, data_type, .. } => {
                self.type_of(expr);
                type_of_cast(data_type)
            }
            Expr::Extract { expr, .. } => {
                self.type_of(expr);
                Type::Number
            }
            Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => self.arithmetic(&[expr]),
            Expr::Substring { expr, substring_from, substring_for, .. } => {
                self.type_of(expr);
                for part in substring_from.iter().chain(substring_for) {
                    self.type_of(part);
                }
                Type::Text
            }
            Expr::Trim { expr, trim_what, .. } => {
                self.type_of(expr);
                trim_what.iter().for_each(|part| {
                    self.type_of(part);
                });
                Type::Text
            }
            Expr::Function(function) => {
                let arguments = crate::read::arguments(function);
                let types: Vec<Type> =
                    arguments.into_iter().map(|argument| self.type_of(argument)).collect();
                type_of_call(&function.name.to_string().to_lowercase(), &types)
            }
            _ => Type::Unknown,
        }
    }

    fn boolean(&mut self, parts: &[&Expr]) -> Type {
        parts.iter().for_each(|part| {
            self.type_of(part);
        });
        Type::Boolean
    }

    fn arithmetic(&mut self, operands: &[&Expr]) -> Type {
        let mut is_number = true;
        for operand in operands {
            match self.type_of(operand) {
                Type::Text => self.text_in_arithmetic(operand),
                // The difference of two times is a number in some engines alone.
                Type::Time => is_number = false,
                Type::Number | Type::Boolean | Type::Unknown => {}
            }
        }
        if is_number { Type::Number } else { Type::Unknown }
    }
}

fn type_of_cast(data_type: &DataType) -> Type {
    Type::from_declared(&data_type.to_string())
}

/// The type of a call of one of [`FUNCTIONS`](crate::FUNCTIONS).
fn type_of_call(name: &str, arguments: &[Type]) -> Type {
    match name {
        "concat" | "left" | "lower" | "ltrim" | "replace" | "right" | "rtrim" | "strftime"
        | "substr" | "substring" | "trim" | "upper" => Type::Text,
        "date" | "date_trunc" => Type::Time,
        "coalesce" | "greatest" | "ifnull" | "least" | "nullif" => {
            arguments.iter().fold(Type::Unknown, |result, part| result.or(*part))
        }
        _ => Type::Number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_engines_are_recognised() {
        for (declared, expected) in [
            ("INTEGER", Type::Number),
            ("NUMERIC(10,2)", Type::Number),
            ("double precision", Type::Number),
            ("HUGEINT", Type::Number),
            ("varchar(20)", Type::Text),
            ("character varying", Type::Text),
            ("STRING", Type::Text),
            ("DATE", Type::Time),
            ("timestamp with time zone", Type::Time),
            ("BOOLEAN", Type::Boolean),
            ("interval", Type::Unknown),
            ("INTEGER[]", Type::Unknown),
            ("MAP(VARCHAR, INTEGER)", Type::Unknown),
            ("", Type::Unknown),
        ] {
            assert_eq!(Type::from_declared(declared), expected, "{declared}");
        }
    }
}
