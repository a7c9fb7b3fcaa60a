//! Several counts in one question: `how many are open and how many are paid`.

use super::Walk;
use crate::cues::Cue;
use crate::draft::Key;
use crate::items::What;
use crate::query::{Operand, Operator};

impl Walk<'_> {
    /// Counts the rows of each value by itself where the question has a count for each, or `each`
    /// at its end; other counts after the first, of the same rows, are not expressed.
    pub(super) fn count_several(&mut self) {
        let counts: Vec<usize> = (0..self.reading.items.len())
            .filter(|at| self.item(*at).head && self.item(*at).what == What::Cue(Cue::Count))
            .collect();
        let table = self.draft.counted.first().and_then(|counted| counted.table);
        let mut others = self.draft.counted.iter().skip(1);
        let is_of_same = others.all(|other| other.table.is_none() || other.table == table);
        let is_denied = !self.draft.negations.is_empty();
        let each = self.ends_with_each();
        let is_each = each && counts.len() == 1 && self.draft.filters.len() > 1;
        // A count without a condition of its own repeats the one before: `count the number of`.
        let mut later = counts.iter().skip(1);
        let is_several = later.any(|count| self.draft.filters.iter().any(|one| one.item > *count));
        if self.draft.counted.is_empty() || !is_of_same || !(is_several || is_each) {
            return;
        }
        let ends = counts.iter().skip(1).copied().chain([self.reading.items.len()]);
        let is_one_each = is_each
            || counts.iter().zip(ends).all(|(from, to)| {
                let parts = self.draft.filters.iter().map(|filter| filter.item);
                parts.filter(|item| (*from..to).contains(item)).count() == 1
            });
        let Some(first) = self.draft.filters.first() else { return };
        let column = first.condition.column;
        let is_plain = self.draft.asked.is_empty()
            && self.draft.keys.is_empty()
            && self.draft.best.is_none()
            && self.draft.having.is_none();
        let are_values = self.draft.filters.iter().all(|filter| {
            filter.condition.column == column
                && filter.condition.operator == Operator::Equal
                && filter.condition.field.is_none()
                && matches!(
                    filter.condition.operand,
                    Operand::Text(_) | Operand::Texts(_) | Operand::Number(_)
                )
        });
        if is_one_each && is_plain && !is_denied && are_values {
            self.draft.counted.truncate(1);
            self.draft.keys.push(Key::Column(column));
            self.draft.split = Some(column);
        } else {
            self.draft.unmet += 1;
        }
    }
}
