//! Finished tasks in FROM: their statements are spliced in front as common table expressions, so
//! that what runs is one self-contained statement and nothing is written to the user's database.

use std::collections::HashSet;

use sqlparser::keywords::ALL_KEYWORDS;
use syrch_core::ports::Relation;
use syrch_core::{Dialect, SqlError, SqlErrorKind};

use crate::{Bounds, Kind, LexError, Token, lex};

/// A composed statement, and where the original's text stands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spliced {
    /// The text of the composed statement.
    pub text: String,
    /// The byte from which on it is the original's text.
    head: usize,
    /// The byte of the original at which that text begins.
    from: usize,
}

impl Spliced {
    /// The byte of the original that stands at this byte of the composed statement.
    #[must_use]
    pub fn original(&self, position: usize) -> Option<u32> {
        position.checked_sub(self.head).and_then(|offset| u32::try_from(offset + self.from).ok())
    }
}

/// Makes one statement out of `text` and those `relations` that it uses, directly or through each
/// other; each relation stands after those that it uses. A name that the statement defines itself
/// is the statement's own.
///
/// # Errors
/// `syntax` for a text that has no tokens, `too-large` over the bound of bytes.
pub(crate) fn splice(
    text: &str,
    relations: &[Relation],
    dialect: &Dialect,
    bounds: &Bounds,
) -> Result<Spliced, SqlError> {
    let main = Piece::read(text, dialect, bounds)?;
    let pieces = relations
        .iter()
        .map(|relation| Piece::read(&relation.sql, dialect, bounds))
        .collect::<Result<Vec<_>, SqlError>>()?;
    let used = select_relations(&main, &pieces, relations);
    let spliced = if used.is_empty() {
        Spliced { text: main.body().to_owned(), head: 0, from: main.start }
    } else {
        join(&main, &pieces, relations, &used, dialect)
    };
    if spliced.text.len() > bounds.bytes {
        let bytes = spliced.text.len();
        let limit = bounds.bytes;
        let message = format!(
            "with the tasks that it uses the statement has {bytes} bytes and may have {limit}"
        );
        return Err(SqlError::new(SqlErrorKind::TooLarge, message).rule("statement-size"));
    }
    Ok(spliced)
}

/// A statement without what stands around it: comments, white space and semicolons.
struct Piece<'t> {
    text: &'t str,
    start: usize,
    end: usize,
    /// Names that stand where a table may stand, lower case.
    tables: HashSet<String>,
    /// Names of its own outermost common table expressions, lower case.
    defined: HashSet<String>,
    /// The place where those begin: the byte after WITH [RECURSIVE], and whether RECURSIVE follows.
    with: Option<(usize, bool)>,
}

impl<'t> Piece<'t> {
    fn read(text: &'t str, dialect: &Dialect, bounds: &Bounds) -> Result<Self, SqlError> {
        let tokens = lex(text, dialect, bounds.comment_depth).map_err(|error: LexError| {
            SqlError::new(SqlErrorKind::Syntax, error.to_string()).rule("unterminated")
        })?;
        let mut tokens: Vec<Token> = tokens.into_iter().filter(Token::is_significant).collect();
        while tokens.last().is_some_and(|token| token.text(text) == ";") {
            tokens.pop();
        }
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return Err(SqlError::new(SqlErrorKind::Syntax, "the statement is empty").rule("empty"));
        };
        let is = |index: usize, word: &str| {
            tokens.get(index).is_some_and(|t: &Token| {
                t.kind == Kind::Word && t.text(text).eq_ignore_ascii_case(word)
            })
        };
        let with = is(0, "with").then(|| {
            let recursive = is(1, "recursive") && !is(2, "as");
            (tokens[usize::from(recursive)].end, recursive)
        });
        let defined = if with.is_some() { cte_names(text, &tokens) } else { HashSet::new() };
        Ok(Self {
            text,
            start: first.start,
            end: last.end,
            tables: tables(text, &tokens),
            defined,
            with,
        })
    }

    fn body(&self) -> &'t str {
        &self.text[self.start..self.end]
    }
}

/// Names after FROM, JOIN, IN, a comma or an opening parenthesis that qualify nothing: more than
/// the tables, never fewer.
fn tables(text: &str, tokens: &[Token]) -> HashSet<String> {
    fn precedes_table(text: &str, token: &Token) -> bool {
        let word = token.text(text);
        matches!(word, "," | "(")
            || [
                "from",
                "join",
                "in",
                "table",
                "only",
                "pivot",
                "unpivot",
                "pivot_wider",
                "pivot_longer",
            ]
            .iter()
            .any(|w| w.eq_ignore_ascii_case(word))
    }
    fn is_qualified(text: &str, tokens: &[Token], index: usize) -> bool {
        tokens.get(index + 2).is_some_and(|next| next.text(text) == ".")
    }
    tokens
        .windows(2)
        .enumerate()
        .filter(|(index, pair)| {
            precedes_table(text, &pair[0]) && !is_qualified(text, tokens, *index)
        })
        .filter_map(|(_, pair)| pair[1].name(text))
        .map(|name| name.to_lowercase())
        .collect()
}

/// Names that are followed by AS and an opening parenthesis outside all parentheses, which only a
/// common table expression is; a list of columns may stand between.
fn cte_names(text: &str, tokens: &[Token]) -> HashSet<String> {
    let word = |index: usize| tokens.get(index).map_or("", |token| token.text(text));
    let mut depth = 0_usize;
    let mut names = HashSet::new();
    let mut last_name = None;
    for (index, token) in tokens.iter().enumerate() {
        match token.text(text) {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            text_of
                if depth == 0 && token.kind == Kind::Word && text_of.eq_ignore_ascii_case("as") =>
            {
                let body = (index + 1..index + 4).find(|at| {
                    !["not", "materialized"].iter().any(|hint| hint.eq_ignore_ascii_case(word(*at)))
                });
                if body.is_some_and(|at| word(at) == "(") {
                    names.extend(last_name.take());
                }
            }
            _ if depth == 0 => {
                last_name = token.name(text).map(|name| name.to_lowercase()).or(last_name)
            }
            _ => {}
        }
    }
    names
}

/// Returns the relations that are needed, in their given order.
fn select_relations(main: &Piece<'_>, pieces: &[Piece<'_>], relations: &[Relation]) -> Vec<usize> {
    let mut wanted: HashSet<String> = main.tables.difference(&main.defined).cloned().collect();
    let mut used = Vec::new();
    for index in (0..relations.len()).rev() {
        if wanted.contains(&relations[index].name.to_lowercase()) {
            wanted.extend(pieces[index].tables.difference(&pieces[index].defined).cloned());
            used.push(index);
        }
    }
    used.reverse();
    used
}

fn join(
    main: &Piece<'_>,
    pieces: &[Piece<'_>],
    relations: &[Relation],
    used: &[usize],
    dialect: &Dialect,
) -> Spliced {
    let list = used
        .iter()
        .map(|index| {
            format!(
                "{} AS ({})",
                identifier(&relations[*index].name, dialect),
                pieces[*index].body()
            )
        })
        .collect::<Vec<_>>()
        .join(", ");
    // In one list, engines let each common table expression see the others: a name that the
    // statement defines must not reach into the relations, so the statement gets a scope of its own
    // then.
    let captured = used.iter().any(|index| {
        let name = relations[*index].name.to_lowercase();
        main.defined.contains(&name)
            || pieces[*index].tables.iter().any(|table| main.defined.contains(table))
    });
    match main.with {
        Some(_) if captured => {
            let head = format!("WITH {list} SELECT * FROM (");
            let text = format!("{head}{}) AS statement", main.body());
            Spliced { text, head: head.len(), from: main.start }
        }
        Some((after, recursive)) => {
            let head = format!("WITH {}{list},", if recursive { "RECURSIVE " } else { "" });
            let text = format!("{head}{}", &main.text[after..main.end]);
            Spliced { text, head: head.len(), from: after }
        }
        None => {
            let head = format!("WITH {list} ");
            let text = format!("{head}{}", main.body());
            Spliced { text, head: head.len(), from: main.start }
        }
    }
}

/// A name as the dialect writes it: plain where that is safe, else quoted.
fn identifier(name: &str, dialect: &Dialect) -> String {
    dialect
        .identifier(name, ALL_KEYWORDS.binary_search(&name.to_ascii_uppercase().as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn relation(name: &str, sql: &str) -> Relation {
        Relation { name: name.into(), sql: sql.into(), columns: Vec::new() }
    }

    fn compose_text(text: &str, relations: &[Relation]) -> String {
        splice(text, relations, &Dialect::Sqlite, &Bounds::default()).unwrap().text
    }

    #[test]
    fn only_what_is_used_is_spliced() {
        let relations = [
            relation("a", "SELECT 1 AS x -- one\n;"),
            relation("b", "SELECT 2"),
            relation("c", "SELECT x FROM a; -- end"),
        ];
        assert_eq!(
            compose_text("SELECT * FROM C;-- done", &relations),
            "WITH a AS (SELECT 1 AS x), c AS (SELECT x FROM a) SELECT * FROM C"
        );
        assert_eq!(
            compose_text(" SELECT 'a' AS b, x AS c ; ", &relations),
            "SELECT 'a' AS b, x AS c"
        );
    }

    #[test]
    fn the_statements_own_with_is_joined() {
        let relations = [relation("a", "SELECT 1 AS x")];
        assert_eq!(
            compose_text("WITH RECURSIVE r AS (SELECT * FROM a) SELECT * FROM r", &relations),
            "WITH RECURSIVE a AS (SELECT 1 AS x), r AS (SELECT * FROM a) SELECT * FROM r"
        );
    }

    #[test]
    fn a_name_of_the_statements_own_is_its_own() {
        let relations = [relation("a", "SELECT * FROM orders"), relation("b", "SELECT * FROM a")];
        let own = "WITH a(x) AS NOT MATERIALIZED (SELECT 5) SELECT * FROM a";
        assert_eq!(compose_text(own, &relations), own);
        assert_eq!(
            compose_text("WITH a AS (SELECT 5) SELECT * FROM a, b", &relations),
            "WITH a AS (SELECT * FROM orders), b AS (SELECT * FROM a) SELECT * \
             FROM (WITH a AS (SELECT 5) SELECT * FROM a, b) AS statement"
        );
        assert_eq!(
            compose_text("WITH orders AS (SELECT 1) SELECT * FROM orders, a", &relations),
            "WITH a AS (SELECT * FROM orders) SELECT * FROM (WITH orders AS (SELECT 1) SELECT * \
             FROM orders, a) AS statement"
        );
    }

    #[test]
    fn a_schema_of_a_relations_name_is_no_use_of_it() {
        let relations = [relation("sales", "SELECT 1 AS x")];
        for dialect in [Dialect::Postgres, Dialect::Duckdb, Dialect::Spark, Dialect::Databricks] {
            let compose =
                |text: &str| splice(text, &relations, &dialect, &Bounds::default()).unwrap().text;
            assert_eq!(compose("SELECT id FROM sales.orders"), "SELECT id FROM sales.orders");
            assert_eq!(
                compose("SELECT x FROM sales"),
                "WITH sales AS (SELECT 1 AS x) SELECT x FROM sales"
            );
        }
        let odd = [relation("my task", "SELECT 1")];
        let composed = splice("SELECT * FROM `my task`", &odd, &Dialect::Spark, &Bounds::default())
            .unwrap()
            .text;
        assert_eq!(composed, "WITH `my task` AS (SELECT 1) SELECT * FROM `my task`");
    }

    #[test]
    fn odd_names_are_quoted() {
        let relations = [relation("order", "SELECT 1"), relation("my task", "SELECT 2")];
        assert_eq!(
            compose_text("SELECT * FROM \"order\" JOIN [my task]", &relations),
            "WITH \"order\" AS (SELECT 1), \"my task\" AS (SELECT 2) SELECT * FROM \"order\" \
             JOIN [my task]"
        );
    }

    #[test]
    fn positions_lead_back_to_the_original() {
        let relations = [relation("a", "SELECT 1 AS x")];
        for text in ["  SELECT y FROM a", "WITH r AS (SELECT 1) SELECT y FROM r, a"] {
            let spliced = splice(text, &relations, &Dialect::Sqlite, &Bounds::default()).unwrap();
            let found = spliced.original(spliced.text.rfind('y').unwrap());
            assert_eq!(found, text.rfind('y').map(|at| at as u32), "{}", spliced.text);
            assert_eq!(spliced.original(3), None);
        }
    }

    #[test]
    fn too_large_is_refused() {
        let relations = [relation("a", &format!("SELECT '{}'", "x".repeat(65_000)))];
        let error = splice(
            &format!("SELECT '{}' FROM a", "y".repeat(1_000)),
            &relations,
            &Dialect::Sqlite,
            &Bounds::default(),
        );
        assert_eq!(error.unwrap_err().rule.as_deref(), Some("statement-size"));
    }

    proptest! {
        #[test]
        fn comments_and_strings_never_break_out(note in "[^\n\0]{0,20}", value in "[^'\0]{0,20}") {
            let relations = [relation("a", &format!("SELECT '{value}' AS x -- {note}"))];
            let text = compose_text(&format!("SELECT x FROM a -- {note}"), &relations);
            prop_assert_eq!(text, format!("WITH a AS (SELECT '{value}' AS x) SELECT x FROM a"));
        }
    }
}
