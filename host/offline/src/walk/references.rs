//! References of a table to itself: `the manager of Ada`, `those who report to Ada`.

use super::Walk;
use crate::cues::Cue;
use crate::draft::{Filter, Named};
use crate::found::Found;
use crate::items::What;
use crate::query::{Condition, Expression, LogicalQuery, Operand, Operator};
use crate::schema::ColumnRef;
use crate::token::is_stop;
use crate::words;

/// The rows that are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The row that another refers to.
    Manager,
    /// The rows that refer to another.
    Reports,
}

impl Walk<'_> {
    /// Returns true if the column refers to its own table and the question names a row at one of
    /// its ends, not a number.
    pub(super) fn refers_to_row(&mut self, at: usize, column: ColumnRef) -> bool {
        let item = self.item(at);
        let has_id = self.reading.tokens[item.from..item.to].iter().any(|token| token.stem == "id");
        let Some(key) = self.schema.self_reference(column).filter(|_| !has_id) else {
            return false;
        };
        let found = self
            .find_name_after(at, column.table)
            .or_else(|| self.find_name_before(at, column.table));
        let Some((place, cell, side)) = found else {
            // It cannot be expressed without another copy of the table.
            self.draft.unmet += 1;
            return false;
        };
        self.draft.filters.retain(|filter| filter.item != place);
        let (outer, inner) = if side == Side::Manager { (key, column) } else { (column, key) };
        let mut any = Vec::new();
        let mut next = Some((place, cell));
        while let Some((place, cell)) = next {
            self.used[place] = true;
            any.push(Condition {
                column: cell.column,
                operator: Operator::Equal,
                operand: cell.operand(),
                field: None,
            });
            // `to Ada or Ben`.
            let joined =
                matches!(self.item_content(place + 1), Some(What::Cue(Cue::Or | Cue::And)));
            next = self
                .cell_of(place + 2, column.table)
                .filter(|_| joined)
                .map(|cell| (place + 2, cell));
        }
        let among = LogicalQuery {
            select: vec![Expression::Column(inner)],
            filters: vec![any],
            ..LogicalQuery::default()
        };
        let negated = self.pending.not;
        let condition = Condition {
            column: outer,
            operator: Operator::In,
            operand: Operand::Query(Box::new(among)),
            field: None,
        };
        self.draft.filters.push(Filter { item: at, condition, negated });
        let named =
            Named { item: at, table: column.table, head: self.item(at).head, negated: None };
        self.draft.named.push(named);
        true
    }

    /// Returns true if a verb means the column: `reports to`, `manages`, `hired`, `earn more`.
    pub(super) fn is_verb(&self, at: usize) -> bool {
        let is_reference = self
            .resolver
            .column(at)
            .is_some_and(|column: ColumnRef| self.schema.self_reference(column).is_some());
        (is_reference && self.form(at) != Form::Noun) || self.names_event(at) || self.compares(at)
    }

    /// `earn more than`, `cost exactly`: a verb in the plural before a comparison.
    fn compares(&self, at: usize) -> bool {
        let Some(item) = self.reading.items.get(at) else { return false };
        let next = self.reading.items.get(at + 1).filter(|next| next.from == item.to);
        let is_compared = next
            .is_some_and(|next| matches!(next.what, What::Cue(Cue::Compare(..) | Cue::Between)));
        is_compared
            && item.to == item.from + 1
            && !self.reading.tokens[item.from].lower.ends_with('s')
    }

    /// `manager of X`, `managed by X`, `reports to X`.
    fn find_name_after(&self, at: usize, table: usize) -> Option<(usize, Found, Side)> {
        fn may_stand_between(table: usize, what: &What) -> bool {
            match what {
                What::Table(other) => *other == table,
                What::Cue(Cue::Trigger | Cue::By) => true,
                _ => false,
            }
        }
        let place = (at + 1..self.reading.items.len())
            .find(|next| !may_stand_between(table, &self.item(*next).what))?;
        let cell = self.cell_of(place, table)?;
        let between = self.plain_words_between(at, place)?;
        fn has_any(between: &[&str], words: &[&str]) -> bool {
            between.iter().any(|word| words.contains(word))
        }
        let side = match self.form(at) {
            Form::Noun if has_any(&between, &["of", "for"]) => Side::Manager,
            Form::Noun
                if between.is_empty()
                    || has_any(&between, &["is", "are", "named", "called", "the"]) =>
            {
                Side::Reports
            }
            Form::Noun => return None,
            Form::Verb => Side::Manager,
            Form::Past if has_any(&between, &["by"]) => Side::Reports,
            Form::Past => Side::Manager,
            Form::Report => Side::Reports,
        };
        Some((place, cell, side))
    }

    /// `X's manager`, `X manages`, `does X report to`.
    fn find_name_before(&self, at: usize, table: usize) -> Option<(usize, Found, Side)> {
        let place = at.checked_sub(1)?;
        let cell = self.cell_of(place, table)?;
        let between = self.plain_words_between(place, at)?;
        let side = match self.form(at) {
            Form::Noun if between.is_empty() => Side::Manager,
            Form::Noun if between.iter().any(|word| matches!(*word, "as" | "is")) => Side::Reports,
            Form::Noun => return None,
            Form::Verb => Side::Reports,
            Form::Past | Form::Report => Side::Manager,
        };
        Some((place, cell, side))
    }

    fn cell_of(&self, at: usize, table: usize) -> Option<Found> {
        self.resolver.cell(at).filter(|cell| cell.column.table == table)
    }

    /// The words between two items; `None` if one of them carries meaning of its own.
    fn plain_words_between(&self, from: usize, to: usize) -> Option<Vec<&str>> {
        let between = self.item(from).to..self.item(to).from;
        let named = |at: usize| {
            self.reading.items[from + 1..to].iter().any(|item| (item.from..item.to).contains(&at))
        };
        between
            .clone()
            .all(|at| is_stop(&self.reading.tokens[at]) || named(at))
            .then(|| between.map(|at| self.reading.tokens[at].lower.as_str()).collect())
    }

    fn form(&self, at: usize) -> Form {
        let item = self.item(at);
        let token = &self.reading.tokens[item.to - 1];
        let name = self
            .resolver
            .column(at)
            .map(|column| words::identifier(&self.schema.column(column).name));
        let is_noun =
            name.unwrap_or_default().iter().any(|word| token.lower.starts_with(word.as_str()));
        match () {
            () if self.reading.tokens[item.from].stem == "report" => Form::Report,
            () if is_noun => Form::Noun,
            () if token.is_past() => Form::Past,
            () => Form::Verb,
        }
    }
}

/// The form of words for a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A noun, such as `manager`.
    Noun,
    /// An active verb, such as `manages`.
    Verb,
    /// A participle, such as `managed`.
    Past,
    /// `reports to`, from the other end.
    Report,
}
