//! Negations of a question: things that have no row of some kind, which a statement finds by a row
//! of another kind, or by more than the question says.

use syrch_core::ports::Selected;
use syrch_core::{Doubt, DoubtKind, Table};
use syrch_words::stem;

use super::super::joins::Side;
use super::Asked;
use super::first::{PER, number};
use super::measure::{MOST, SUPERLATIVES};
use super::question::{NOT, stems, words};

/// Words behind one of them with which it is not that there is none: `not in all courses`.
const SOME: &[&str] = &["all", "always", "both", "every", "least", "only", "some"];
/// Words before *not* with which nothing is done.
const DOING: &[&str] =
    &["did", "didn", "do", "does", "doesn", "don", "had", "hadn", "has", "hasn", "have", "haven"];
/// Words with which a statement may leave something out.
pub(super) const LEFT_OUT: &[&str] = &[
    "absent",
    "all",
    "alone",
    "always",
    "apart",
    "available",
    "avoid",
    "besides",
    "but",
    "childless",
    "churned",
    "different",
    "difference",
    "each",
    "else",
    "empty",
    "entirely",
    "every",
    "exclude",
    "excluded",
    "excludes",
    "excluding",
    "exclusive",
    "exclusively",
    "failed",
    "few",
    "fewer",
    "first",
    "former",
    "free",
    "idle",
    "ignore",
    "ignoring",
    "inactive",
    "incomplete",
    "instead",
    "just",
    "lack",
    "lacking",
    "lacks",
    "last",
    "latest",
    "left",
    "less",
    "lost",
    "minus",
    "miss",
    "missed",
    "misses",
    "missing",
    "neither",
    "new",
    "nobody",
    "none",
    "nor",
    "nothing",
    "nowhere",
    "omit",
    "omitting",
    "one",
    "once",
    "only",
    "open",
    "orphan",
    "orphaned",
    "orphans",
    "other",
    "others",
    "otherwise",
    "outside",
    "purely",
    "remain",
    "remaining",
    "rest",
    "skip",
    "sole",
    "solely",
    "still",
    "stopped",
    "unless",
    "unlike",
    "vacant",
    "yet",
    "zero",
    "0",
];
/// Beginnings of words of that kind.
const PREFIXES: &[&str] = &["non", "un"];
/// The first words of questions in English.
const ASKING: &[&str] = &[
    "count", "display", "find", "get", "give", "how", "list", "name", "return", "show", "tell",
    "what", "which", "who", "whose",
];
/// The beginnings of parts of statements in canonical spelling that leave rows out.
const PARTS: [&str; 3] = ["NOT IN (SELECT", "NOT EXISTS (SELECT", "EXCEPT SELECT"];
/// Words between *no* and the thing of which there is none.
const BETWEEN: &[&str] =
    &["a", "an", "any", "be", "been", "did", "ever", "had", "has", "have", "the"];
/// Words that may stand behind it.
const BEHIND: &[&str] = &["all", "at", "ever", "far", "so", "yet"];
/// Words of a question between *not* and what there is not.
const NEAR: usize = 8;

impl Asked<'_> {
    /// The doubt about what the statement leaves out.
    pub(super) fn doubt_negation(&self) -> Option<Doubt> {
        let text = self
            .find_differing()
            .or_else(|| self.find_left_out())
            .or_else(|| self.find_other_number())?;
        Some(Doubt { kind: DoubtKind::OtherNegation, text })
    }

    /// Things that have a row which differs, where those are asked for that have none: `channels
    /// without a cartoon by Ann` by `director <> 'Ann'`.
    fn find_differing(&self) -> Option<String> {
        if !self.facts.subqueries.is_empty() || !self.facts.tasks.is_empty() {
            return None;
        }
        let one = self.outline.differing.iter().find(|one| {
            self.has_several(&one.column.table)
                && self.find_place(&one.literal).is_some()
                && (self.lacks_thing(&one.column.table, &one.column.column)
                    || self.lacks_value(&one.literal))
        })?;
        Some(format!(
            "the question asks for what has no row of {0} with {1}, and the statement finds what \
             has a row without it: leave it out by NOT IN or NOT EXISTS",
            one.column.table, one.literal
        ))
    }

    /// Returns true if the question says that there is none of the table's things, and names them
    /// not before. Where it does not name them, it may name the column.
    fn lacks_thing(&self, table: &str, column: &str) -> bool {
        let own: Vec<String> =
            self.list_things().iter().flat_map(|thing| stems(&thing.name)).collect();
        let asked: Vec<&str> = self.question.words().collect();
        let named = [table, column].iter().find_map(|name| {
            let mut nouns = stems(name);
            nouns.retain(|noun| !own.contains(noun));
            asked.iter().position(|word| nouns.contains(&stem(word)))
        });
        let Some(named) = named else { return false };
        let before = &asked[named.saturating_sub(NEAR)..named];
        let not = before.iter().rposition(|word| NOT.contains(word));
        not.is_some_and(|not| !before[not..].iter().any(|word| SOME.contains(word)))
    }

    /// Returns true if the question says that things never have anything of the value: `did not
    /// order a Pen`, not `that is not a Pen`.
    fn lacks_value(&self, literal: &str) -> bool {
        let asked: Vec<&str> = self.question.words().collect();
        let Some((named, _)) = self.find_place(literal) else { return false };
        let from = named.saturating_sub(NEAR);
        let Some(not) = asked[from..named].iter().rposition(|word| NOT.contains(word)) else {
            return false;
        };
        let is_done = ["never", "without"].contains(&asked[from + not])
            || (from + not).checked_sub(1).is_some_and(|before| DOING.contains(&asked[before]));
        is_done && !asked[from + not..named].iter().any(|word| SOME.contains(word))
    }

    /// Returns true if the question asks for something of each of other things than those that the
    /// result lists, so that these may be repeated.
    pub(super) fn asks_for_each(&self) -> bool {
        let things: Vec<String> =
            self.list_things().iter().flat_map(|thing| stems(&thing.name)).collect();
        let asked: Vec<&str> = self.question.words().collect();
        asked.windows(2).any(|pair| PER.contains(&pair[0]) && !things.contains(&stem(pair[1])))
    }

    /// Rows that are left out where the question leaves out nothing, and names what they have.
    fn find_left_out(&self) -> Option<String> {
        let (part, query) = self.find_excluded_query()?;
        let is_english = self.question.first().is_some_and(|first| ASKING.contains(&first));
        let asked: Vec<&str> = self.question.words().collect();
        let things: Vec<String> =
            self.list_things().iter().flat_map(|thing| stems(&thing.name)).collect();
        let says_so = asked.iter().enumerate().any(|(at, word)| {
            [NOT, LEFT_OUT, MOST, SUPERLATIVES].iter().any(|list| list.contains(word))
                && !(["all", "each", "every"].contains(word)
                    && asked.get(at + 1).is_some_and(|next| things.contains(&stem(next))))
                || PREFIXES.iter().any(|prefix| word.starts_with(prefix))
                || ["less", "free"].iter().any(|end| word.ends_with(end))
        });
        let mut nouns = list_nouns(query);
        nouns.retain(|noun| !things.contains(noun));
        let is_named = asked.iter().any(|word| nouns.contains(&stem(word)));
        if !is_english || says_so || !is_named {
            return None;
        }
        let part = part.trim_end_matches("SELECT").trim_end_matches(['(', ' ']);
        Some(format!("the question leaves nothing out, and the statement does so by {part}"))
    }

    /// The first query of rows that the statement leaves out, and the part of the statement before
    /// it.
    fn find_excluded_query(&self) -> Option<(&'static str, &str)> {
        PARTS.into_iter().filter(|_| self.facts.tasks.is_empty()).find_map(|part| {
            let (_, rest) = self.facts.normalized.split_once(part)?;
            Some((part, inner_query(rest)))
        })
    }

    /// Rows of a number that the question does not have, where it leaves out what has any:
    /// `products that were never rated` by `NOT IN (SELECT … WHERE rating = 5)`.
    fn find_other_number(&self) -> Option<String> {
        let (_, query) = self.find_excluded_query()?;
        let parts: Vec<&str> = split_parts(query).collect();
        let (column, value) = parts.windows(3).find_map(|three| match three {
            [column, "=", value] => Some((*column, *value)),
            _ => None,
        })?;
        let is_key = column.to_lowercase().trim_end_matches('"').ends_with("id");
        let is_number = value.parse::<u32>().is_ok_and(|value| value > 1);
        let is_named = self.question.words().any(|word| number(word).is_some());
        let mut nouns = list_nouns(query);
        nouns.extend(words(column).last().map(|word| stem(word)));
        if is_key || !is_number || is_named || !self.ends_with_none(&nouns) {
            return None;
        }
        Some(format!(
            "the question leaves out what has any, and the statement only what has {column} = \
             {value}"
        ))
    }

    /// Returns true if the question ends by saying that there is none of a thing: `with no
    /// orders`, `that were never rated`.
    fn ends_with_none(&self, nouns: &[String]) -> bool {
        let asked: Vec<&str> = self.question.words().collect();
        let Some(not) = asked.iter().rposition(|word| NOT.contains(word)) else { return false };
        let mut rest = asked[not + 1..].iter().skip_while(|word| BETWEEN.contains(word));
        rest.next().is_some_and(|word| nouns.contains(&stem(word)))
            && rest.all(|word| BEHIND.contains(word))
    }

    /// Returns true if one of the things that the result lists or counts may have several rows of
    /// the table.
    pub(super) fn has_several(&self, table: &str) -> bool {
        let things = self.list_things();
        let Some(table) = self.catalog.table(table) else { return false };
        !things.is_empty() && things.iter().all(|thing| self.may_have_several(thing, table))
    }

    /// The tables of the things that the result lists or counts: of a reference, the table that it
    /// refers to. None if it has anything else.
    fn list_things(&self) -> Vec<&Table> {
        let things = self.outline.columns.iter().map(|selected| match selected {
            Selected::Aggregate { function, of: None, .. } if function == "count" => {
                self.find_counted_table()
            }
            Selected::Aggregate { function, .. } if function != "count" => None,
            other => {
                let column = other.column()?;
                let side = Side::new(self.catalog, &column.table, &column.column)?;
                let referenced = side.references(self.catalog).map(|(table, _)| table).next();
                Some(referenced.unwrap_or(side.table))
            }
        });
        things.collect::<Option<_>>().unwrap_or_default()
    }

    /// Returns true if a row of one table may have several of the other, which refer to it, or
    /// which a table that the statement reads connects with it.
    fn may_have_several(&self, thing: &Table, table: &Table) -> bool {
        let mut others = self.facts.tables.iter().filter_map(|name| self.catalog.table(name));
        !std::ptr::eq(thing, table)
            && !self.has_one(thing, table)
            && (self.has_one(table, thing)
                || others.any(|between| {
                    ![thing, table].iter().any(|end| std::ptr::eq(*end, between))
                        && self.has_one(between, thing)
                        && self.has_one(between, table)
                }))
    }
}

/// The words of a statement in canonical spelling.
fn split_parts(query: &str) -> impl Iterator<Item = &str> {
    query.split([' ', '(', ')', ','])
}

/// The stems of the names of a query's tables.
fn list_nouns(query: &str) -> Vec<String> {
    let parts: Vec<&str> = split_parts(query).collect();
    let tables = parts.windows(2).filter(|pair| ["FROM", "JOIN"].contains(&pair[0]));
    tables.flat_map(|pair| stems(pair[1])).collect()
}

/// The text up to the parenthesis that closes it.
fn inner_query(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return &text[..at],
            ')' => depth -= 1,
            _ => {}
        }
    }
    text
}
