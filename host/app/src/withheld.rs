//! What roles must not be told while a question is graded: the questions, and the statements that answer them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use sqlparser::ast::{Expr, OrderByKind, Query, SelectItem, SetExpr, Statement, VisitMut, VisitorMut};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;
use syrch_search::{Example, Note};

/// Words of a question or a statement at least, so that a longer text counts as holding it.
const WORDS: usize = 3;
/// Nesting that the parser follows.
const RECURSION: usize = 200;
/// Bytes of a statement that is parsed: its tree is no deeper than that.
const LONGEST: usize = 16 << 10;
/// What the deepest tree of such a statement needs, with much to spare.
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
    /// Those questions and statements.
    #[must_use]
    pub fn new<'a>(
        questions: impl IntoIterator<Item = &'a str>,
        statements: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let statements: Vec<&str> = statements.into_iter().collect();
        let questions: BTreeSet<String> = questions.into_iter().map(words).filter(|words| !words.is_empty()).collect();
        let plain = statements.iter().map(|sql| words(sql));
        let normal: BTreeSet<String> = normals(&statements).into_iter().filter(|words| !words.is_empty()).collect();
        let mut within: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for text in questions.iter().cloned().chain(plain).chain(normal.iter().cloned()) {
            if let Some((first, _)) = text.split_once(' ').filter(|_| text.split(' ').count() >= WORDS) {
                within.entry(first.to_owned()).or_default().insert(text);
            }
        }
        Self { questions, statements: normal, within }
    }

    /// Leaves out what holds one of them: examples that ask such a question or are solved by such a statement, and notes in which one stands.
    /// How many examples and notes that are.
    pub(crate) fn take_out(&self, examples: &mut Vec<Example>, notes: &mut Vec<Note>) -> (usize, usize) {
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

    /// Whether a text is one of them, or holds one of some length.
    fn stands_in(&self, text: &str) -> bool {
        let text = words(text);
        if self.questions.contains(&text) || self.statements.contains(&text) {
            return true;
        }
        let starts = std::iter::once(0).chain(text.match_indices(' ').map(|(at, _)| at + 1));
        starts.filter_map(|at| text.get(at..)).any(|rest| {
            let first = rest.split(' ').next().unwrap_or_default();
            let begins = |told: &String| {
                rest.strip_prefix(told.as_str()).is_some_and(|after| after.is_empty() || after.starts_with(' '))
            };
            self.within.get(first).is_some_and(|told| told.iter().any(begins))
        })
    }
}

/// A text's words in small letters, without what stands between them.
fn words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Statements by their words, without the names of their columns and without words that change nothing. One that cannot be parsed is its words.
fn normals(statements: &[&str]) -> Vec<String> {
    let all = || statements.iter().map(|sql| normal(sql)).collect();
    // A tree may be as deep as its statement is long.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("withheld".to_owned()).stack_size(STACK);
        let made = thread.spawn_scoped(scope, all).ok().and_then(|thread| thread.join().ok());
        made.unwrap_or_else(|| statements.iter().map(|sql| words(sql)).collect())
    })
}

fn normal(sql: &str) -> String {
    let text = parsed(sql).unwrap_or_else(|| sql.to_owned());
    let words = words(&text);
    words.split(' ').filter(|word| !OPTIONAL.contains(word)).collect::<Vec<_>>().join(" ")
}

/// The statement without its columns' names; none when it is no query that can be parsed.
fn parsed(sql: &str) -> Option<String> {
    if sql.len() > LONGEST {
        return None;
    }
    let parser = Parser::new(&SQLiteDialect {}).with_recursion_limit(RECURSION);
    let mut statements = parser.try_with_sql(sql).ok()?.parse_statements().ok()?;
    let (Some(Statement::Query(mut query)), true) = (statements.pop(), statements.is_empty()) else { return None };
    nameless(&mut query);
    Some(query.to_string())
}

/// Takes the names off the columns of a query; where it orders by one, what it stands for takes its place.
fn nameless(query: &mut Query) {
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
    if let Some(OrderByKind::Expressions(keys)) = query.order_by.as_mut().map(|order| &mut order.kind) {
        let _ = keys.visit(&mut named);
    }
}

/// What columns' names stand for.
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

    fn left(told: &Withheld, questions: &[(&str, &str)], notes: &[&str]) -> (Vec<String>, Vec<String>) {
        let example = |(question, sql): &(&str, &str)| Example { question: (*question).into(), sql: (*sql).into() };
        let note = |text: &&str| Note { id: String::new(), text: (*text).into(), table: None, column: None };
        let mut examples: Vec<Example> = questions.iter().map(example).collect();
        let mut notes: Vec<Note> = notes.iter().map(note).collect();
        let counts = (questions.len(), notes.len());
        let out = told.take_out(&mut examples, &mut notes);
        assert_eq!(out, (counts.0 - examples.len(), counts.1 - notes.len()));
        (examples.into_iter().map(|example| example.sql).collect(), notes.into_iter().map(|note| note.text).collect())
    }

    #[test]
    fn a_statement_is_known_under_other_names_case_and_space() {
        let gold = "SELECT country, COUNT(*) AS n FROM customers AS c GROUP BY country ORDER BY n DESC";
        let told = Withheld::new(["How many?"], [gold]);
        let same = [
            "select country,\n count( * ) as \"how many\" from customers c group by 1 order by 2 desc",
            "select Country, count(*) from [customers] c group by country order by COUNT(*) desc;",
            "SELECT country place, COUNT(*) total FROM customers c GROUP BY place ORDER BY total DESC",
        ];
        // Numbers of columns stand for themselves.
        let examples = [("a", same[0]), ("b", same[1]), ("c", same[2]), ("how MANY", "SELECT 1"), ("d", "SELECT 2")];
        let (kept, _) = left(&told, &examples, &[]);
        assert_eq!(kept, [same[0], "SELECT 2"]);
    }

    #[test]
    fn a_note_that_holds_one_is_left_out() {
        let told = Withheld::new(["Who spends the most?", "Sales?"], ["SELECT name AS n FROM customers", "no ( sql"]);
        let notes = [
            "use: select NAME as N\nfrom customers -- always",
            "Write SELECT name FROM customers;",
            "Asked who spends the most, say Anna",
            "sales",
            "sales are in cents",
            "who spends the mostest",
        ];
        let (_, kept) = left(&told, &[], &notes);
        assert_eq!(kept, ["sales are in cents", "who spends the mostest"]);
    }

    #[test]
    fn a_deep_statement_is_no_harm() {
        let deep = format!("SELECT {}1", "1+".repeat(7_000));
        let told = Withheld::new([], [deep.as_str()]);
        assert_eq!(left(&told, &[("a", &deep), ("b", "SELECT 1")], &[]).0, ["SELECT 1"]);
    }
}
