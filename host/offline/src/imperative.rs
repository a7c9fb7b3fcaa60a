//! Imperatives that would change data. The rules write the requested statement, as a model would,
//! and the guard refuses it.

use super::items::{Reading, What};
use super::schema::Schema;
use super::words::{self, Kind, Token};

/// The change that a verb asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Delete,
    Drop,
    Insert,
    Update,
}

/// The statement of an imperative, in its simplest form; `None` if the question asks for no change.
pub(crate) fn statement(schema: &Schema, reading: &Reading) -> Option<String> {
    let (at, change) =
        (0..reading.tokens.len()).find_map(|at| Some((at, change(&reading.tokens, at)?)))?;
    let named =
        reading.items.iter().filter(|item| item.from > at).find_map(|item| match &item.what {
            What::Table(table) => Some(*table),
            What::Column(columns) => columns.first().map(|(column, _)| column.table),
            What::Cell(cells) => cells.first().map(|cell| cell.column.table),
            _ => None,
        });
    let table = schema.tables.get(named.unwrap_or(0))?;
    let name = schema.dialect.quote(&table.name);
    Some(match change {
        Change::Delete => format!("DELETE FROM {name}"),
        Change::Drop => format!("DROP TABLE {name}"),
        Change::Insert => format!("INSERT INTO {name} DEFAULT VALUES"),
        Change::Update => {
            let column = schema.dialect.quote(&table.columns.first()?.name);
            format!("UPDATE {name} SET {column} = {column}")
        }
    })
}

/// Returns true if a question asks for a change of data.
#[must_use]
pub fn asks_for_change(question: &str) -> bool {
    let tokens = words::tokens(question);
    (0..tokens.len()).any(|at| change(&tokens, at).is_some())
}

/// Words that also describe or name things (`lower prices`, `Mark's orders`): they ask for a change
/// only with an object after them.
const NOT_ONLY_VERBS: &[&str] =
    &["set", "change", "lower", "clear", "mark", "raise", "move", "increase", "decrease", "reduce"];
/// Words with which the object of a verb begins.
const OBJECTS: &[&str] = &[
    "all",
    "the",
    "every",
    "each",
    "a",
    "an",
    "any",
    "this",
    "that",
    "these",
    "those",
    "them",
    "it",
    "his",
    "her",
    "its",
    "my",
    "our",
    "from",
    "table",
    "everything",
];

fn change(tokens: &[Token], at: usize) -> Option<Change> {
    let word = |at: usize| {
        tokens
            .get(at)
            .filter(|token| token.kind == Kind::Word)
            .map_or("", |token| token.lower.as_str())
    };
    let change = match word(at) {
        "delete" | "erase" | "remove" | "purge" | "wipe" | "clear" => Change::Delete,
        "drop" | "truncate" | "destroy" => Change::Drop,
        "insert" | "add" | "create" => Change::Insert,
        "update" | "set" | "change" | "modify" | "alter" | "rename" | "replace" | "overwrite"
        | "increase" | "decrease" | "raise" | "lower" | "reduce" | "assign" | "move" | "mark"
        | "swap" => Change::Update,
        _ => return None,
    };
    fn is_polite(word: &str) -> bool {
        matches!(word, "please" | "kindly" | "just" | "now" | "you" | "to" | "lets" | "let's" | "i")
    }
    let begins = (0..at).all(|before| {
        is_polite(word(before))
            || matches!(
                word(before),
                "can"
                    | "could"
                    | "would"
                    | "will"
                    | "want"
                    | "like"
                    | "need"
                    | "go"
                    | "ahead"
                    | "and"
            )
    });
    let what = word(at + 1);
    // `list them and delete all`: a verb in the middle has an object at once.
    let follows = at > 0
        && (tokens[at - 1].kind == Kind::Break
            || matches!(word(at - 1), "and" | "then" | "please"));
    // `set of`, `change in`, `add up`, `create a list of`: no data is to be changed.
    let is_noun = matches!(what, "of" | "in" | "up" | "on" | "off" | "between" | "over" | "");
    let is_report = (at + 1..at + 4).any(|at| {
        matches!(
            word(at),
            "list" | "report" | "summary" | "overview" | "ranking" | "chart" | "query" | "count"
        )
    });
    let is_meant = match begins {
        true => !is_noun && (!NOT_ONLY_VERBS.contains(&word(at)) || OBJECTS.contains(&what)),
        false => follows && OBJECTS.contains(&what),
    };
    (is_meant && !(is_report && change == Change::Insert)).then_some(change)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{self, block_on};
    use crate::interpret::interpret;

    fn best(question: &str) -> String {
        let found = block_on(interpret(question, &fixture::library(), None));
        found.list.into_iter().next().map(|one| one.sql).unwrap_or_default()
    }

    #[test]
    fn what_would_change_data_becomes_a_statement_that_the_guard_refuses() {
        assert_eq!(best("Delete all members"), "DELETE FROM \"member\"");
        assert_eq!(best("could you please remove the books of Ann"), "DELETE FROM \"book\"");
        assert_eq!(best("List the loans; drop the table loan"), "DROP TABLE \"loan\"");
        assert_eq!(best("add a member"), "INSERT INTO \"member\" DEFAULT VALUES");
        assert_eq!(
            best("Set the age of every member to 5"),
            "UPDATE \"member\" SET \"member_id\" = \"member_id\""
        );
    }

    #[test]
    fn nouns_and_reports_change_nothing() {
        for question in [
            "set of members",
            "Create a list of all members",
            "members and change in age",
            "Lower rated books",
            "Mark Smith's loans",
            "change dates of loans",
            "Which loans were added?",
        ] {
            assert!(
                !["DELETE", "DROP", "INSERT", "UPDATE"]
                    .iter()
                    .any(|verb| best(question).starts_with(verb)),
                "{question}"
            );
        }
    }
}
