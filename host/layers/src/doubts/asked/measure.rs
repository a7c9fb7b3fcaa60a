//! A measure where a thing is asked for: `the most populous state` is a state, and not
//! `MAX(population)`.

use std::collections::HashSet;

use syrch_core::ports::{ColumnName, Selected};
use syrch_core::{Doubt, DoubtKind, Value};
use syrch_words::stem;

use super::super::kinds::Stored;
use super::Asked;
use super::question::stems;

/// Words that begin a superlative of two words.
pub(super) const MOST: &[&str] = &["fewest", "least", "most"];
/// Superlatives of one word.
pub(super) const SUPERLATIVES: &[&str] = &[
    "biggest", "cheapest", "earliest", "fastest", "greatest", "heaviest", "highest", "largest",
    "latest", "lightest", "longest", "lowest", "newest", "oldest", "poorest", "richest",
    "shortest", "slowest", "smallest", "tallest", "youngest",
];
/// Words that ask for the measure itself.
const MEASURES: &[&str] = &["how", "maximum", "minimum", "much", "number", "value", "values"];
/// Nouns that stand for any measure.
const AMOUNTS: &[&str] = &[
    "amount",
    "average",
    "cost",
    "count",
    "date",
    "day",
    "length",
    "level",
    "maximum",
    "mean",
    "minimum",
    "month",
    "number",
    "percentage",
    "price",
    "quantity",
    "rate",
    "share",
    "size",
    "sum",
    "time",
    "total",
    "value",
    "year",
];
/// Verbs that may stand behind *which* and *what*.
const VERBS: &[&str] =
    &["are", "did", "do", "does", "had", "has", "have", "is", "s", "was", "were"];
/// Words of questions for the last of an order of texts.
const ORDERED: &[&str] = &[
    "alphabetical",
    "alphabetically",
    "date",
    "earliest",
    "early",
    "first",
    "last",
    "late",
    "latest",
    "newest",
    "oldest",
    "recent",
    "recently",
    "time",
    "when",
];

impl Asked<'_> {
    /// The doubt about one extreme as the whole result.
    pub(super) fn measure(&self) -> Option<Doubt> {
        let measured = self.extreme_column()?;
        if self.storage_of(measured) == Some(Stored::Text) {
            return self.greatest_text(measured);
        }
        let things = self.things(measured);
        let asked = self
            .person_noun()
            .or_else(|| self.noun_of_which(measured, &things))
            .or_else(|| self.noun_of_superlative(measured, &things))?;
        let text = format!(
            "the question asks for {asked}, and the result is only its {}",
            measured.column
        );
        Some(Doubt { kind: DoubtKind::Measure, text })
    }

    /// The doubt about numbers of groups without what the groups are of.
    pub(super) fn number_alone(&self) -> Option<Doubt> {
        let columns = &self.outline.columns;
        if columns.is_empty()
            || !columns
                .iter()
                .all(|column: &Selected| column.is_aggregate(&["avg", "count", "sum"]))
            || self.outline.groups.is_empty()
            || self.question.has_any(super::NUMBERS)
        {
            return None;
        }
        let asked = self.person_noun().or_else(|| {
            let noun = self.question.word(self.question.start() + 1)?;
            let is_asked = self.question.begins_with(&[&["what", "which"]]);
            let is_thing = !VERBS.contains(&noun) && !AMOUNTS.contains(&noun);
            (is_asked && is_thing && self.names().contains(&stem(noun)))
                .then(|| format!("a {noun}"))
        })?;
        let text = format!("the question asks for {asked}, and the result has numbers alone");
        Some(Doubt { kind: DoubtKind::Measure, text })
    }

    /// The column whose extreme is all that the result has.
    fn extreme_column(&self) -> Option<&ColumnName> {
        let outline = self.outline;
        let [only] = outline.columns.as_slice() else { return None };
        match only {
            Selected::Aggregate { of, .. }
                if outline.groups.is_empty() && only.is_aggregate(&["max", "min"]) =>
            {
                of.as_ref()
            }
            Selected::Column(column) => {
                let is_first = outline.limit == Some(1)
                    && outline.order.as_ref().is_some_and(|order| order.by == *only);
                is_first.then_some(column)
            }
            Selected::Aggregate { .. } | Selected::Other => None,
        }
    }

    /// The doubt about the last text of an alphabet where a superlative is asked for.
    fn greatest_text(&self, measured: &ColumnName) -> Option<Doubt> {
        let [Selected::Aggregate { function, .. }] = self.outline.columns.as_slice() else {
            return None;
        };
        let is_superlative = self.question.has_any(SUPERLATIVES) || self.question.has_any(MOST);
        let is_turned = stems(&measured.column)
            .iter()
            .any(|word| ["date", "time", "year"].contains(&word.as_str()));
        // A number or a day that is stored as a text begins with a digit.
        let holds_word = self.results.rows(0, 1).iter().flatten().any(is_word);
        if !is_superlative || !holds_word || is_turned || self.question.has_any(ORDERED) {
            return None;
        }
        let function = function.to_uppercase();
        let text = format!(
            "{function} of {}, which is a text, is the first or last of an alphabet",
            measured.column
        );
        Some(Doubt { kind: DoubtKind::Measure, text })
    }

    /// The stems of the names of tables and of other columns.
    fn things(&self, measured: &ColumnName) -> HashSet<String> {
        let own = stems(&measured.column);
        self.names().into_iter().filter(|stem| !own.contains(stem)).collect()
    }

    /// The stems of the names of tables and columns.
    pub(super) fn names(&self) -> HashSet<String> {
        let tables = self.catalog.tables.iter();
        let names = tables.flat_map(|table| {
            std::iter::once(&table.name).chain(table.columns.iter().map(|column| &column.name))
        });
        names.flat_map(|name| stems(name)).collect()
    }

    fn person_noun(&self) -> Option<String> {
        (self.question.first() == Some("who")).then(|| "somebody".to_owned())
    }

    /// The noun behind *which* or *what*.
    fn noun_of_which(&self, measured: &ColumnName, things: &HashSet<String>) -> Option<String> {
        let start = self.question.start();
        let noun = self.question.word(start + 1)?;
        let is_asked = self.question.begins_with(&[&["what", "which"]]) && !VERBS.contains(&noun);
        let is_measure = AMOUNTS.contains(&noun) || stems(&measured.column).contains(&stem(noun));
        (is_asked && !is_measure && things.contains(&stem(noun))).then(|| format!("a {noun}"))
    }

    /// The noun behind the first superlative, if no word asks for the measure.
    fn noun_of_superlative(
        &self,
        measured: &ColumnName,
        things: &HashSet<String>,
    ) -> Option<String> {
        if self.question.has_any(MEASURES) {
            return None;
        }
        let words: Vec<&str> = self.question.words().collect();
        let at =
            words.iter().position(|word| MOST.contains(word) || SUPERLATIVES.contains(word))?;
        // The adjective behind `most` may share its stem with the measure: populous, population.
        let adjective = MOST.contains(&words[at]).then_some(at + 1);
        let own = super::words(&measured.column);
        if words.iter().enumerate().any(|(place, word): (usize, &&str)| {
            own.iter()
                .any(|own| own == word || (Some(place) != adjective && stem(own) == stem(word)))
        }) {
            return None;
        }
        // `The size of the largest state` may ask for the measure by another word.
        let attribute = match &words[..at] {
            [.., attribute, "of" | "for", "the" | "a"] | [.., attribute, "of" | "for"] => {
                Some(*attribute)
            }
            _ => None,
        };
        if attribute.is_some_and(|word| !things.contains(&stem(word))) {
            return None;
        }
        let behind = words.iter().skip(at + 1).take(2);
        let mut nouns =
            behind.filter(|word| !AMOUNTS.contains(word) && things.contains(&stem(word)));
        nouns.next().map(|noun| {
            attribute.map_or_else(|| format!("a {noun}"), |what| format!("the {what} of a {noun}"))
        })
    }
}

/// Returns true for a text that begins with a letter.
fn is_word(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.starts_with(char::is_alphabetic))
}
