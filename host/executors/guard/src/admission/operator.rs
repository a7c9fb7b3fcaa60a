//! The operators that statements may use in each dialect.

use sqlparser::ast::{BinaryOperator, Expr, UnaryOperator, Value};
use sqlparser::tokenizer::Span;
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;
use super::rules::Form;
use crate::read::POWER;

/// Operators in letters that the parser does not know by name: differences and distances.
const CUSTOM: &[&str] = &["<->", "-|-", "@?", "!~~", "!~~*"];

impl Walk<'_> {
    pub(super) fn admit_unary(
        &mut self,
        op: UnaryOperator,
        expr: &mut Box<Expr>,
    ) -> Result<(), SqlError> {
        match op {
            UnaryOperator::Plus
            | UnaryOperator::Minus
            | UnaryOperator::Not
            | UnaryOperator::BitwiseNot => {}
            UnaryOperator::PGAbs | UnaryOperator::PGCubeRoot | UnaryOperator::PGSquareRoot
                if self.rules.has(Form::PostgresOperators) => {}
            UnaryOperator::BangNot if self.rules.has(Form::Rlike) => {}
            UnaryOperator::PGAbs
            | UnaryOperator::PGCubeRoot
            | UnaryOperator::PGSquareRoot
            | UnaryOperator::AtDashAt
            | UnaryOperator::BangNot
            | UnaryOperator::DoubleAt
            | UnaryOperator::Hash
            | UnaryOperator::PGPostfixFactorial
            | UnaryOperator::PGPrefixFactorial
            | UnaryOperator::QuestionDash
            | UnaryOperator::QuestionPipe => return Err(self.operator_error(&op.to_string())),
        }
        self.admit_expr(expr)?;
        // `- -1` would be written as `--1`, which begins a comment, and other pairs as one
        // operator.
        let begins = expr.to_string();
        if begins.starts_with(|first: char| {
            !first.is_alphanumeric() && !matches!(first, '(' | '\'' | '"' | '`' | '_' | '[' | '{')
        }) {
            let inner = std::mem::replace(&mut **expr, Expr::Value(Value::Null.with_empty_span()));
            **expr = Expr::Nested(Box::new(inner));
        }
        Ok(())
    }

    pub(super) fn admit_operator(&self, op: &BinaryOperator) -> Result<(), SqlError> {
        use BinaryOperator as B;
        let is_listed = match op {
            B::Plus
            | B::Minus
            | B::Multiply
            | B::Divide
            | B::Modulo
            | B::StringConcat
            | B::Gt
            | B::Lt
            | B::GtEq
            | B::LtEq
            | B::Eq
            | B::NotEq
            | B::And
            | B::Or
            | B::BitwiseOr
            | B::BitwiseAnd
            | B::Overlaps => true,
            B::PGBitwiseShiftLeft | B::PGBitwiseShiftRight => !self.rules.has(Form::Spaceship),
            B::BitwiseXor if self.rules.has(Form::Power) => true,
            B::BitwiseXor | B::Spaceship => self.rules.has(Form::Spaceship),
            B::DuckIntegerDivide | B::MyIntegerDivide => self.rules.has(Form::IntegerDivide),
            B::Arrow | B::LongArrow => self.rules.has(Form::JsonOperators),
            B::PGRegexMatch | B::PGRegexNotMatch => self.rules.has(Form::RegexOperators),
            B::PGBitwiseXor
            | B::PGExp
            | B::PGOverlap
            | B::PGRegexIMatch
            | B::PGRegexNotIMatch
            | B::PGLikeMatch
            | B::PGILikeMatch
            | B::PGNotLikeMatch
            | B::PGNotILikeMatch
            | B::PGStartsWith
            | B::HashArrow
            | B::HashLongArrow
            | B::AtAt
            | B::AtArrow
            | B::ArrowAt
            | B::HashMinus
            | B::AtQuestion
            | B::Question
            | B::QuestionAnd
            | B::QuestionPipe
            | B::LtDashGt
            | B::AndLt
            | B::AndGt => self.rules.has(Form::PostgresOperators),
            B::Custom(name) if name == POWER => self.rules.has(Form::Power),
            B::Glob => self.rules.has(Form::Glob),
            B::Custom(name) => {
                self.rules.has(Form::PostgresOperators) && CUSTOM.contains(&name.as_str())
            }
            B::PGCustomBinaryOperator(_)
            | B::Xor
            | B::Match
            | B::Regexp
            | B::DoubleHash
            | B::LtLtPipe
            | B::PipeGtGt
            | B::AndLtPipe
            | B::PipeAndGt
            | B::LtCaret
            | B::GtCaret
            | B::QuestionHash
            | B::QuestionDash
            | B::QuestionDashPipe
            | B::QuestionDoublePipe
            | B::At
            | B::TildeEq
            | B::Assignment => false,
        };
        if is_listed { Ok(()) } else { Err(self.operator_error(&op.to_string())) }
    }

    fn operator_error(&self, shown: &str) -> SqlError {
        let message = format!(
            "operator `{}` is refused: it is not among those that statements may use",
            syrch_core::text::clip(shown, 64)
        );
        self.refuse(SqlErrorKind::Denied, "operator", message, Span::empty())
    }
}
