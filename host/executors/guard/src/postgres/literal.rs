//! Names and literals, written so that they can be read in one way only. The parser's own output of a text with quotes and backslashes can end
//! the text early.

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart, Value, ValueWithSpan};
use sqlparser::tokenizer::Span;
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;

impl Walk<'_> {
    /// Quotes a name, folded as the server folds it.
    pub(super) fn ident(&self, ident: &mut Ident) -> Result<(), SqlError> {
        let Ident { value, quote_style, span } = ident;
        match quote_style {
            None => *value = value.to_lowercase(),
            Some('"') => {}
            Some(_) => return Err(self.name_refused(value, *span)),
        }
        // The parser's output takes these for quotes that are escaped already.
        if value.contains("\"\"") || value.contains("\\\"") || value.is_empty() {
            return Err(self.name_refused(value, *span));
        }
        *quote_style = Some('"');
        Ok(())
    }

    pub(super) fn idents(&self, idents: &mut [Ident]) -> Result<(), SqlError> {
        idents.iter_mut().try_for_each(|ident| self.ident(ident))
    }

    fn name_refused(&self, name: &str, span: Span) -> SqlError {
        let message = format!("the name `{}` is refused: it cannot be quoted", syrch_core::text::clip(name, 64));
        self.refuse(SqlErrorKind::Denied, "name", message, span)
    }

    /// Quotes every part of a name, and returns the parts.
    pub(super) fn object_name<'n>(&self, name: &'n mut ObjectName) -> Result<Vec<&'n str>, SqlError> {
        let ObjectName(parts) = name;
        let shown = parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        let mut names = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                ObjectNamePart::Identifier(ident) => {
                    self.ident(ident)?;
                    names.push(ident.value.as_str());
                }
                ObjectNamePart::Function(_) => return Err(self.name_refused(&shown, Span::empty())),
            }
        }
        Ok(names)
    }

    /// Checks a literal, and spells a text so that no quote or backslash in it can be read otherwise.
    pub(super) fn value(&self, value: &mut ValueWithSpan) -> Result<(), SqlError> {
        let ValueWithSpan { value, span } = value;
        let text = match value {
            Value::Number(digits, is_long) => {
                let is_plain = digits.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-'));
                return if *is_long || !is_plain { Err(self.literal_refused(*span)) } else { Ok(()) };
            }
            Value::Boolean(_) | Value::Null => return Ok(()),
            Value::HexStringLiteral(digits) | Value::SingleQuotedByteStringLiteral(digits) => {
                let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                return if is_plain { Ok(()) } else { Err(self.literal_refused(*span)) };
            }
            Value::SingleQuotedString(text)
            | Value::EscapedStringLiteral(text)
            | Value::UnicodeStringLiteral(text)
            | Value::NationalStringLiteral(text) => std::mem::take(text),
            Value::DollarQuotedString(quoted) => std::mem::take(&mut quoted.value),
            Value::TripleSingleQuotedString(_)
            | Value::TripleDoubleQuotedString(_)
            | Value::DoubleQuotedByteStringLiteral(_)
            | Value::TripleSingleQuotedByteStringLiteral(_)
            | Value::TripleDoubleQuotedByteStringLiteral(_)
            | Value::SingleQuotedRawStringLiteral(_)
            | Value::DoubleQuotedRawStringLiteral(_)
            | Value::TripleSingleQuotedRawStringLiteral(_)
            | Value::TripleDoubleQuotedRawStringLiteral(_)
            | Value::QuoteDelimitedStringLiteral(_)
            | Value::NationalQuoteDelimitedStringLiteral(_)
            | Value::DoubleQuotedString(_)
            | Value::Placeholder(_) => return Err(self.literal_refused(*span)),
        };
        if text.contains('\0') {
            return Err(self.literal_refused(*span));
        }
        // E'…' has an escape for each of these, and the parser's output of it is exact.
        *value = match text.contains(['\'', '\\']) {
            true => Value::EscapedStringLiteral(text),
            false => Value::SingleQuotedString(text),
        };
        Ok(())
    }

    fn literal_refused(&self, span: Span) -> SqlError {
        self.refuse(
            SqlErrorKind::Denied,
            "literal",
            "a literal of this form is refused: write a number or a text",
            span,
        )
    }
}
