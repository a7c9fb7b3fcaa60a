//! The first rows of an order: how many of them are asked for, at which end, and whether there is
//! an order at all.

use syrch_core::ports::{ColumnName, Selected};
use syrch_core::{Doubt, DoubtKind, Value};
use syrch_words::stem;

use super::super::SHOWN;
use super::super::kinds::Stored;
use super::Asked;
use super::measure::{MOST, SUPERLATIVES};
use super::question::{stems, words};
use super::statement::{find_close, last_name, split};

/// The largest number of rows that a question asks for.
const MOST_ROWS: u64 = 1_000;
/// Words before a number of rows.
const ENDS: &[&str] = &["bottom", "top"];
/// Verbs before a number of rows, and words between.
const LISTS: &[&str] = &["display", "find", "get", "give", "list", "name", "return", "show"];
const ARTICLES: &[&str] = &["all", "me", "the", "us"];
/// Superlatives that say nothing of what is measured.
const BEST: &[&str] = &["best", "worst"];
/// Words behind a number that is no number of rows.
const SHARES: &[&str] = &["decile", "percent", "percentile", "quartile"];
/// Words with which the first rows of several orders are asked for.
pub(super) const PER: &[&str] = &["each", "every", "per"];
const NUMERALS: [&str; 9] =
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/// Functions with which rows are numbered or chosen without LIMIT.
const CHOOSING: &[&str] =
    &["dense_rank", "max", "min", "ntile", "percent_rank", "rank", "row_number"];
/// Verbs of which one thing is the subject.
const SINGULAR: &[&str] = &["had", "has", "is", "was"];
/// Words that ask for an order of all rows.
const SORTED: &[&str] = &["alphabetical", "alphabetically", "ascending", "descending", "sorted"];
/// Words of columns that hold days or times.
pub(super) const TIMES: &[&str] = &[
    "birth",
    "birthdate",
    "birthday",
    "born",
    "created",
    "date",
    "datetime",
    "day",
    "dob",
    "founded",
    "hired",
    "opened",
    "started",
    "time",
    "timestamp",
    "year",
];
/// Verbs behind the *when* that asks for a time.
const AUXILIARIES: &[&str] =
    &["are", "did", "do", "does", "had", "has", "have", "is", "was", "were", "will"];
/// Words of times that are written without a digit.
const CALENDAR: &[&str] = &[
    "afternoon",
    "april",
    "august",
    "autumn",
    "day",
    "december",
    "evening",
    "fall",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "march",
    "may",
    "midnight",
    "monday",
    "morning",
    "never",
    "night",
    "noon",
    "november",
    "now",
    "october",
    "saturday",
    "september",
    "spring",
    "summer",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tuesday",
    "wednesday",
    "weekday",
    "weekend",
    "winter",
    "yesterday",
];
/// Words of which one stands before a superlative that is not the first.
pub(super) const ORDINALS: &[&str] =
    &["second", "2nd", "third", "3rd", "fourth", "4th", "fifth", "5th", "sixth", "tenth"];
const LATE: &[&str] = &["latest", "newest", "youngest"];
const EARLY: &[&str] = &["earliest", "oldest"];
const RECENT: &[&str] = &["recent", "recently"];
/// Functions that number the rows of an order.
const NUMBERING: &[&str] = &["dense_rank", "rank", "row_number"];

/// The first rows of an order, or those with the extreme of a column.
pub(super) struct First {
    pub(super) by: Selected,
    pub(super) is_descending: bool,
    pub(super) limit: u64,
}

impl Asked<'_> {
    /// The first rows that the statement takes: by LIMIT, by `x = (SELECT MAX(x) …)`, or by their
    /// numbers in a window.
    pub(super) fn find_first(&self) -> Option<First> {
        if let Some(order) = &self.outline.order {
            let limit = self.outline.limit?;
            let is_descending = order.is_descending;
            return Some(First { by: order.by.clone(), is_descending, limit });
        }
        let is_whole = self.outline.limit.is_none()
            && self.facts.tasks.is_empty()
            && !self.question.has_any(ORDINALS);
        let parts = split(&self.facts.normalized);
        let (name, is_descending) =
            self.read_extreme(&parts).or_else(|| read_numbered(&parts)).filter(|_| is_whole)?;
        let mut paths = self.facts.columns.iter().filter_map(|path| path.rsplit_once('.'));
        let (table, column) = paths.find(|(_, column)| column.eq_ignore_ascii_case(name))?;
        let by = ColumnName { table: table.to_owned(), column: column.to_owned() };
        Some(First { by: Selected::Column(by), is_descending, limit: 1 })
    }

    /// The column that equals its extreme, and true if that is the greatest.
    fn read_extreme<'p>(&self, parts: &[&'p str]) -> Option<(&'p str, bool)> {
        let functions = &self.facts.functions;
        let extremes = functions.iter().filter(|name| ["max", "min"].contains(&name.as_str()));
        let mut found = parts.windows(7).filter_map(|seven| match *seven {
            [column, "=" | "IN", "(", "SELECT", function, "(", of]
                if last_name(column).eq_ignore_ascii_case(last_name(of)) =>
            {
                Some((last_name(column), function.to_lowercase()))
            }
            _ => None,
        });
        let (column, function) = found.next().filter(|_| extremes.count() == 1)?;
        let is_extreme = ["max", "min"].contains(&function.as_str()) && found.next().is_none();
        is_extreme.then(|| (column, function == "max"))
    }

    /// The number of rows that the question asks for: `top 5`, `the 3 cheapest`, `which 2 states
    /// have the largest area`.
    fn asked_rows(&self) -> Option<u64> {
        let words: Vec<&str> = self.question.words().collect();
        fn is_superlative(word: &&str) -> bool {
            MOST.contains(word) || SUPERLATIVES.contains(word) || BEST.contains(word)
        }
        let start = self.question.start();
        let is_which = self.question.begins_with(&[&["which", "what"]]);
        let mut numbers = words.iter().enumerate().filter_map(|(at, word)| {
            let number = number(word)?;
            let next = words.get(at + 1);
            let before = &words[start.min(at)..at];
            // `List the five players with the highest value`.
            let is_listed = before.first().is_some_and(|verb| LISTS.contains(verb))
                && before[1..].iter().all(|word| ARTICLES.contains(word))
                && words[at..].windows(2).any(|pair| pair[0] == "the" && is_superlative(&pair[1]));
            let is_asked = at > 0 && ENDS.contains(&words[at - 1])
                || next.is_some_and(is_superlative)
                || is_listed
                || is_which && at == start + 1 && words.iter().any(is_superlative);
            let is_share = next.is_some_and(|next| SHARES.contains(next));
            (is_asked && !is_share).then_some(number)
        });
        let number = numbers.next()?;
        numbers.next().is_none().then_some(number)
    }

    /// The doubt about more or fewer rows than are asked for.
    pub(super) fn other_rows(&self) -> Option<Doubt> {
        let number = self.asked_rows()?;
        let rows = self.results.row_count();
        let parts = split(&self.facts.normalized);
        let asked = number.to_string();
        let is_other = match self.outline.limit {
            // A table with fewer rows has no more.
            Some(limit) => limit < number && rows >= limit || limit > number && rows > number,
            None if rows + 1 == number && read_numbered(&parts).is_some() => {
                parts.windows(2).any(|pair| *pair == ["<", asked.as_str()])
            }
            None => rows > number && !self.may_choose_rows(),
        };
        let is_inside = [')', ' ']
            .iter()
            .any(|behind| self.facts.normalized.contains(&format!("LIMIT {number}{behind}")));
        if !is_other || is_inside || self.question.has_any(PER) {
            return None;
        }
        let text = format!("the question asks for {number} rows, and the result has {rows}");
        Some(Doubt { kind: DoubtKind::OtherRows, text })
    }

    /// The doubt about the first of an order, or its extreme, where the second or a later one is
    /// asked for.
    pub(super) fn first_for_second(&self) -> Option<Doubt> {
        let words: Vec<&str> = self.question.words().collect();
        let ordinal = words.windows(2).find(|pair| {
            let is_end = MOST.contains(&pair[1]) || SUPERLATIVES.contains(&pair[1]);
            ORDINALS.contains(&pair[0]) && is_end
        })?[0];
        let columns = self.outline.columns.as_slice();
        let is_extreme = self.outline.limit.is_none()
            && matches!(columns, [only] if only.is_aggregate(&["max", "min"]));
        let is_first = self.outline.limit == Some(1)
            && ["OFFSET", "LIMIT 1,", "LIMIT 2", "ROW_NUMBER", "RANK"]
                .iter()
                .all(|part| !self.facts.normalized.to_uppercase().contains(part));
        if !(is_extreme || is_first)
            || !self.facts.subqueries.is_empty()
            || !self.facts.tasks.is_empty()
            || self.facts.normalized.matches("SELECT").count() != 1
        {
            return None;
        }
        let text =
            format!("the question asks for the {ordinal}, and the statement takes the first");
        Some(Doubt { kind: DoubtKind::OtherRows, text })
    }

    /// The doubt about an order in the other direction than the question says.
    pub(super) fn other_direction(&self) -> Option<Doubt> {
        let order = self.outline.order.as_ref()?;
        let [up, down] = ["ascending", "descending"].map(|word| self.question.has_any(&[word]));
        let column = order.by.column().map(|column| column.column.as_str()).unwrap_or_default();
        let may_turn =
            words(column).iter().any(|word| TIMES.contains(&word.as_str()) || word == "rank");
        let is_other = match order.is_descending {
            true => up && !down && !may_turn,
            false => down && !up && !may_turn && self.lacks("DESC"),
        };
        if !is_other || self.results.row_count() < 2 || order.by == Selected::Other {
            return None;
        }
        let asked = if down { "descending" } else { "ascending" };
        let text = format!("the question asks for {asked} order, and the statement has the other");
        Some(Doubt { kind: DoubtKind::OtherEnd, text })
    }

    /// The doubt about the first day where the last one is asked for, or the other way round.
    pub(super) fn other_extreme_time(&self) -> Option<Doubt> {
        let late = self.question.has_any(&LATE[..2]) || self.question.has_pair("most", RECENT);
        let early = self.question.has_any(&EARLY[..1]);
        let functions = &self.facts.functions;
        let [has_min, has_max] =
            ["min", "max"].map(|name| functions.iter().any(|function| function == name));
        let (end, way) = match (late, early) {
            (true, false) if has_min && !has_max => ("last", "min"),
            (false, true) if has_max && !has_min => ("first", "max"),
            _ => return None,
        };
        let extreme = self.outline.columns.iter().find(|column| column.is_aggregate(&[way]))?;
        let column = extreme.column()?;
        let is_time = self.storage_of(column) == Some(Stored::Time)
            || words(&column.column)
                .iter()
                .any(|word| ["date", "day", "time"].contains(&word.as_str()));
        if !is_time || !self.facts.tasks.is_empty() {
            return None;
        }
        let text = format!(
            "the question asks for the {end} by {}, and the statement has {}",
            column.column,
            way.to_uppercase()
        );
        Some(Doubt { kind: DoubtKind::OtherEnd, text })
    }

    /// Returns true if the statement may choose rows by anything but its own LIMIT.
    fn may_choose_rows(&self) -> bool {
        self.facts.functions.iter().any(|function: &String| CHOOSING.contains(&function.as_str()))
            || !self.lacks("LIMIT")
            || !self.lacks("FETCH")
    }

    /// The doubt about the first rows of no order.
    pub(super) fn first_of_none(&self) -> Option<Doubt> {
        let limit = self.outline.limit?;
        let is_bound = self.question.has_pair("at", &["least", "most"]);
        let is_one = limit == 1
            && !is_bound
            && (self.question.has_any(SUPERLATIVES)
                || self.question.has_any(MOST)
                || self
                    .question
                    .words()
                    .last()
                    .is_some_and(|word| ["first", "last"].contains(&word)));
        if !(is_one || self.asked_rows().is_some())
            || self
                .facts
                .functions
                .iter()
                .any(|function: &String| CHOOSING.contains(&function.as_str()))
            || !self.lacks("ORDER BY")
        {
            return None;
        }
        let text = "the question asks for the first rows of an order, and the statement has \
                    LIMIT without ORDER BY";
        Some(Doubt { kind: DoubtKind::OtherRows, text: text.to_owned() })
    }

    /// The doubt about all rows, in an order or none, where the first of them is asked for: `which
    /// employee earns the most`.
    pub(super) fn all_for_first(&self) -> Option<Doubt> {
        let rows = self.results.row_count();
        // Without an order, a condition may choose the row.
        let may_be_chosen = self.outline.order.is_none()
            && (!self.facts.subqueries.is_empty()
                || ["ORDER BY", "HAVING", "EXISTS", "OVER"].iter().any(|word| !self.lacks(word)));
        if rows < 2
            || may_be_chosen
            || self.outline.limit.is_some()
            || !self.question.begins_with(&[&["what", "which", "who"]])
            || self.question.has_any(PER)
            || self.question.has_any(SORTED)
            || self.may_choose_rows()
        {
            return None;
        }
        let words: Vec<&str> = self.question.words().collect();
        let verb = words.windows(3).find(|three: &&[&str]| {
            let is_end = MOST.contains(&three[2]) || SUPERLATIVES.contains(&three[2]);
            is_end && three[1] == "the" && (SINGULAR.contains(&three[0]) || three[0].ends_with('s'))
        })?[0];
        // `Customers` are no verb.
        if !SINGULAR.contains(&verb) && self.names().contains(&stem(verb)) {
            return None;
        }
        let text = format!("the question asks for one thing, and the result has {rows} rows");
        Some(Doubt { kind: DoubtKind::OtherRows, text })
    }

    /// The doubt about texts without a digit where a time is asked for.
    pub(super) fn no_time(&self) -> Option<Doubt> {
        let rows = self.results.rows(0, SHOWN);
        let mut cells = rows.iter().flat_map(|row| row.iter().enumerate());
        if !self.question.begins_with(&[&["when"], AUXILIARIES])
            || rows.is_empty()
            || !cells.all(|(column, value)| self.is_no_time(column, value))
        {
            return None;
        }
        let text = "the question asks for a time, and the result has none".to_owned();
        Some(Doubt { kind: DoubtKind::Measure, text })
    }

    /// Returns true for a text that is no time, and for NULL in a column of such texts.
    fn is_no_time(&self, column: usize, value: &Value) -> bool {
        match value {
            Value::Text(text) => {
                let is_named = words(text).iter().any(|word| CALENDAR.contains(&word.as_str()));
                !is_named && !text.contains(|c: char| c.is_numeric())
            }
            Value::Null => match self.outline.columns.get(column) {
                Some(Selected::Column(column)) => {
                    let is_dated = words(&column.column).iter().any(|word| {
                        TIMES.contains(&word.as_str()) || ["at", "on"].contains(&word.as_str())
                    });
                    !is_dated && self.storage_of(column) == Some(Stored::Text)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The doubt about rows in no order where one is asked for.
    pub(super) fn doubt_order(&self) -> Option<Doubt> {
        if self.results.row_count() < 2 || !self.question.has_any(SORTED) || !self.lacks("ORDER BY")
        {
            return None;
        }
        let text = "the question asks for an order, and the statement has none".to_owned();
        Some(Doubt { kind: DoubtKind::NoOrder, text })
    }

    /// The doubt about the first of an order of days whose other end is asked for: the youngest was
    /// born last.
    pub(super) fn other_time(&self) -> Option<Doubt> {
        let order = self.find_first()?;
        let column = order.by.column().filter(|_| !order.by.is_aggregate(&["count"]))?;
        let is_time = self.storage_of(column) == Some(Stored::Time)
            || words(&column.column).iter().any(|word| TIMES.contains(&word.as_str()));
        let asked: Vec<&str> = self.question.words().collect();
        let ends = asked.iter().enumerate().filter(|(at, word)| {
            let is_recent = asked.get(at + 1).is_some_and(|next| RECENT.contains(next));
            SUPERLATIVES.contains(word) || BEST.contains(word) || MOST.contains(word) && !is_recent
        });
        // The other one may be what the order is by.
        let one = usize::from(self.question.has_any(LATE) || self.question.has_any(EARLY));
        if ends.count() > one {
            return None;
        }
        // Which one was opened first?
        let own = stems(&column.column);
        let [is_first, is_last] = ["first", "last"]
            .map(|end| asked.windows(2).any(|pair| pair[1] == end && own.contains(&stem(pair[0]))));
        let late = self.question.has_any(LATE) || self.question.has_pair("most", RECENT) || is_last;
        let early =
            self.question.has_any(EARLY) || self.question.has_pair("least", RECENT) || is_first;
        let (end, way) = match (late, early, order.is_descending) {
            (true, false, false) if is_time => ("last", "first"),
            (false, true, true) if is_time => ("first", "last"),
            _ => return None,
        };
        let text = format!(
            "the question asks for the {end} by {}, and the order begins with the {way}",
            column.column
        );
        Some(Doubt { kind: DoubtKind::OtherEnd, text })
    }
}

/// The column by which the only window numbers rows whose first ones are taken, and true if its
/// greatest value comes first.
fn read_numbered<'p>(parts: &[&'p str]) -> Option<(&'p str, bool)> {
    let over = parts.iter().position(|part| *part == "OVER")?;
    let close = find_close(parts, over + 1)?;
    let window = parts.get(over + 2..close)?;
    let call = parts[..over].iter().rposition(|part| *part == "(")?.checked_sub(1)?;
    let is_number = NUMBERING.iter().any(|name| name.eq_ignore_ascii_case(parts[call]));
    let is_only = !parts[close..].contains(&"OVER");
    let alias = parts.get(close + 1..close + 3).filter(|as_name| as_name[0] == "AS")?[1];
    let is_taken = parts.windows(3).any(|three| {
        let is_first = match three[1] {
            "=" => three[2] == "1",
            "<" | "<=" => three[2].parse::<u64>().is_ok(),
            _ => false,
        };
        is_first && last_name(three[0]).eq_ignore_ascii_case(last_name(alias))
    });
    let by = window.windows(2).position(|pair| *pair == ["ORDER", "BY"])?;
    let column = last_name(window.get(by + 2)?);
    let is_descending = window.get(by + 3) == Some(&"DESC");
    let is_plain = matches!(window.get(by + 3), None | Some(&("ASC" | "DESC" | "," | "NULLS")));
    (is_number && is_only && is_taken && is_plain).then_some((column, is_descending))
}

/// The number that a word is.
pub(super) fn number(word: &str) -> Option<u64> {
    let numeral = NUMERALS.iter().position(|numeral| *numeral == word);
    let number = numeral.map_or_else(|| word.parse().ok(), |place| Some(place as u64 + 2));
    number.filter(|number| (1..=MOST_ROWS).contains(number))
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::{Facts, Outline};

    use super::super::tests::{column, columns, facts, first, kinds_of};
    use super::*;

    #[test]
    fn the_extreme_of_a_subquery_or_a_window_is_the_one_that_is_asked_for() {
        let outline = columns(&[column("state.name")]);
        let least = "SELECT name FROM state WHERE area = (SELECT min(area) FROM state)";
        let greatest = "SELECT name FROM state WHERE area = (SELECT max(area) FROM state)";
        let last = "SELECT name FROM (SELECT name, rank() OVER (ORDER BY area) AS r FROM state) AS \
                    t WHERE r = 1";
        let front = "SELECT name FROM (SELECT name, rank() OVER (ORDER BY area DESC) AS r FROM \
                     state) AS t WHERE r = 1";
        let largest = "Which state has the largest area?";
        let smallest = "What is the smallest state by area?";
        for (asked, sql, function, is_doubtful) in [
            (largest, least, "min", true),
            (largest, greatest, "max", false),
            (smallest, greatest, "max", true),
            (smallest, least, "min", false),
            (largest, last, "rank", true),
            (largest, front, "rank", false),
            (smallest, front, "rank", true),
            (smallest, last, "rank", false),
            ("Which state has the second largest area?", last, "rank", false),
        ] {
            let read = vec!["state.name".to_owned(), "state.area".to_owned()];
            let facts = Facts { columns: read, ..facts(sql, &["state"], &[function]) };
            let found = kinds_of(asked, &outline, &facts, &[7]);
            assert_eq!(found.contains(&DoubtKind::OtherEnd), is_doubtful, "{asked} {sql}");
        }
    }

    #[test]
    fn a_listed_number_of_rows_is_given() {
        let outline = columns(&[column("state.name")]);
        let asked = "List the five states with the highest population.";
        let values: Vec<i64> = (0..9).collect();
        for (condition, rows, is_doubtful) in
            [("r < 5", 4, true), ("r <= 5", 5, false), ("r <= 5", 4, false)]
        {
            let sql = format!(
                "SELECT name FROM (SELECT name, row_number() OVER (ORDER BY population DESC) AS r \
                 FROM state) AS t WHERE {condition}"
            );
            let facts = facts(&sql, &["state"], &["row_number"]);
            let found = kinds_of(asked, &outline, &facts, &values[..rows]);
            assert_eq!(found.contains(&DoubtKind::OtherRows), is_doubtful, "{condition} {rows}");
        }
        for (asked, is_doubtful) in [(asked, true), ("List the five states.", false)] {
            let order = first(&[column("state.name")], &column("state.population"), true);
            let outline = Outline { limit: Some(9), ..order };
            let found = kinds_of(asked, &outline, &Facts::default(), &values);
            assert_eq!(found.contains(&DoubtKind::OtherRows), is_doubtful, "{asked}");
        }
    }
}
