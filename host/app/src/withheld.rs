//! Texts that must not reach a role while a question is graded: the questions, and the statements
//! that answer them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, OrderByKind, Query, Select, SelectItem, SetExpr, Statement, TableFactor, VisitMut,
    VisitorMut,
};
use sqlparser::dialect::{
    DatabricksDialect, Dialect, DuckDbDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;
use syrch_retrieval::{Example, Note};

/// Words of a question or a statement at least, so that a longer text counts as holding it.
const WORDS: usize = 3;
/// Nesting that the parser follows.
const RECURSION: usize = 200;
/// Bytes of a statement that is parsed: its tree is no deeper than that.
const LONGEST: usize = 16 << 10;
/// The stack that the deepest tree of such a statement needs, with much to spare, in bytes.
const STACK: usize = 64 << 20;
/// Words that may stand in a statement or not.
const OPTIONAL: [&str; 4] = ["as", "asc", "inner", "outer"];

/// Questions and statements, by their words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Withheld {
    questions: BTreeSet<String>,
    statements: BTreeSet<String>,
    /// All of them that are long enough to be looked for in longer texts, by their first word.
    within: BTreeMap<String, BTreeSet<String>>,
}

impl Withheld {
    /// Collects the questions and the statements that must not reach a role.
    #[must_use]
    pub fn new<'a>(
        questions: impl IntoIterator<Item = &'a str>,
        statements: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let statements: Vec<&str> = statements.into_iter().collect();
        let questions: BTreeSet<String> =
            questions.into_iter().map(words).filter(|words| !words.is_empty()).collect();
        let plain = statements.iter().map(|sql| words(sql));
        let normal: BTreeSet<String> =
            normals(&statements).into_iter().filter(|words| !words.is_empty()).collect();
        let mut within: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for text in questions.iter().cloned().chain(plain).chain(normal.iter().cloned()) {
            if let Some((first, _)) =
                text.split_once(' ').filter(|_| text.split(' ').count() >= WORDS)
            {
                within.entry(first.to_owned()).or_default().insert(text);
            }
        }
        Self { questions, statements: normal, within }
    }

    /// Removes the examples that ask such a question or are solved by such a statement, and the
    /// notes that contain one. Returns the numbers of examples and of notes that were removed.
    pub(crate) fn take_out(
        &self,
        examples: &mut Vec<Example>,
        notes: &mut Vec<Note>,
    ) -> (usize, usize) {
        if self.questions.is_empty() && self.statements.is_empty() {
            return (0, 0);
        }
        let before = (examples.len(), notes.len());
        let solved: Vec<&str> = examples.iter().map(|example| example.sql.as_str()).collect();
        let mut solved = normals(&solved).into_iter();
        examples.retain(|example| {
            let is_solved = solved.next().is_some_and(|normal| self.statements.contains(&normal));
            !is_solved && !self.questions.contains(&words(&example.question))
        });
        notes.retain(|note| !self.stands_in(&note.text));
        (before.0 - examples.len(), before.1 - notes.len())
    }

    /// Returns whether a text is one of them, or contains one of some length.
    fn stands_in(&self, text: &str) -> bool {
        let text = words(text);
        if self.questions.contains(&text) || self.statements.contains(&text) {
            return true;
        }
        let starts = std::iter::once(0).chain(text.match_indices(' ').map(|(at, _)| at + 1));
        starts.filter_map(|at| text.get(at..)).any(|rest| {
            let first = rest.split(' ').next().unwrap_or_default();
            self.within.get(first).is_some_and(|reported| {
                reported.iter().any(|reported: &String| {
                    rest.strip_prefix(reported.as_str())
                        .is_some_and(|after| after.is_empty() || after.starts_with(' '))
                })
            })
        })
    }
}

/// A text's words in small letters, without what stands between them.
fn words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Statements by their words, without the names that they give to tables and columns and without
/// words that change nothing. One that cannot be parsed is its words.
fn normals(statements: &[&str]) -> Vec<String> {
    // A tree may be as deep as its statement is long.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("withheld".to_owned()).stack_size(STACK);
        let made = thread
            .spawn_scoped(scope, || statements.iter().map(|sql| normalize_words(sql)).collect())
            .ok()
            .and_then(|thread| thread.join().ok());
        made.unwrap_or_else(|| statements.iter().map(|sql| words(sql)).collect())
    })
}

fn normalize_words(sql: &str) -> String {
    let text = normalize_statement(sql).unwrap_or_else(|| sql.to_owned());
    let words = words(&text);
    words.split(' ').filter(|word| !OPTIONAL.contains(word)).collect::<Vec<_>>().join(" ")
}

/// The statement without the names that it gives to tables and columns; `None` if it is no query
/// that can be parsed.
fn normalize_statement(sql: &str) -> Option<String> {
    if sql.len() > LONGEST {
        return None;
    }
    // Whichever reads it: nobody says for which engine a solved example was written.
    let dialects: [&dyn Dialect; 4] =
        [&SQLiteDialect {}, &PostgreSqlDialect {}, &DuckDbDialect {}, &DatabricksDialect {}];
    let mut statements = dialects.into_iter().find_map(|dialect| {
        let parser = Parser::new(dialect).with_recursion_limit(RECURSION);
        parser.try_with_sql(sql).ok()?.parse_statements().ok()
    })?;
    let (Some(Statement::Query(mut query)), true) = (statements.pop(), statements.is_empty())
    else {
        return None;
    };
    // PostgreSQL's reading takes `SELECT FROM WHERE name` for a query that selects nothing.
    if matches!(&*query.body, SetExpr::Select(select) if select.projection.is_empty()) {
        return None;
    }
    let _ = query.visit(&mut Unqualified);
    remove_aliases(&mut query);
    Some(query.to_string())
}

/// Takes the names off the columns of a query; where it orders by one, what it stands for takes its
/// place.
fn remove_aliases(query: &mut Query) {
    let SetExpr::Select(select) = &mut *query.body else { return };
    let mut named = Named(BTreeMap::new());
    for item in &mut select.projection {
        if let SelectItem::ExprWithAlias { expr, alias } = item {
            named.0.insert(alias.value.to_lowercase(), expr.clone());
            *item = SelectItem::UnnamedExpr(expr.clone());
        }
    }
    let _ = select.group_by.visit(&mut named);
    let _ = select.having.visit(&mut named);
    if let Some(OrderByKind::Expressions(keys)) =
        query.order_by.as_mut().map(|order| &mut order.kind)
    {
        let _ = keys.visit(&mut named);
    }
}

/// Takes the names off tables, and off columns what says of which table they are. Statements that
/// then are the same read the same columns of the same tables, in the same places.
struct Unqualified;

impl VisitorMut for Unqualified {
    type Break = ();

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { alias, .. } | TableFactor::Derived { alias, .. } = table {
            *alias = None;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            if let SelectItem::QualifiedWildcard(_, options) = item {
                *item = SelectItem::Wildcard(options.clone());
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let Some(column) = parts.pop()
        {
            *expr = Expr::Identifier(column);
        }
        ControlFlow::Continue(())
    }
}

/// Replaces columns' names by the expressions that they stand for.
struct Named(BTreeMap<String, Expr>);

impl VisitorMut for Named {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = expr
            && let Some(meant) = self.0.get(&name.value.to_lowercase())
        {
            *expr = meant.clone();
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(
        reported: &Withheld,
        questions: &[(&str, &str)],
        notes: &[&str],
    ) -> (Vec<String>, Vec<String>) {
        let example = |(question, sql): &(&str, &str)| Example {
            question: (*question).into(),
            sql: (*sql).into(),
        };
        let note = |text: &&str| Note {
            id: String::new(),
            text: (*text).into(),
            table: None,
            column: None,
        };
        let mut examples: Vec<Example> = questions.iter().map(example).collect();
        let mut notes: Vec<Note> = notes.iter().map(note).collect();
        let counts = (questions.len(), notes.len());
        let out = reported.take_out(&mut examples, &mut notes);
        assert_eq!(out, (counts.0 - examples.len(), counts.1 - notes.len()));
        (
            examples.into_iter().map(|example| example.sql).collect(),
            notes.into_iter().map(|note| note.text).collect(),
        )
    }

    #[test]
    fn a_statement_is_known_under_other_names_case_and_space() {
        let gold =
            "SELECT country, COUNT(*) AS n FROM customers AS c GROUP BY country ORDER BY n DESC";
        let reported = Withheld::new(["How many?"], [gold]);
        let same = [
            "select country,\n count( * ) as \"how many\" from customers c group by 1 \
             order by 2 desc",
            "select Country, count(*) from [customers] c group by country order by COUNT(*) desc;",
            "SELECT country place, COUNT(*) total FROM customers c GROUP BY place \
             ORDER BY total DESC",
        ];
        // Numbers of columns stand for themselves.
        let examples = [
            ("a", same[0]),
            ("b", same[1]),
            ("c", same[2]),
            ("how MANY", "SELECT 1"),
            ("d", "SELECT 2"),
        ];
        let (examples, _) = left(&reported, &examples, &[]);
        assert_eq!(examples, [same[0], "SELECT 2"]);
    }

    #[test]
    fn what_tables_are_called_in_a_statement_is_all_one() {
        let gold = "SELECT c.name, SUM(o.price) AS spent FROM customers AS c \
                    JOIN orders o ON o.customer_id = c.id GROUP BY c.id";
        let reported = Withheld::new(
            [],
            [gold, "SELECT x.* FROM orders x WHERE x.price IN (SELECT y.price FROM orders y)"],
        );
        let same = [
            "select a.name, sum(b.price) from customers a inner join orders b on b.customer_id = \
             a.id group by a.id",
            "SELECT customers.name, SUM(price) total FROM customers \
             JOIN orders ON orders.customer_id = customers.id GROUP BY customers.id;",
            "SELECT * FROM orders WHERE price IN (SELECT o.price FROM orders AS o)",
        ];
        let others = [
            "SELECT c.name, SUM(o.price) FROM customers c JOIN orders o ON o.customer_id = c.id \
             GROUP BY c.name",
            "SELECT c.name, MAX(o.price) FROM customers c JOIN orders o ON o.customer_id = c.id \
             GROUP BY c.id",
            "SELECT c.name, SUM(o.price) FROM clients c JOIN orders o ON o.customer_id = c.id \
             GROUP BY c.id",
            "SELECT c.name, SUM(o.price) FROM customers c LEFT \
             JOIN orders o ON o.customer_id = c.id GROUP BY c.id",
            "SELECT * FROM orders WHERE price NOT IN (SELECT o.price FROM orders AS o)",
        ];
        let examples: Vec<(&str, &str)> =
            same.iter().chain(&others).map(|sql| ("another?", *sql)).collect();
        assert_eq!(left(&reported, &examples, &[]).0, others);
    }

    #[test]
    fn statements_of_other_engines_are_known_too() {
        let gold = "SELECT c.name FROM customers c WHERE c.tags @> ARRAY['a'] \
                    AND c.age::int > 3 FETCH FIRST 2 ROWS ONLY";
        let same = "select name from customers where tags @> array['a'] and age::INT > 3 fetch \
                    first 2 rows only";
        assert_eq!(
            left(&Withheld::new([], [gold]), &[("a", same), ("b", "SELECT 1")], &[]).0,
            ["SELECT 1"]
        );
    }

    #[test]
    fn statements_that_cannot_be_parsed_are_reported_by_their_words() {
        let reported = Withheld::new([], ["SELECT FROM WHERE name", ""]);
        let examples = [
            ("a", "select\tfrom where NAME;"),
            ("b", "SELECT FROM WHERE names"),
            ("c", ""),
            ("", "SELECT 1"),
        ];
        assert_eq!(left(&reported, &examples, &[]).0, ["SELECT FROM WHERE names", "", "SELECT 1"]);
    }

    #[test]
    fn a_question_is_known_by_its_words_alone() {
        let reported = Withheld::new(["  How many — really — are there? "], []);
        let examples =
            [("how MANY really are there", "SELECT 1"), ("How many are there?", "SELECT 2")];
        let notes = ["If asked \"How many really are there?\", count", "how many really are those"];
        assert_eq!(
            left(&reported, &examples, &notes),
            (vec!["SELECT 2".to_owned()], vec![notes[1].to_owned()])
        );
    }

    #[test]
    fn where_nothing_is_withheld_nothing_is_left_out() {
        let examples = [("a", "SELECT 1"), ("", "")];
        for none in [Withheld::default(), Withheld::new(["", " ? "], ["", ";"])] {
            assert_eq!(
                left(&none, &examples, &["", "a note"]),
                (vec!["SELECT 1".into(), String::new()], vec![String::new(), "a note".into()])
            );
        }
    }

    #[test]
    fn a_note_that_holds_one_is_left_out() {
        let reported = Withheld::new(
            ["Who spends the most?", "Sales?"],
            ["SELECT name AS n FROM customers", "no ( sql"],
        );
        let notes = [
            "use: select NAME as N\nfrom customers -- always",
            "Write SELECT name FROM customers;",
            "Asked who spends the most, say Anna",
            "sales",
            "sales are in cents",
            "who spends the mostest",
        ];
        let (_, notes) = left(&reported, &[], &notes);
        assert_eq!(notes, ["sales are in cents", "who spends the mostest"]);
    }

    #[test]
    fn how_many_are_left_out_is_reported() {
        let folder = syrch_kit::scratch();
        let said = |solved: usize, reported: usize| {
            let example = "{\"question\": \"Who?\", \"sql\": \"SELECT 2\"}\n\
                           {\"question\": \"And?\", \"sql\": \"SELECT 2\"}\n";
            let examples = folder.path().join("examples.jsonl");
            let notes = folder.path().join("notes.txt");
            std::fs::write(&examples, example.replacen("SELECT 2", "SELECT 1", solved)).unwrap();
            std::fs::write(&notes, ["Who?\n"; 2][..reported].concat() + "nobody\n").unwrap();
            let withheld = Withheld::new((reported > 0).then_some("Who?"), ["SELECT 1"]);
            let mut settings = crate::settings::RetrievalSettings {
                withheld: withheld.into(),
                ..Default::default()
            };
            (settings.examples, settings.notes) = (Some(examples), Some(notes));
            crate::knowledge::left_out(&settings).unwrap()
        };
        let text = "a graded question or its answer, and";
        assert_eq!(said(0, 0), None);
        assert_eq!(said(1, 0), Some(format!("1 solved example holds {text} is left out")));
        assert_eq!(said(2, 0), Some(format!("2 solved examples hold {text} are left out")));
        assert_eq!(
            said(2, 1),
            Some(format!("2 solved examples and 1 note hold {text} are left out"))
        );
        assert_eq!(
            said(1, 2),
            Some(format!("1 solved example and 2 notes hold {text} are left out"))
        );
        let none = crate::settings::RetrievalSettings::default();
        assert_eq!(crate::knowledge::left_out(&none).unwrap(), None);
    }

    #[test]
    fn a_deep_statement_is_no_harm() {
        let deep = format!("SELECT {}1", "1+".repeat(7_000));
        let reported = Withheld::new([], [deep.as_str()]);
        assert_eq!(left(&reported, &[("a", &deep), ("b", "SELECT 1")], &[]).0, ["SELECT 1"]);
    }
}
