//! Times: the column that a year, a month or a day is compared with where none stands before it.

use super::Walk;
use crate::cues::Cue;
use crate::draft::Key;
use crate::items::What;
use crate::lexicon;
use crate::query::Operand;
use crate::schema::{ColumnRef, Holds, Span};

impl Walk<'_> {
    /// The column of the time just before, else of the verb that says what happened, else of the
    /// tables that the question names.
    pub(super) fn take_dates(&mut self, at: usize, span: Span) -> Option<ColumnRef> {
        // `by May 2024` ends a span that no rule expresses.
        let before = self.item(at).from.checked_sub(1).map(|before| &self.reading.tokens[before]);
        fn is_end(word: &str) -> bool {
            matches!(word, "by" | "until" | "till")
        }
        let ends = before.is_some_and(|token| is_end(&token.lower));
        let found = self
            .dates_of_condition_before(at)
            .or_else(|| self.take_happened(at))
            .or_else(|| self.resolver.find_dates(&self.tables_with(at), span));
        let is_other = found.is_some() && self.follows_other_time(at);
        self.draft.unmet += usize::from(ends || is_other);
        found
    }

    /// Returns true if the column just before says when something is and holds no dates: the
    /// `arrival` of `with arrival in July` has no time of another column, nor has `posted in 2024`.
    fn follows_other_time(&self, at: usize) -> bool {
        fn is_small(what: &What) -> bool {
            matches!(
                what,
                What::Months(..)
                    | What::Cue(Cue::Trigger | Cue::Compare(..) | Cue::Between | Cue::Not)
            )
        }
        let Some(named) = (0..at).rev().find(|item| !is_small(&self.item(*item).what)) else {
            return false;
        };
        let Some(column) = self.resolver.column(named) else { return false };
        let first = self.item(named).from;
        let word = |back: usize| {
            first.checked_sub(back).map_or("", |at| self.reading.tokens[at].lower.as_str())
        };
        let is_article = matches!(word(1), "a" | "an" | "the" | "their" | "its");
        let before = word(1 + usize::from(is_article));
        let is_had =
            matches!(before, "with" | "whose" | "has" | "have" | "had" | "having" | "that");
        let is_key = self.draft.keys.contains(&Key::Column(column));
        let says_when = is_had || self.reading.tokens[first].is_event();
        self.schema.column(column).holds == Holds::Text && !is_key && says_when
    }

    /// `after 2022 and before 2024`: the column of dates of the condition before.
    fn dates_of_condition_before(&self, at: usize) -> Option<ColumnRef> {
        let last = self.draft.filters.last()?;
        fn is_joining_cue(what: &What) -> bool {
            matches!(
                what,
                What::Cue(Cue::And | Cue::Or | Cue::Comma | Cue::Compare(..) | Cue::Trigger)
            )
        }
        let column = last.condition.column;
        let is_time = self.schema.column(column).holds == Holds::Time
            && last.condition.operand != Operand::Null;
        let between = self.reading.items.get(last.item + 1..at)?;
        (is_time && between.iter().all(|item| is_joining_cue(&item.what))).then_some(column)
    }

    /// The column of dates that a verb names: `shipped` in `orders shipped to Spain in 2024`, and
    /// in `In 2024, how many orders were shipped`.
    fn take_happened(&mut self, at: usize) -> Option<ColumnRef> {
        let before = (0..at).rev().find(|verb| self.is_free_event(*verb));
        let opens = self.item(at).from <= 2;
        let after = || {
            let mut items = at + 1..self.reading.items.len();
            items.find(|verb| opens && self.is_free_event(*verb))
        };
        let verb = before.or_else(after)?;
        // `employees hired by Ada with orders in 2024`.
        if (verb + 1..at).any(|item: usize| match self.item(item).what {
            What::Table(table) => {
                !self.is_agent(item) && self.schema.times(table, Span::Day).is_some()
            }
            _ => false,
        }) {
            return None;
        }
        let column = self.resolver.column(verb)?;
        self.draft.asked.retain(|asked| asked.item != verb);
        self.used[verb] = true;
        Some(column)
    }

    /// Returns true if an item is a verb that names a column of dates with which no time is
    /// compared yet.
    fn is_free_event(&self, at: usize) -> bool {
        let Some(column) = self.resolver.column(at).filter(|_| self.names_event(at)) else {
            return false;
        };
        let is_compared = self.draft.filters.iter().any(|filter| filter.condition.column == column);
        let item = self.item(at);
        // `List the title and published` asks for it.
        let is_asked = item.head && self.reading.tokens[item.from].is_participle();
        !is_asked && !is_compared
    }

    /// Returns true if an item is a verb that names a column of dates: `hired`, `signed up`.
    pub(super) fn names_event(&self, at: usize) -> bool {
        let Some(column) = self.resolver.column(at) else { return false };
        let item = self.item(at);
        let is_verb = match &self.reading.tokens[item.from..item.to] {
            [verb] => verb.is_event(),
            [verb, next] => verb.is_event() && lexicon::PARTICLES.contains(&next.lower.as_str()),
            _ => false,
        };
        is_verb && self.schema.column(column).holds == Holds::Time
    }

    /// The tables that may say when, the likeliest first: those of which the question says
    /// something, then those that do something, then those of its other columns.
    fn tables_with(&self, at: usize) -> Vec<usize> {
        let mut named = Vec::new();
        let mut agents = Vec::new();
        let mut others = Vec::new();
        // `the 2024 orders`.
        if let Some(What::Table(table)) = self.item_content(at + 1)
            && self.item(at + 1).from == self.item(at).to
        {
            named.push(*table);
        }
        for before in (0..at).rev() {
            match &self.item(before).what {
                What::Table(table) if self.is_agent(before) => agents.push(*table),
                What::Table(table) => named.push(*table),
                What::Column(_) => {
                    let table = self.resolver.column(before).map(|column| column.table);
                    let is_measured = before.checked_sub(1).is_some_and(|cue| {
                        matches!(
                            self.item(cue).what,
                            What::Cue(Cue::Aggregate(_) | Cue::Superlative(_) | Cue::Count)
                        )
                    });
                    if is_measured { named.extend(table) } else { others.extend(table) }
                }
                _ => {}
            }
        }
        named.extend(self.resolver.main());
        named.extend(agents);
        named.extend(others);
        named
    }

    /// Returns true if a table does something or is where something is, and nothing happens to
    /// it: `written by customers`, `do customers write`.
    fn is_agent(&self, at: usize) -> bool {
        fn is_small_word(word: &str) -> bool {
            matches!(word, "the" | "all" | "any" | "a" | "an" | "our")
        }
        let tokens = self.reading.tokens[..self.item(at).from].iter().enumerate().rev();
        let mut before = tokens.map(|(at, token)| (at, token.lower.as_str()));
        let Some((place, word)) = before.find(|one| !is_small_word(one.1)) else { return false };
        // The word of `number of` belongs to the count.
        let is_in_cue = self.reading.items[..at].iter().any(|item| {
            let is_plain = matches!(item.what, What::Cue(Cue::Trigger | Cue::By | Cue::Request));
            (item.from..item.to).contains(&place) && !is_plain
        });
        let says = matches!(
            word,
            "by" | "from" | "of" | "for" | "to" | "in" | "at" | "do" | "does" | "did"
        );
        says && !is_in_cue
    }
}
