//! Columns that are 0 or 1, and what a question says of them: `not cancelled` by `cancelled = 1`.

use syrch_core::{Column, Doubt, DoubtKind, Table};
use syrch_words::stem;

use super::super::kinds::Stored;
use super::Asked;
use super::first::TIMES;
use super::question::{NOT, words};
use super::statement::{Condition, is_word, last_name, split};

/// Words with which the name of such a column begins.
const BEGIN: &[&str] = &["did", "had", "has", "is", "was"];
/// Words before what is said of a thing, and those that may stand between.
const BEING: &[&str] = &["are", "be", "been", "being", "got", "is", "s", "t", "was", "were"];
const BETWEEN: &[&str] = &["a", "already", "an", "any", "be", "been", "being", "ever", "yet"];
/// Words with which a question may ask for either.
const EITHER: &[&str] = &[
    "besides",
    "but",
    "different",
    "except",
    "excluding",
    "instead",
    "nor",
    "or",
    "other",
    "rather",
    "unless",
    "whether",
];
const PREFIXES: &[&str] = &["non", "un"];

/// A column of that kind that a question names.
struct Flag<'a> {
    table: &'a Table,
    column: &'a Column,
    /// The place of its word, which may be another one by its prefix.
    at: usize,
    is_prefixed: bool,
}

impl Asked<'_> {
    /// The doubt about what is so where the question asks for what is not, or the other way round.
    pub(super) fn doubt_flag(&self) -> Option<Doubt> {
        let flag = self.find_flag()?;
        let is_denied = self.is_flag_denied(&flag)?;
        let name = flag.column.name.as_str();
        let conditions = self.list_conditions();
        let own: Vec<&Condition<'_>> =
            conditions.iter().filter(|one| one.column.eq_ignore_ascii_case(name)).collect();
        if own.is_empty() {
            return self.find_lost_flag(&flag);
        }
        let taken: Option<Vec<bool>> = own.iter().map(|one| read_flag(one)).collect();
        let taken = taken?;
        if taken.iter().any(|taken| *taken != is_denied)
            || ["CASE", "- ", "NOT", " OR ", "EXCEPT"].iter().any(|part| !self.lacks(part))
        {
            return None;
        }
        let [asked, found] = if is_denied { ["not ", ""] } else { ["", "not "] };
        let text = format!(
            "the question asks for what is {asked}{name}, and the statement for what is {found}so"
        );
        Some(Doubt { kind: DoubtKind::OtherNegation, text })
    }

    /// A column that decides what is asked for, and that the statement does not read, or only
    /// counts the values of.
    fn find_lost_flag(&self, flag: &Flag<'_>) -> Option<Doubt> {
        let name = flag.column.name.as_str();
        let asked: Vec<&str> = self.question.words().collect();
        let before: Vec<&str> = asked[..flag.at]
            .iter()
            .rev()
            .copied()
            .skip_while(|word| BETWEEN.contains(word) || NOT.contains(word))
            .take(1)
            .collect();
        let is_said = before.iter().any(|word| BEING.contains(word));
        let next = asked.get(flag.at + 1).and_then(|next| self.find_table(next));
        let is_before_thing = next.is_some_and(|next| std::ptr::eq(next, flag.table));
        let word = stem(asked[flag.at]);
        let text = &self.facts.normalized;
        let parts = split(text);
        let places: Vec<usize> = (0..parts.len())
            .filter(|at| is_word(parts[*at]) && last_name(parts[*at]).eq_ignore_ascii_case(name))
            .collect();
        let is_counted = matches!(places.as_slice(), [at] if *at > 1
            && parts[at - 1] == "("
            && parts[at - 2].eq_ignore_ascii_case("count"));
        let is_unread = places.is_empty() && !words(text).iter().any(|own| stem(own) == word);
        let is_lost = is_unread && (is_said || is_before_thing) && !flag.table.is_view();
        if text.is_empty() || !self.facts.tasks.is_empty() || !(is_lost || is_counted && is_said) {
            return None;
        }
        let reads = if is_counted { "counts what is not so as well" } else { "does not read it" };
        let text = format!("the question asks by {name}, and the statement {reads}");
        Some(Doubt { kind: DoubtKind::Unused, text })
    }

    /// The only column of that kind in the tables of the statement that the question names, once.
    fn find_flag(&self) -> Option<Flag<'_>> {
        let asked: Vec<&str> = self.question.words().collect();
        let tables = self.facts.tables.iter().filter_map(|table| self.catalog.table(table));
        let mut found = tables
            .flat_map(|table| table.columns.iter().map(move |column| (table, column)))
            .filter(|(table, column)| !table.primary_key.contains(&column.name))
            .filter_map(|(table, column)| {
                Some((table, column, self.read_flag_name(table, column)?))
            })
            .flat_map(|(table, column, own)| {
                let places = asked.iter().enumerate().filter_map(move |(at, word)| {
                    let mut rests = PREFIXES.iter().filter_map(|prefix| word.strip_prefix(prefix));
                    let is_prefixed = rests.any(|rest| stem(rest) == own);
                    let is_own = is_prefixed || stem(word) == own;
                    is_own.then_some(Flag { table, column, at, is_prefixed })
                });
                places.collect::<Vec<_>>()
            });
        found.next().filter(|_| found.next().is_none())
    }

    /// The stem of the one word that says what is so: of `is_paid` and of `cancelled`.
    fn read_flag_name(&self, table: &Table, column: &Column) -> Option<String> {
        let is_boolean = column.sql_type.to_uppercase().contains("BOOL");
        let stored = Stored::from_column(table, &column.name, &self.catalog.dialect)?;
        let own = words(&column.name);
        let (word, is_begun) = match own.as_slice() {
            [begin, word] if BEGIN.contains(&begin.as_str()) => (word, true),
            [word] => (word, false),
            _ => return None,
        };
        let is_flag = is_boolean || is_begun || word.len() > 5 && word.ends_with("ed");
        let is_time = TIMES.contains(&word.as_str());
        (is_flag && !is_time && (is_boolean || stored == Stored::Number)).then(|| stem(word))
    }

    /// Returns true if the question asks for what is not so; `None` if that is not certain.
    fn is_flag_denied(&self, flag: &Flag<'_>) -> Option<bool> {
        let asked: Vec<&str> = self.question.words().collect();
        let mut before = asked[..flag.at].iter().rev().skip_while(|word| BETWEEN.contains(word));
        let is_near = before.next().is_some_and(|word| NOT.contains(word) || *word == "non");
        let negations = asked.iter().filter(|word| NOT.contains(word)).count();
        let is_certain = negations == usize::from(is_near && negations > 0)
            && !(is_near && flag.is_prefixed)
            && !self.question.has_any(EITHER);
        is_certain.then_some(is_near || flag.is_prefixed)
    }
}

/// Returns true if a condition takes what is so.
fn read_flag(one: &Condition<'_>) -> Option<bool> {
    let is_one = match (one.operator, one.literal) {
        ("=", "1") | ("<>" | ">", "0") => true,
        ("=", "0") | ("<>", "1") => false,
        _ => return None,
    };
    (one.call.is_empty() && !one.is_text).then_some(is_one != one.is_denied)
}

#[cfg(test)]
mod tests {
    use syrch_core::ports::Facts;
    use syrch_core::{Catalog, Dialect};

    use super::super::Question;
    use super::super::tests::{columns, count, rows};
    use super::*;

    fn doubt(asked: &str, rest: &str, read: &[&str]) -> Option<DoubtKind> {
        fn column((name, sql_type): (&str, &str)) -> Column {
            Column { name: name.into(), sql_type: sql_type.into(), ..Column::default() }
        }
        let all = [("id", "INTEGER"), ("shipped", "INTEGER"), ("is_gift", "BOOLEAN")];
        let parcels = Table {
            name: "parcels".into(),
            columns: all.map(column).into(),
            primary_key: vec!["id".into()],
            ..Table::default()
        };
        let tables = vec![parcels];
        let catalog = Catalog { database: "post".into(), dialect: Dialect::Sqlite, tables };
        let facts = Facts {
            normalized: format!("SELECT {rest}"),
            tables: vec!["parcels".into()],
            columns: read.iter().map(|name| format!("parcels.{name}")).collect(),
            ..Facts::default()
        };
        let question = &Question::new(asked);
        let outline = &columns(&[count()]);
        let results = &rows(&[3]);
        let asked = Asked { question, outline, facts: &facts, catalog: &catalog, results };
        asked.doubt_flag().map(|doubt| doubt.kind)
    }

    #[test]
    fn what_is_so_is_not_what_is_not_so() {
        let turned = Some(DoubtKind::OtherNegation);
        for (asked, value, kind) in [
            ("How many parcels were shipped?", "0", turned),
            ("How many parcels were shipped?", "1", None),
            ("How many parcels were not shipped?", "1", turned),
            ("How many parcels have not been shipped yet?", "1", turned),
            ("How many parcels were never shipped?", "0", None),
            ("List the unshipped parcels.", "1", turned),
            ("List the unshipped parcels.", "0", None),
            ("How many parcels were shipped, and not to Rome?", "0", None),
            ("How many parcels were shipped or not?", "0", None),
        ] {
            let rest = format!("count(*) FROM parcels AS p WHERE p.shipped = {value}");
            assert_eq!(doubt(asked, &rest, &["shipped"]), kind, "{asked} {value}");
        }
        let asked = "Which parcels are gifts?";
        for (condition, kind) in [
            ("is_gift = false", turned),
            ("NOT is_gift = true", None),
            ("is_gift = true", None),
            ("is_gift", None),
        ] {
            let rest = format!("id FROM parcels WHERE {condition}");
            assert_eq!(doubt(asked, &rest, &["id", "is_gift"]), kind, "{condition}");
        }
    }

    #[test]
    fn what_is_so_is_read() {
        let lost = Some(DoubtKind::Unused);
        for (asked, rest, read, kind) in [
            ("How many parcels were shipped?", "count(*) FROM parcels", &[][..], lost),
            ("How many unshipped parcels are there?", "count(*) FROM parcels", &[], lost),
            ("How many parcels were shipped?", "count(shipped) FROM parcels", &["shipped"], lost),
            ("How many parcels were shipped?", "sum(shipped) FROM parcels", &["shipped"], None),
            ("How many parcels have a shipped date?", "count(*) FROM parcels", &[], None),
            ("How many parcels are there?", "count(*) FROM parcels", &[], None),
            (
                "How many parcels were shipped?",
                "count(*) FROM parcels WHERE state = 'shipped'",
                &["state"],
                None,
            ),
        ] {
            assert_eq!(doubt(asked, rest, read), kind, "{asked} {rest}");
        }
    }
}
