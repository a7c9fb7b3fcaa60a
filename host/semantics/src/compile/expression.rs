//! Expressions of the file in the dialect of an engine. Only the forms that are listed here are
//! written, and each is written anew: no text of the file gets into a statement as it is.

use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, CeilFloorKind, DataType, DateTimeField, ExactNumberInfo,
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectNamePart,
    TrimWhereField, TypedString, UnaryOperator, Value,
};
use syrch_core::Dialect;

use crate::Expression;

use super::CompileError;
use super::engine::{Engine, is_number};

/// The meaning of a name in an expression.
pub(super) trait Names {
    /// Writes the column that a name stands for, whose table stands before it if it has one.
    fn write(&self, table: Option<&str>, name: &str) -> Result<String, Refusal>;

    /// True if a division is to keep its fraction and to be NULL where the divisor is 0.
    const IS_EXACT: bool;
}

/// The reason why an expression is not written.
pub(super) enum Refusal {
    /// The form, in words.
    Form(String),
    /// Another error, which explains itself.
    Error(Box<CompileError>),
}

impl From<CompileError> for Refusal {
    fn from(error: CompileError) -> Self {
        Self::Error(Box::new(error))
    }
}

fn refuse<T>(form: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Form(form.into()))
}

/// Writes an expression of the file.
pub(super) fn write_expression<N: Names>(
    engine: &Engine<'_>,
    expression: &Expression,
    names: &N,
) -> Result<String, CompileError> {
    Writer { engine, names }.write(&expression.tree).map_err(|refusal| match refusal {
        Refusal::Error(error) => *error,
        Refusal::Form(reason) => CompileError::Expression {
            file: expression.place.file.clone(),
            line: expression.place.line,
            column: expression.place.column,
            text: syrch_core::text::clip(&expression.text, 120).to_owned(),
            reason,
        },
    })
}

struct Writer<'a, N> {
    engine: &'a Engine<'a>,
    names: &'a N,
}

impl<N: Names> Writer<'_, N> {
    fn write(&self, expr: &Expr) -> Result<String, Refusal> {
        match expr {
            Expr::Identifier(name) => self.names.write(None, &name.value),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [Ident { value: table, .. }, Ident { value: name, .. }] => {
                    self.names.write(Some(table), name)
                }
                _ => refuse("a name has a table and a column"),
            },
            Expr::Nested(inner) => Ok(format!("({})", self.write(inner)?)),
            Expr::Value(value) => self.value(&value.value),
            Expr::TypedString(typed) => self.write_typed_string(typed),
            Expr::UnaryOp { op, expr } => self.unary(*op, expr),
            Expr::BinaryOp { left, op, right } => self.binary(left, op, right),
            Expr::Case { operand, conditions, else_result, .. } => {
                self.case(operand.as_deref(), conditions, else_result.as_deref())
            }
            Expr::Cast {
                kind: CastKind::Cast | CastKind::DoubleColon,
                expr,
                data_type,
                format: None,
            } => self.cast(expr, data_type),
            Expr::Extract { field, expr, .. } => self.extract(field, expr),
            Expr::Substring { expr, substring_from: Some(from), substring_for, .. } => {
                self.substring(expr, from, substring_for.as_deref())
            }
            Expr::Ceil { expr, field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime) } => {
                Ok(format!("CEIL({})", self.write(expr)?))
            }
            Expr::Floor {
                expr,
                field: CeilFloorKind::DateTimeField(DateTimeField::NoDateTime),
            } => Ok(format!("FLOOR({})", self.write(expr)?)),
            Expr::Trim { trim_where, trim_what, expr, trim_characters: None } => {
                self.trim(trim_where.as_ref(), trim_what.as_deref(), expr)
            }
            Expr::Function(function) => self.function(function),
            other => self.test(other),
        }
    }

    /// Writes a condition, and refuses what is none.
    fn test(&self, expr: &Expr) -> Result<String, Refusal> {
        match expr {
            Expr::IsNull(inner) => Ok(format!("{} IS NULL", self.operand(inner)?)),
            Expr::IsNotNull(inner) => Ok(format!("{} IS NOT NULL", self.operand(inner)?)),
            Expr::IsTrue(inner) => Ok(format!("{} IS TRUE", self.operand(inner)?)),
            Expr::IsFalse(inner) => Ok(format!("{} IS FALSE", self.operand(inner)?)),
            Expr::IsNotTrue(inner) => Ok(format!("{} IS NOT TRUE", self.operand(inner)?)),
            Expr::IsNotFalse(inner) => Ok(format!("{} IS NOT FALSE", self.operand(inner)?)),
            Expr::InList { expr, list, negated } => {
                let values = self.list(list)?;
                Ok(format!("{} {}IN ({values})", self.operand(expr)?, not(*negated)))
            }
            Expr::Between { expr, negated, low, high } => Ok(format!(
                "{} {}BETWEEN {} AND {}",
                self.operand(expr)?,
                not(*negated),
                self.operand(low)?,
                self.operand(high)?
            )),
            Expr::Like { negated, any: false, expr, pattern, escape_char } => {
                let sql = format!(
                    "{} {}LIKE {}",
                    self.operand(expr)?,
                    not(*negated),
                    self.operand(pattern)?
                );
                self.escape(sql, escape_char.as_deref())
            }
            Expr::ILike { negated, any: false, expr, pattern, escape_char } => {
                let sql = format!(
                    "LOWER({}) {}LIKE LOWER({})",
                    self.write(expr)?,
                    not(*negated),
                    self.write(pattern)?
                );
                self.escape(sql, escape_char.as_deref())
            }
            other => {
                let text = other.to_string();
                refuse(format!("the form of `{}` is not known", syrch_core::text::clip(&text, 60)))
            }
        }
    }

    fn unary(&self, op: UnaryOperator, expr: &Expr) -> Result<String, Refusal> {
        let operand = self.operand(expr)?;
        match op {
            UnaryOperator::Minus => Ok(format!("-{operand}")),
            UnaryOperator::Plus => Ok(operand),
            UnaryOperator::Not => Ok(format!("NOT {operand}")),
            _ => refuse(format!("the operator `{op}` is not known")),
        }
    }

    fn case(
        &self,
        operand: Option<&Expr>,
        conditions: &[CaseWhen],
        otherwise: Option<&Expr>,
    ) -> Result<String, Refusal> {
        let mut sql = "CASE".to_owned();
        if let Some(operand) = operand {
            sql += &format!(" {}", self.operand(operand)?);
        }
        for when in conditions {
            let condition = self.write(&when.condition)?;
            sql += &format!(" WHEN {condition} THEN {}", self.write(&when.result)?);
        }
        if let Some(result) = otherwise {
            sql += &format!(" ELSE {}", self.write(result)?);
        }
        Ok(sql + " END")
    }

    fn substring(&self, expr: &Expr, from: &Expr, count: Option<&Expr>) -> Result<String, Refusal> {
        let text = self.write(expr)?;
        let from = self.write(from)?;
        let count = count.map(|count| self.write(count)).transpose()?;
        Ok(if *self.engine.dialect == Dialect::Ansi {
            let count = count.map_or(String::new(), |count| format!(" FOR {count}"));
            format!("SUBSTRING({text} FROM {from}{count})")
        } else {
            let count = count.map_or(String::new(), |count| format!(", {count}"));
            format!("SUBSTR({text}, {from}{count})")
        })
    }

    /// Writes an expression that stands beside an operator.
    fn operand(&self, expr: &Expr) -> Result<String, Refusal> {
        let sql = self.write(expr)?;
        let stands_alone = matches!(
            expr,
            Expr::Identifier(_)
                | Expr::CompoundIdentifier(_)
                | Expr::Nested(_)
                | Expr::Value(_)
                | Expr::TypedString(_)
                | Expr::Function(_)
                | Expr::Case { .. }
                | Expr::Cast { .. }
                | Expr::Ceil { .. }
                | Expr::Floor { .. }
                | Expr::Substring { .. }
                | Expr::Trim { .. }
        );
        Ok(if stands_alone { sql } else { format!("({sql})") })
    }

    fn binary(&self, left: &Expr, op: &BinaryOperator, right: &Expr) -> Result<String, Refusal> {
        let is_chain = matches!(
            (left, op),
            (Expr::BinaryOp { op: BinaryOperator::And, .. }, BinaryOperator::And)
                | (Expr::BinaryOp { op: BinaryOperator::Or, .. }, BinaryOperator::Or)
                | (Expr::BinaryOp { op: BinaryOperator::Plus, .. }, BinaryOperator::Plus)
                | (Expr::BinaryOp { op: BinaryOperator::Multiply, .. }, BinaryOperator::Multiply)
        );
        let left = if is_chain { self.write(left)? } else { self.operand(left)? };
        let right = self.operand(right)?;
        let sign = match op {
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide if N::IS_EXACT => return Ok(self.engine.divide(&left, &right)),
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => return Ok(self.engine.modulo(&left, &right)),
            BinaryOperator::StringConcat => return Ok(self.engine.concat(&left, &right)),
            BinaryOperator::Eq => "=",
            BinaryOperator::NotEq => "<>",
            BinaryOperator::Lt => "<",
            BinaryOperator::LtEq => "<=",
            BinaryOperator::Gt => ">",
            BinaryOperator::GtEq => ">=",
            BinaryOperator::And => "AND",
            BinaryOperator::Or => "OR",
            other => return refuse(format!("the operator `{other}` is not known")),
        };
        Ok(format!("{left} {sign} {right}"))
    }

    fn list(&self, list: &[Expr]) -> Result<String, Refusal> {
        let written: Result<Vec<String>, Refusal> =
            list.iter().map(|expr| self.write(expr)).collect();
        Ok(written?.join(", "))
    }

    fn escape(&self, sql: String, escape: Option<&Expr>) -> Result<String, Refusal> {
        match escape {
            Some(escape) => Ok(format!("{sql} ESCAPE {}", self.operand(escape)?)),
            None => Ok(sql),
        }
    }

    fn value(&self, value: &Value) -> Result<String, Refusal> {
        match value {
            Value::Number(number, false) if is_number(number) => Ok(number.clone()),
            Value::SingleQuotedString(text) => Ok(self.engine.text(text)?),
            Value::Boolean(true) => Ok("TRUE".to_owned()),
            Value::Boolean(false) => Ok("FALSE".to_owned()),
            Value::Null => Ok("NULL".to_owned()),
            _ => refuse("a literal is a number, a text in single quotes, TRUE, FALSE or NULL"),
        }
    }

    fn write_typed_string(&self, typed: &TypedString) -> Result<String, Refusal> {
        let Value::SingleQuotedString(text) = &typed.value.value else {
            return refuse("a date is a text in single quotes");
        };
        let text = self.engine.text(text)?;
        let kind = match typed.data_type {
            DataType::Date => "DATE ",
            DataType::Timestamp(None, _) | DataType::Datetime(None) => "TIMESTAMP ",
            _ => return refuse("a literal with a type is a DATE or a TIMESTAMP"),
        };
        Ok(if *self.engine.dialect == Dialect::Sqlite { text } else { format!("{kind}{text}") })
    }

    fn cast(&self, expr: &Expr, data_type: &DataType) -> Result<String, Refusal> {
        let sql = self.write(expr)?;
        let dialect = self.engine.dialect;
        let is_sqlite = *dialect == Dialect::Sqlite;
        let is_mysql = *dialect == Dialect::Mysql;
        let kind = match data_type {
            // A cast to DATE in SQLite is one to a number.
            DataType::Date if is_sqlite => return Ok(format!("date({sql})")),
            DataType::Timestamp(..) | DataType::Datetime(_) if is_sqlite => {
                return Ok(format!("datetime({sql})"));
            }
            DataType::Date => "DATE".to_owned(),
            DataType::Timestamp(..) | DataType::Datetime(_) if is_mysql => "DATETIME".to_owned(),
            DataType::Timestamp(..) | DataType::Datetime(_) => "TIMESTAMP".to_owned(),
            DataType::Text | DataType::Varchar(_) | DataType::String(_) | DataType::Char(_) => {
                dialect.text_type().to_owned()
            }
            DataType::Int(_)
            | DataType::Integer(_)
            | DataType::BigInt(_)
            | DataType::SmallInt(_)
            | DataType::Int4(_)
            | DataType::Int8(_) => match dialect {
                Dialect::Mysql => "SIGNED".to_owned(),
                Dialect::Sqlite => "INTEGER".to_owned(),
                _ => "BIGINT".to_owned(),
            },
            DataType::Real
            | DataType::Float(_)
            | DataType::Float8
            | DataType::Float4
            | DataType::Double(_)
            | DataType::DoublePrecision => match dialect {
                Dialect::Sqlite => "REAL".to_owned(),
                Dialect::Postgres | Dialect::Ansi => "DOUBLE PRECISION".to_owned(),
                _ => "DOUBLE".to_owned(),
            },
            DataType::Decimal(info) | DataType::Numeric(info) | DataType::Dec(info) => match info {
                ExactNumberInfo::None => "DECIMAL".to_owned(),
                ExactNumberInfo::Precision(precision) => format!("DECIMAL({precision})"),
                ExactNumberInfo::PrecisionAndScale(precision, scale) => {
                    format!("DECIMAL({precision}, {scale})")
                }
            },
            DataType::Boolean | DataType::Bool if !is_mysql => "BOOLEAN".to_owned(),
            other => return refuse(format!("the type `{other}` is not known")),
        };
        Ok(format!("CAST({sql} AS {kind})"))
    }

    fn extract(&self, field: &DateTimeField, expr: &Expr) -> Result<String, Refusal> {
        let sql = self.write(expr)?;
        let (name, format) = match field {
            DateTimeField::Year => ("YEAR", "%Y"),
            DateTimeField::Month => ("MONTH", "%m"),
            DateTimeField::Day => ("DAY", "%d"),
            DateTimeField::Hour => ("HOUR", "%H"),
            DateTimeField::Minute => ("MINUTE", "%M"),
            DateTimeField::Quarter if *self.engine.dialect == Dialect::Sqlite => {
                return Ok(format!("(CAST(strftime('%m', {sql}) AS INTEGER) + 2) / 3"));
            }
            DateTimeField::Quarter => ("QUARTER", ""),
            other => return refuse(format!("the part `{other}` of a date is not known")),
        };
        Ok(if *self.engine.dialect == Dialect::Sqlite {
            format!("CAST(strftime('{format}', {sql}) AS INTEGER)")
        } else {
            format!("EXTRACT({name} FROM {sql})")
        })
    }

    fn trim(
        &self,
        side: Option<&TrimWhereField>,
        what: Option<&Expr>,
        expr: &Expr,
    ) -> Result<String, Refusal> {
        let sql = self.write(expr)?;
        let what = what.map(|what| self.write(what)).transpose()?;
        if *self.engine.dialect == Dialect::Sqlite {
            let name = match side {
                None | Some(TrimWhereField::Both) => "TRIM",
                Some(TrimWhereField::Leading) => "LTRIM",
                Some(TrimWhereField::Trailing) => "RTRIM",
            };
            let what = what.map_or(String::new(), |what| format!(", {what}"));
            return Ok(format!("{name}({sql}{what})"));
        }
        Ok(match (side, what) {
            (None, None) => format!("TRIM({sql})"),
            (side, what) => {
                let side = side.unwrap_or(&TrimWhereField::Both);
                let what = what.map_or(String::new(), |what| format!(" {what}"));
                format!("TRIM({side}{what} FROM {sql})")
            }
        })
    }

    fn function(&self, function: &Function) -> Result<String, Refusal> {
        let Function {
            name,
            uses_odbc_syntax: false,
            parameters: FunctionArguments::None,
            args: FunctionArguments::List(list),
            filter: None,
            null_treatment: None,
            over: None,
            within_group,
        } = function
        else {
            return refuse("a function has plain arguments");
        };
        let [ObjectNamePart::Identifier(Ident { value: name, .. })] = name.0.as_slice() else {
            return refuse("a function has no schema");
        };
        let is_plain = is_word(name)
            && within_group.is_empty()
            && list.duplicate_treatment.is_none()
            && list.clauses.is_empty();
        if !is_plain {
            return refuse("a function has a plain name and plain arguments");
        }
        let arguments: Result<Vec<String>, Refusal> = list
            .args
            .iter()
            .map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => self.write(expr),
                _ => refuse("a function has plain arguments"),
            })
            .collect();
        Ok(format!("{name}({})", arguments?.join(", ")))
    }
}

/// Returns whether the name of a function is one word of ASCII letters, digits and underscores.
fn is_word(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}
