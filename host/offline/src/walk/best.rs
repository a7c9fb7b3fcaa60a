//! Superlatives without a measure: `the biggest customer`.

use super::Walk;
use crate::cues::Cue;
use crate::draft::{Measure, Unmeasured};
use crate::items::What;
use crate::joins;
use crate::lexicon;
use crate::query::{Expression, Function};
use crate::schema::Holds;
use crate::words;

impl Walk<'_> {
    /// Finds the best rows by a measure; there is one only.
    pub(super) fn best_by(&mut self, measure: Measure, up: bool) {
        let other =
            self.draft.best.replace((measure, up)).is_some_and(|known| known != (measure, up));
        self.draft.unmet += usize::from(other);
    }

    /// The best row of a table, by the one column that such a word measures, or by a measure that
    /// follows.
    pub(super) fn best_of(&mut self, at: usize, table: usize, up: bool) {
        let is_cue = |item: &usize| {
            matches!(
                self.item(*item).what,
                What::Cue(Cue::Superlative(_) | Cue::Top(_) | Cue::Frequent(_))
            )
        };
        let item = (0..=at)
            .rev()
            .find(is_cue)
            .or_else(|| (at..self.reading.items.len()).find(is_cue))
            .unwrap_or(at);
        let word = &self.reading.tokens[self.item(item).from].lower;
        let of = lexicon::extent(word);
        let mut fits = self.schema.measures(table).filter(|column| {
            let view = self.schema.column(*column);
            of.iter().any(|word| view.required.contains(&words::stem(word)))
        });
        match fits.next().filter(|_| fits.next().is_none()) {
            Some(column) => self.best_by(Measure::Column(column), up),
            None => self.draft.unmeasured = Some(Unmeasured { item, to: at.max(item), table, up }),
        }
    }

    /// Returns true if the next item says where something is frequent, and not what is frequent:
    /// `most common among customers`.
    pub(super) fn is_within_next(&self, at: usize) -> bool {
        let from = self.item(at).to;
        let to = self.reading.items.get(at + 1).map_or(from, |next| next.from.max(from));
        let between = self.reading.tokens.get(from..to).unwrap_or_default();
        between.iter().any(|token| lexicon::WITHIN.contains(&token.lower.as_str()))
    }

    /// Rows of a table that others judge, such as products with ratings in reviews, are compared by
    /// the average of the ratings.
    pub(super) fn average_judgements(&mut self) {
        let Some((Measure::Column(column), up)) = self.draft.best else { return };
        let judged = self.draft.named.iter().find(|named| named.head).map(|named| named.table);
        let several = |table: usize| {
            joins::repeats_rows(self.schema, &[table, column.table], table, &|_| 0.0)
        };
        let stems = &self.schema.column(column).required;
        let judges = lexicon::JUDGEMENTS.iter().any(|word| stems.contains(&words::stem(word)));
        if judges && judged.is_some_and(|table| table != column.table && several(table)) {
            self.draft.best = Some((Measure::Aggregate(Function::Avg, column), up));
        }
    }

    /// Returns true if this item is the measure of an earlier superlative: `the biggest customer by
    /// revenue`.
    pub(super) fn says_measure(&self, at: usize) -> bool {
        let Some(open) = self.draft.unmeasured else { return false };
        let between = self.reading.items.get(open.to + 1..at).unwrap_or_default();
        fn is_ordering_cue(what: &What) -> bool {
            matches!(what, What::Cue(Cue::By | Cue::OrderBy))
        }
        fn is_skipped_cue(what: &What) -> bool {
            matches!(what, What::Cue(Cue::Count | Cue::Aggregate(_) | Cue::Trigger))
        }
        between.iter().any(|item| is_ordering_cue(&item.what))
            && between.iter().all(|item| is_ordering_cue(&item.what) || is_skipped_cue(&item.what))
    }

    pub(super) fn set_measure(&mut self, measure: Measure) {
        if let Some(open) = self.draft.unmeasured.take() {
            self.best_by(measure, open.up);
            self.pending.each = false;
            self.pending.ordering = false;
        }
    }

    /// `top 3 customers`, where nothing is asked for that could be compared.
    pub(super) fn is_top_of_nothing(&self) -> bool {
        let is_top =
            self.reading.items.iter().any(|item| matches!(item.what, What::Cue(Cue::Top(_))));
        let compares = self.draft.asked.iter().any(|asked| match asked.expression {
            Expression::Column(column) => self.schema.column(column).holds == Holds::Number,
            _ => true,
        });
        is_top
            && !compares
            && self.draft.best.is_none()
            && self.draft.orders.is_empty()
            && self.draft.counted.is_empty()
            && self.draft.unmeasured.is_none()
    }
}
