//! The walk over expressions: what their names mean, and what values they may have.

use sqlparser::ast::{Expr, Ident, ObjectName, Value, ValueWithSpan};
use sqlparser::tokenizer::Span;
use syrch_core::text::{clip, nearest};
use syrch_core::{SqlError, SqlErrorKind};

use super::Walk;
use super::kind::Kind;
use super::parts::parts;
use super::query::Purpose;
use super::scope::parts_of;

/// Columns that every table of PostgreSQL has and that hold where and when a row was stored.
const SYSTEM: [&str; 6] = ["cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"];

/// Words that PostgreSQL reads as the time of day where a text becomes a date or a time.
const TIMES: [&str; 4] = ["now", "today", "tomorrow", "yesterday"];

impl Walk<'_> {
    pub(super) fn expr(&mut self, expr: &mut Expr) -> Result<Kind, SqlError> {
        let depth = self.scopes.len();
        let scope = self.scopes.last_mut();
        let is_key = |scope: &super::scope::Scope| {
            scope.determined.as_ref().is_some_and(|determined| determined.exprs.contains(expr))
        };
        // Within a key of the groups, columns need not be determined one by one.
        let set_aside =
            scope.filter(|scope| is_key(scope)).and_then(|scope| scope.determined.take());
        let kind = self.whole(expr);
        if let Some(determined) = set_aside
            && let Some(scope) = self.scopes.get_mut(depth - 1)
        {
            scope.determined = Some(determined);
        }
        kind
    }

    fn whole(&mut self, expr: &mut Expr) -> Result<Kind, SqlError> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => return self.name(expr),
            Expr::Function(function) => return self.call(function),
            Expr::Collate { expr: _, collation } => self.collation(collation)?,
            Expr::Value(value) => self.literal(value)?,
            Expr::TypedString(text) => self.literal(&text.value)?,
            _ => {}
        }
        let is_value = matches!(expr, Expr::Subquery(_));
        let Some(parts) = parts(expr) else {
            let shown = expr.to_string();
            return Err(self.refuse(
                "clause",
                &shown,
                "is refused: write it another way",
                Span::empty(),
            ));
        };
        let mut kinds = Vec::with_capacity(parts.exprs.len());
        for part in parts.exprs {
            kinds.push(self.expr(part)?);
        }
        for query in parts.queries {
            let columns =
                self.query(query, if is_value { Purpose::Value } else { Purpose::Rows })?;
            kinds.push(columns.list.first().map_or(Kind::ANY, |column| column.kind));
        }
        Ok(Kind::for_expr(expr, &kinds))
    }

    /// A name that stands where a column may stand.
    fn name(&mut self, expr: &mut Expr) -> Result<Kind, SqlError> {
        let idents: &[Ident] = match expr {
            Expr::Identifier(ident) => std::slice::from_ref(ident),
            Expr::CompoundIdentifier(idents) => idents,
            _ => return Ok(Kind::ANY),
        };
        let Some(last) = idents.last() else { return Ok(Kind::ANY) };
        let span = last.span;
        if !self.is_sqlite {
            let lower = last.value.to_lowercase();
            return match SYSTEM.contains(&lower.as_str()) {
                true => Err(self.refuse(
                    "system-column",
                    &last.value,
                    "is refused: it tells where a row is stored",
                    span,
                )),
                false => Ok(Kind::ANY),
            };
        }
        let Some((qualifier, name)) = parts_of(idents) else {
            let shown = expr.to_string();
            return Err(self.refuse(
                "name",
                &shown,
                "is refused: write at most a table and a column",
                span,
            ));
        };
        for depth in (0..self.scopes.len()).rev() {
            if let Some((id, kind, _)) = self.scopes[depth].find(qualifier, name) {
                let name = name.to_owned();
                return self.record_use(depth, id, &name, span).map(|()| kind);
            }
            if qualifier.is_none()
                && let Some(alias) = self.scopes[depth].alias(name)
            {
                return self.alias_kind(depth, alias);
            }
        }
        // SQLite would read such a name as a text, as it reads views: in a statement it is a column
        // that does not exist.
        Err(self.unknown(name, span))
    }

    fn record_use(
        &mut self,
        depth: usize,
        id: super::scope::Id,
        name: &str,
        span: Span,
    ) -> Result<(), SqlError> {
        let scope = &mut self.scopes[depth];
        scope.uses += 1;
        let is_bare = scope.aggregates == 0
            && scope.determined.as_ref().is_some_and(|determined| !determined.has(id));
        if is_bare { Err(self.bare(name, span)) } else { Ok(()) }
    }

    fn unknown(&self, name: &str, span: Span) -> SqlError {
        let mut error = SqlError::new(
            SqlErrorKind::UnknownColumn,
            format!("no such column `{}`", clip(name, 64)),
        );
        let known = self
            .scopes
            .iter()
            .flat_map(|scope| &scope.sources)
            .flat_map(|source| &source.columns.list);
        error.position = self.places.byte(span.start);
        error.rule("column").suggest(nearest(name, known.map(|column| column.name.as_str())))
    }

    fn collation(&self, collation: &ObjectName) -> Result<(), SqlError> {
        let shown = collation.to_string();
        if !self.is_sqlite
            || shown.trim_matches(['"', '`', '[', ']']).eq_ignore_ascii_case("binary")
        {
            return Ok(());
        }
        let why = "is refused as a collation: to it texts that differ are equal, and which of them \
                   is shown depends on the plan";
        Err(self.refuse("collation", &shown, why, Span::empty()))
    }

    /// Refuses a text that PostgreSQL may read as the time of day.
    fn literal(&self, value: &ValueWithSpan) -> Result<(), SqlError> {
        let text = match &value.value {
            Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text)
                if !self.is_sqlite =>
            {
                text
            }
            _ => return Ok(()),
        };
        let words =
            text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.take(8).map(str::to_lowercase).collect();
        let is_short =
            words.iter().filter(|word| word.chars().all(char::is_alphabetic)).count() <= 2;
        match words.iter().find(|word| is_short && TIMES.contains(&word.as_str())) {
            Some(word) => {
                let why =
                    "is refused in a text: where the text becomes a time, it is the time of day";
                Err(self.refuse("clock", word, why, value.span))
            }
            None => Ok(()),
        }
    }
}
