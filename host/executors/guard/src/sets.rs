//! Closed sets of values: the texts that a CHECK constraint or an enumeration allows in a column.
//! They are read from what the schema says, which whoever made the database wrote: what is long or
//! unusual has no set.

use sqlparser::ast::{
    BinaryOperator, ColumnOption, Expr, Statement, TableConstraint, Value, ValueWithSpan,
};
use sqlparser::dialect::{Dialect as Grammar, GenericDialect, dialect_from_str};
use sqlparser::parser::Parser;
use syrch_core::Dialect;

use crate::facts::check_chains;
use crate::{Kind, lex, stack};

/// Bytes of a declaration that is read.
const LONGEST: usize = 32 << 10;
/// Nesting of a declaration that is read.
const DEPTH: usize = 50;

/// A column, and the only texts that it may have besides NULL, in the order in which they are
/// declared.
pub type ClosedSet = (String, Vec<String>);

/// Reads the condition of a CHECK constraint: `x IN ('a', 'b')`, `x = 'a' OR x = 'b'`, `x = ANY
/// (ARRAY['a', 'b'])`, and several of them with AND between them. Any other condition has no closed
/// set.
#[must_use]
pub fn read_condition(text: &str, dialect: &Dialect) -> Vec<ClosedSet> {
    read(text, dialect, |parser| {
        let condition = parser.parse_expr().ok()?;
        Some(find_closed_sets(&condition))
    })
}

/// Reads the CHECK constraints of a CREATE TABLE of SQLite.
#[must_use]
pub fn read_declaration(text: &str) -> Vec<ClosedSet> {
    read(text, &Dialect::Sqlite, |parser| {
        let Ok(Statement::CreateTable(table)) = parser.parse_statement() else { return None };
        let of_columns =
            table.columns.iter().flat_map(|column| &column.options).filter_map(|option| {
                match &option.option {
                    ColumnOption::Check(check) => Some(&*check.expr),
                    _ => None,
                }
            });
        let of_table = table.constraints.iter().filter_map(|constraint| match constraint {
            TableConstraint::Check(check) => Some(&*check.expr),
            _ => None,
        });
        let mut sets: Vec<ClosedSet> =
            of_columns.chain(of_table).flat_map(find_closed_sets).collect();
        // In a declaration, too, a name in double quotes is a text only where no column has it.
        let names: Vec<String> =
            table.columns.iter().map(|column| column.name.value.to_lowercase()).collect();
        sets.retain(|(_, values)| {
            !values.iter().any(|value| names.contains(&value.to_lowercase()))
        });
        Some(sets)
    })
}

/// Reads the labels of an enumeration from the name of its type, as DuckDB writes it: `ENUM('a',
/// 'b')`.
#[must_use]
pub fn read_enumeration(sql_type: &str) -> Option<Vec<String>> {
    let tokens = lex(sql_type, &Dialect::Duckdb, 0).ok()?;
    let mut tokens = tokens.iter().filter(|token| token.is_significant());
    let is_enumeration = tokens.next()?.text(sql_type).eq_ignore_ascii_case("enum")
        && tokens.next()?.text(sql_type) == "(";
    let labels = tokens
        .take_while(|token| token.text(sql_type) != ")")
        .filter(|token| token.kind == Kind::Text);
    let label = |text: &str| Some(text.strip_prefix('\'')?.strip_suffix('\'')?.replace("''", "'"));
    if is_enumeration { labels.map(|token| label(token.text(sql_type))).collect() } else { None }
}

fn read<T: Default>(
    text: &str,
    dialect: &Dialect,
    work: impl FnOnce(&mut Parser<'_>) -> Option<T>,
) -> T {
    if text.len() > LONGEST {
        return T::default();
    }
    let grammar: Box<dyn Grammar> =
        dialect_from_str(dialect.name()).unwrap_or_else(|| Box::new(GenericDialect));
    let chains = lex(text, dialect, DEPTH).ok().and_then(|tokens| check_chains(text, &tokens).ok());
    chains
        .and_then(|chains| {
            stack::on_a_large_stack(chains, || {
                let mut parser =
                    Parser::new(&*grammar).with_recursion_limit(DEPTH).try_with_sql(text).ok()?;
                work(&mut parser)
            })
        })
        .flatten()
        .unwrap_or_default()
}

/// The closed sets of a condition whose parts all hold.
fn find_closed_sets(condition: &Expr) -> Vec<ClosedSet> {
    let mut sets = Vec::new();
    let mut left = vec![condition];
    while let Some(part) = left.pop() {
        match part {
            Expr::Nested(inner) => left.push(inner),
            Expr::BinaryOp { left: first, op: BinaryOperator::And, right } => {
                left.extend([&**right, &**first])
            }
            _ => sets.extend(alternatives(part)),
        }
    }
    sets
}

/// The closed set of a condition of which one part holds, all about one column.
fn alternatives(condition: &Expr) -> Option<ClosedSet> {
    let mut column: Option<&str> = None;
    let mut values: Vec<String> = Vec::new();
    let mut left = vec![condition];
    while let Some(part) = left.pop() {
        let (name, found) = match part {
            Expr::Nested(inner) => {
                left.push(inner);
                continue;
            }
            Expr::BinaryOp { left: first, op: BinaryOperator::Or, right } => {
                left.extend([&**right, &**first]);
                continue;
            }
            Expr::IsNull(inner) => (name(inner)?, Vec::new()),
            Expr::InList { expr, list, negated: false } => {
                (name(expr)?, list.iter().map(text).collect::<Option<_>>()?)
            }
            Expr::BinaryOp { left: first, op: BinaryOperator::Eq, right } => {
                match (name(first), text(right)) {
                    (Some(name), Some(text)) => (name, vec![text]),
                    _ => (name(right)?, vec![text(first)?]),
                }
            }
            Expr::AnyOp { left: first, compare_op: BinaryOperator::Eq, right, .. } => {
                (name(first)?, texts(right)?)
            }
            _ => return None,
        };
        if column.is_some_and(|column| !column.eq_ignore_ascii_case(name)) {
            return None;
        }
        column = Some(name);
        found.into_iter().for_each(|value| values.push(value));
    }
    values.dedup();
    column.filter(|_| !values.is_empty()).map(|column| (column.to_owned(), values))
}

/// The column that an expression is, whatever it is cast to.
fn name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Nested(inner)
        | Expr::Cast { expr: inner, .. }
        | Expr::Collate { expr: inner, .. } => name(inner),
        Expr::Identifier(name) => Some(&name.value),
        _ => None,
    }
}

/// The text that an expression is. A name in double quotes is one where the engine takes it for
/// one, and no column there.
fn text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => text(inner),
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => {
            Some(text.clone())
        }
        Expr::Identifier(name) if name.quote_style == Some('"') => Some(name.value.clone()),
        _ => None,
    }
}

/// The texts of an array.
fn texts(expr: &Expr) -> Option<Vec<String>> {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => texts(inner),
        Expr::Array(array) => array.elem.iter().map(text).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_sets(sets: Vec<ClosedSet>) -> String {
        sets.into_iter()
            .map(|(column, values)| format!("{column}: {}", values.join(" ")))
            .collect::<Vec<_>>()
            .join("; ")
    }

    #[test]
    fn conditions_close_a_column() {
        for (text, expected) in [
            ("status IN ('open', 'it''s')", "status: open it's"),
            ("((status = 'a'::text) OR (status = 'b'::text))", "status: a b"),
            (
                "(status)::text = ANY ((ARRAY['a'::character varying, 'b'::character \
                 varying])::text[])",
                "status: a b",
            ),
            ("(status = ANY (ARRAY['a'::text, 'b'::text]))", "status: a b"),
            ("status IS NULL OR status IN ('a', 'b')", "status: a b"),
            ("'a' = status AND length(kind) > 2 AND kind IN ('xyz')", "status: a; kind: xyz"),
            ("status IN ('a', 'b') OR kind = 'c'", ""),
            ("status IN ('a', 'b') OR length(status) = 9", ""),
            ("status NOT IN ('a')", ""),
            ("status <> 'a'", ""),
            ("grade IN (1, 2)", ""),
            ("upper(status) IN ('A')", ""),
            ("status IN (", ""),
            ("", ""),
        ] {
            assert_eq!(format_sets(read_condition(text, &Dialect::Postgres)), expected, "{text}");
        }
    }

    #[test]
    fn declarations_close_columns() {
        for (text, expected) in [
            (
                "CREATE TABLE t(id INTEGER PRIMARY KEY, [my status] TEXT NOT NULL DEFAULT 'a' \
                 CHECK ([my status] IN ('a', 'b')), kind TEXT, CONSTRAINT k CHECK (kind = 'x' OR \
                 kind = \"y\")) STRICT",
                "my status: a b; kind: x y",
            ),
            ("CREATE TABLE t(a TEXT CHECK (a IN (\"b\", 'c')), b TEXT)", ""),
            ("CREATE TABLE t(a INTEGER CHECK (a > 0))", ""),
            ("CREATE VIEW t AS SELECT 1", ""),
        ] {
            assert_eq!(format_sets(read_declaration(text)), expected, "{text}");
        }
    }

    #[test]
    fn labels_stand_in_the_name_of_a_type() {
        assert_eq!(
            read_enumeration("ENUM('a', 'it''s, (b)')[]"),
            Some(vec!["a".to_owned(), "it's, (b)".to_owned()])
        );
        assert_eq!(read_enumeration("VARCHAR"), None);
        assert_eq!(read_enumeration("DECIMAL(10,2)"), None);
    }

    #[test]
    fn a_hostile_declaration_ends() {
        fn long(part: &str, times: usize) -> String {
            format!("CREATE TABLE t(a TEXT CHECK ({}a = 'x'))", part.repeat(times))
        }
        assert_eq!(read_declaration(&long("a = 'x' OR ", 3_000)).len(), 0);
        assert_eq!(format_sets(read_declaration(&long("a = 'x' OR ", 1_000))), "a: x");
        assert_eq!(read_declaration(&long("(", 10_000)).len(), 0);
    }
}
