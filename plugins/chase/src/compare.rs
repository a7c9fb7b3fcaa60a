//! One comparison: the prompt that shows two statements with what they return, and the word that
//! comes back.

use syrch_plugin::prelude::*;
use syrch_plugin::prompt;
use syrch_plugin::serde_json;
use syrch_plugin::text::{clip, count, line};

use crate::Settings;

// Enough to judge by, and a bound on what a hostile reply can put into the next prompt.
const STATEMENT: usize = 8000;
// The most characters of a task's text.
const TASK: usize = 2000;
/// The number of rows of each result that are compared.
const READ: u32 = 200;
/// The two words of a verdict.
const WORDS: [&str; 2] = ["A", "B"];

/// The subject that all comparisons of one task share.
pub(crate) struct Matter<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) problem: &'a Problem,
    pub(crate) catalog: &'a Catalog,
    pub(crate) task: &'a Task,
}

/// A statement with what it returned.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) sql: &'a str,
    pub(crate) results: &'a ResultSet,
}

impl Matter<'_> {
    /// The request that asks which of two is right, the first as A. Only the tables that one of
    /// them reads are shown (CHASE-SQL's union of their schemas).
    pub(crate) fn request(
        &self,
        host: &(impl Inspect + Rows),
        first: Shown,
        second: Shown,
    ) -> Request {
        let tables = prompt::catalog(
            &self.read(host, [first, second]),
            self.settings.catalog_bytes as usize,
        );
        let mut user = format!("Tables:\n{tables}\n{}", prompt::problem(self.problem));
        if self.task.text.trim() != self.problem.question.trim() {
            let text = line(&self.task.text, TASK);
            user += &format!(
                "The question is the setting. The statements are for this part of it: {text}\n"
            );
        }
        if let Some(expected) = &self.task.expected {
            user += &format!("The result should be: {}\n", line(expected, 400));
        }
        for (word, one) in WORDS.iter().zip([first, second]) {
            user += &format!(
                "\nStatement {word}:\n{}\nIts result: {}\n",
                clip(one.sql, STATEMENT),
                shape(one.results)
            );
        }
        user += &self.difference(host, first, second);
        Ask::new(Purpose::Select)
            .system(self.instructions())
            .user(user)
            .subjects(vec![first.sql.to_owned(), second.sql.to_owned()])
            .choice(WORDS.map(str::to_owned).to_vec())
    }

    fn instructions(&self) -> String {
        format!(
            "You decide which of two {} statements answers a question. Both run, and their results \
             differ: at most one of them is right.\n\
             Look at what the question asks for, at how each statement gets there, and at where \
             the results differ: tables and joins, filters, doubled or missing rows, columns too \
             many or too few. Neither its place nor its length speaks for a statement.\n\
             Answer with one letter, A or B, and nothing else.",
            self.catalog.syntax.title
        )
    }

    /// The catalog with only the tables of the two statements; the whole catalog if these are not
    /// known.
    fn read(&self, host: &impl Inspect, both: [Shown; 2]) -> Catalog {
        let facts: Vec<Facts> = both.iter().filter_map(|one| host.check(one.sql).ok()).collect();
        let read = facts.iter().flat_map(|facts| &facts.tables);
        let read: Vec<&Table> = read.filter_map(|name| self.catalog.table(name)).collect();
        let tables: Vec<Table> = self
            .catalog
            .tables
            .iter()
            .filter(|table: &&Table| read.iter().any(|known| known.is_same(table)))
            .cloned()
            .collect();
        if facts.len() < both.len() || tables.is_empty() {
            return self.catalog.clone();
        }
        Catalog { tables, ..self.catalog.clone() }
    }

    /// Rows that only one of the two has; nothing without a grant.
    fn difference(&self, host: &impl Rows, first: Shown, second: Shown) -> String {
        let most = self.settings.compared_rows as usize;
        let read = |one: Shown| host.read(one.results, 0, READ);
        let (true, Ok(left), Ok(right)) = (most > 0, read(first), read(second)) else {
            return String::new();
        };
        fn is_whole(page: &Page, one: Shown) -> bool {
            page.rows.len() as u64 == one.results.profile().rows
        }
        let among = if is_whole(&left, first) && is_whole(&right, second) {
            ""
        } else {
            " among the first ones"
        };
        let [only_left, only_right] = [lacking_rows(&left, &right), lacking_rows(&right, &left)];
        if only_left.rows.is_empty() && only_right.rows.is_empty() {
            return if among.is_empty() {
                String::new()
            } else {
                "The first rows of both are the same.\n".to_owned()
            };
        }
        let reported = |word: &str, mut only: Page| {
            let number = count(only.rows.len() as u64, "row");
            only.rows.truncate(most);
            let rows = if only.rows.is_empty() { String::new() } else { prompt::rows(&only) };
            format!("\nOnly {word} has{among}: {number}\n{rows}")
        };
        reported(WORDS[0], only_left) + &reported(WORDS[1], only_right)
    }
}

/// Returns true if the reply names the first and false if it names the second; `None` if it names
/// neither.
pub(crate) fn first_wins(reply: &Reply) -> Option<bool> {
    let word: String = serde_json::from_str(reply.parsed.as_deref()?).ok()?;
    WORDS.iter().position(|known| *known == word).map(|place| place == 0)
}

fn shape(results: &ResultSet) -> String {
    let profile = results.profile();
    let columns: Vec<String> =
        profile.columns.iter().take(50).map(|column| line(&column.column.name, 60)).collect();
    let cut = if profile.truncated { " (cut)" } else { "" };
    format!(
        "{}{cut}, {}: {}",
        count(profile.rows, "row"),
        count(profile.columns.len() as u64, "column"),
        columns.join(", ")
    )
}

/// The rows of a page that the other lacks, as often as it lacks them.
fn lacking_rows(page: &Page, other: &Page) -> Page {
    let mut left = other.rows.clone();
    let mut is_lacking = |row: &&Vec<Value>| match left.iter().position(|known| known == *row) {
        Some(place) => {
            left.swap_remove(place);
            false
        }
        None => true,
    };
    Page { rows: page.rows.iter().filter(|row| is_lacking(row)).cloned().collect(), ..page.clone() }
}
