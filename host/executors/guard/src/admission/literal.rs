//! Names and literals, written so that they can be read in one way only. The parser's own output of
//! a text with quotes and backslashes can end the text early, so each is spelled here and given to
//! the parser's tree as a token that it writes as it is.

use sqlparser::ast::{Ident, ObjectName, ObjectNamePart, Value, ValueWithSpan};
use sqlparser::tokenizer::Span;
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;
use super::rules::Names;

impl Walk<'_> {
    /// Quotes a name, folded as the server folds it.
    pub(super) fn quote_ident(&self, ident: &mut Ident) -> Result<(), SqlError> {
        let Ident { value, quote_style, span } = ident;
        let quote = match (self.rules.names, *quote_style) {
            (Names::Folded, None) => {
                value.make_ascii_lowercase();
                if !value.is_ascii() {
                    *value = value.to_lowercase();
                }
                '"'
            }
            (Names::Folded, Some('"')) => '"',
            (Names::Folded, Some(_)) => return Err(self.name_error(value, *span)),
            (Names::Plain(_), None) => return self.check_plain_name(value, *span),
            (Names::Quoted(quote), None | Some('"' | '`' | '['))
            | (Names::Plain(quote), Some('"' | '`')) => quote,
            (Names::Quoted(_) | Names::Plain(_), Some(_)) => {
                return Err(self.name_error(value, *span));
            }
        };
        // The parser's output takes these for quotes that are escaped already.
        let is_odd = value.as_bytes().windows(2).any(|pair: &[u8]| {
            char::from(pair[1]) == quote && (pair[0] == b'\\' || pair[0] == pair[1])
        }) || value.contains(['\0'])
            || value.contains("${");
        if is_odd || value.is_empty() {
            return Err(self.name_error(value, *span));
        }
        *quote_style = Some(quote);
        Ok(())
    }

    /// A name that stays without quotes, since the engine may fold it in either direction.
    fn check_plain_name(&self, name: &str, span: Span) -> Result<(), SqlError> {
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_value = self.rules.values.binary_search(&name.to_ascii_lowercase().as_str()).is_ok();
        if is_word && !is_value { Ok(()) } else { Err(self.name_error(name, span)) }
    }

    /// A name that stands alone where a column may stand.
    pub(super) fn admit_column(&self, ident: &mut Ident) -> Result<(), SqlError> {
        let is_value =
            self.rules.values.binary_search(&ident.value.to_ascii_lowercase().as_str()).is_ok();
        let is_parameter =
            self.parameters.iter().any(|parameter| parameter.eq_ignore_ascii_case(&ident.value));
        if is_value && !is_parameter {
            let shown = syrch_core::text::clip(&ident.value, 64);
            let message = format!(
                "`{shown}` is refused: it may mean a value of the session; for a column write the \
                 table before it"
            );
            return Err(self.refuse(
                SqlErrorKind::FunctionRefused,
                "function",
                message,
                ident.span,
            ));
        }
        self.quote_ident(ident)
    }

    pub(super) fn quote_idents(&self, idents: &mut [Ident]) -> Result<(), SqlError> {
        idents.iter_mut().try_for_each(|ident| self.quote_ident(ident))
    }

    fn name_error(&self, name: &str, span: Span) -> SqlError {
        let message = format!(
            "the name `{}` is refused: it cannot be quoted",
            syrch_core::text::clip(name, 64)
        );
        self.refuse(SqlErrorKind::Denied, "name", message, span)
    }

    /// Quotes every part of a name, and returns the parts.
    pub(super) fn admit_object_name<'n>(
        &self,
        name: &'n mut ObjectName,
    ) -> Result<Vec<&'n str>, SqlError> {
        let ObjectName(parts) = name;
        let mut names = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                ObjectNamePart::Identifier(ident) => {
                    self.quote_ident(ident)?;
                    names.push(ident.value.as_str());
                }
                ObjectNamePart::Function(function) => {
                    return Err(self.name_error(&function.to_string(), Span::empty()));
                }
            }
        }
        Ok(names)
    }

    /// Checks a literal, and spells a text so that no quote or backslash in it can be read
    /// otherwise.
    pub(super) fn admit_value(&self, value: &mut ValueWithSpan) -> Result<(), SqlError> {
        let ValueWithSpan { value, span } = value;
        let text = match value {
            Value::Number(digits, is_long) => {
                let is_plain = digits
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-'));
                return if *is_long || !is_plain { Err(self.literal_error(*span)) } else { Ok(()) };
            }
            Value::Boolean(_) | Value::Null => return Ok(()),
            Value::HexStringLiteral(digits) | Value::SingleQuotedByteStringLiteral(digits) => {
                let is_plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                return if is_plain && self.rules.is_hex_text {
                    Ok(())
                } else {
                    Err(self.literal_error(*span))
                };
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
            | Value::Placeholder(_) => return Err(self.literal_error(*span)),
        };
        *value = match self.literal_value(&text) {
            Some(spelled) => spelled,
            None => return Err(self.literal_error(*span)),
        };
        Ok(())
    }

    /// A text as the parser's tree writes it without a change.
    pub(super) fn literal_value(&self, text: &str) -> Option<Value> {
        (!text.contains('\0')).then(|| (self.rules.text)(text)).flatten().map(Value::Placeholder)
    }

    fn literal_error(&self, span: Span) -> SqlError {
        self.refuse(
            SqlErrorKind::Denied,
            "literal",
            "a literal of this form is refused: write a number or a text",
            span,
        )
    }
}

/// `'…'`, or `E'…'` if there is a quote or a backslash in the text: it has an escape for each.
pub(super) fn quote_with_prefix(text: &str) -> Option<String> {
    Some(match text.contains(['\'', '\\']) {
        true => Value::EscapedStringLiteral(text.to_owned()).to_string(),
        false => format!("'{text}'"),
    })
}

/// `'…'`, in which a quote is doubled and a backslash stands for itself.
pub(super) fn quote_with_doubling(text: &str) -> Option<String> {
    Some(format!("'{}'", text.replace('\'', "''")))
}

/// `'…'` with a backslash before quotes and backslashes. Spark replaces `${…}` by settings and
/// variables of its process, in texts too.
pub(super) fn quote_with_escapes(text: &str) -> Option<String> {
    (!text.contains("${")).then(|| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")))
}

/// Writes a text in the quotes that it does not hold: three quotes in a row would begin a text of
/// another kind.
pub(super) fn either_quote(text: &str) -> Option<String> {
    let quote = if text.contains('\'') { '"' } else { '\'' };
    (!text.contains(quote) && !text.contains(['\n', '\r'])).then(|| format!("{quote}{text}{quote}"))
}
