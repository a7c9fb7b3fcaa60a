//! Breaks the ties of a statement: after the keys of ORDER BY, it is sorted by all output columns,
//! once upwards and once downwards. The statement itself might have had either result. Where LIMIT
//! cuts rows that tie, one result has the least of them and the other the greatest. So the two are
//! the same multiset exactly if all rows that tie are equal, and then it does not matter which of
//! them are in the result.

use std::ops::ControlFlow;

use sqlparser::ast::{
    Expr, Fetch, LimitClause, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, OrderBySort,
    Query, SelectItem, SetExpr, Statement, Value, VisitMut, VisitorMut,
};
use sqlparser::dialect::dialect_from_str;
use sqlparser::parser::{Parser, ParserOptions};
use syrch_core::Dialect;
use syrch_core::text::clip;

/// The depth of nesting that the parser follows, which is that of the guard.
const RECURSION: usize = 200;
/// The greatest length of a statement that is parsed, in bytes. Its tree is no deeper than that.
const LONGEST: usize = 16 << 10;
/// The size of the stack in bytes, more than the deepest tree of such a statement needs.
const STACK: usize = 64 << 20;
/// The number of bytes of a clause that a message shows.
const SHOWN: usize = 120;

/// The order of a statement's rows, and how it cuts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    /// True if the outermost query has ORDER BY.
    pub(super) is_ordered: bool,
    /// The statement with its ties broken upwards and downwards; `None` if ties change nothing.
    pub(super) variants: Option<[String; 2]>,
    /// The clause that orders and cuts the rows, for messages.
    pub(super) clause: String,
}

impl Order {
    /// Reads a statement that the guard accepted. `width` is the number of its output columns. With
    /// `is_graded`, ties matter without LIMIT, too. Returns `None` if the statement cannot be
    /// parsed.
    pub(super) async fn read(
        sql: &str,
        dialect: &str,
        width: usize,
        is_graded: bool,
    ) -> Option<Self> {
        if sql.len() > LONGEST {
            return None;
        }
        let sql = sql.to_owned();
        let dialect = dialect.to_owned();
        tokio::task::spawn_blocking(move || {
            let thread = std::thread::Builder::new().name("lint".to_owned()).stack_size(STACK);
            thread.spawn(move || read(&sql, &dialect, width, is_graded)).ok()?.join().ok()?
        })
        .await
        .ok()?
    }
}

fn read(sql: &str, dialect: &str, width: usize, is_graded: bool) -> Option<Order> {
    let grammar = dialect_from_str(Dialect::from_name(dialect).grammar())?;
    // What is written again has the literals of the statement, whatever a backslash means in them.
    let options = ParserOptions::new()
        .with_trailing_commas(grammar.supports_trailing_commas())
        .with_unescape(!grammar.supports_string_literal_backslash_escape());
    let parser = Parser::new(&*grammar).with_options(options).with_recursion_limit(RECURSION);
    let mut parser = parser.try_with_sql(sql).ok()?;
    let mut statements = parser.parse_statements().ok()?;
    let (Some(Statement::Query(query)), true) = (statements.pop(), statements.is_empty()) else {
        return None;
    };
    let is_ordered = outermost(&query).order_by.is_some();
    let mut clause = None;
    let mut broken = |sort: OrderBySort| {
        let mut breaker = Breaker { width, is_graded, sort, is_inner: false, clause: None };
        let mut query = query.clone();
        let _ = query.visit(&mut breaker);
        clause = breaker.clause;
        clause.is_some().then(|| query.to_string())
    };
    let variants =
        broken(OrderBySort::Asc).zip(broken(OrderBySort::Desc)).map(|(up, down)| [up, down]);
    Some(Order { is_ordered, variants, clause: clause.unwrap_or_default() })
}

/// The query whose rows are the result, without the parentheses around it.
fn outermost(query: &Query) -> &Query {
    match &*query.body {
        SetExpr::Query(inner) if query.order_by.is_none() => outermost(inner),
        _ => query,
    }
}

/// Breaks the ties of all queries of a statement in which they matter.
struct Breaker {
    width: usize,
    is_graded: bool,
    sort: OrderBySort,
    is_inner: bool,
    /// The clause of the outermost query that is extended, or else of the first inner one.
    clause: Option<String>,
}

impl VisitorMut for Breaker {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let is_inner = std::mem::replace(&mut self.is_inner, true);
        let width = if is_inner { width(&query.body) } else { Some(self.width) };
        let matters = cuts(query) || (!is_inner && self.is_graded && query.order_by.is_some());
        if let Some(width) = width
            .filter(|_| matters && !matches!(*query.body, SetExpr::Values(_) | SetExpr::Query(_)))
        {
            let clause = format_order(query, is_inner);
            if extend(query, width, &self.sort) {
                self.clause.get_or_insert(clause);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns true if a query may cut its rows. LIMIT BY and WITH TIES do not count, since they have
/// rules of their own.
fn cuts(query: &Query) -> bool {
    let limits = match &query.limit_clause {
        None => false,
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
            limit_by.is_empty() && (limit.is_some() || offset.is_some())
        }
        Some(LimitClause::OffsetCommaLimit { .. }) => true,
    };
    limits || matches!(query.fetch, Some(Fetch { with_ties: false, percent: false, .. }))
}

/// The number of columns of an inner query; `None` if only the catalog has it.
fn width(body: &SetExpr) -> Option<usize> {
    match body {
        SetExpr::Select(select) => select
            .projection
            .iter()
            .all(|item: &SelectItem| {
                matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. })
            })
            .then_some(select.projection.len()),
        SetExpr::SetOperation { left, .. } => width(left),
        _ => None,
    }
}

/// Adds the output columns to the keys that the query sorts by. Returns whether that is possible.
fn extend(query: &mut Query, width: usize, sort: &OrderBySort) -> bool {
    let columns = (1..=width).map(|column| OrderByExpr {
        expr: Expr::value(Value::Number(column.to_string(), false)),
        options: OrderByOptions { sort: Some(sort.clone()), nulls_first: None },
        with_fill: None,
    });
    match &mut query.order_by {
        None => {
            query.order_by = Some(OrderBy {
                kind: OrderByKind::Expressions(columns.collect()),
                interpolate: None,
            });
        }
        Some(OrderBy { kind: OrderByKind::Expressions(keys), interpolate: None }) => {
            keys.extend(columns)
        }
        Some(_) => return false,
    }
    true
}

/// The clause that orders and cuts the rows, as messages show it.
fn format_order(query: &Query, is_inner: bool) -> String {
    let order = query.order_by.as_ref().map(ToString::to_string).unwrap_or_default();
    let limit = query.limit_clause.as_ref().map(ToString::to_string).unwrap_or_default();
    let fetch = query.fetch.as_ref().map(|fetch| format!(" {fetch}")).unwrap_or_default();
    let text = format!("{order}{limit}{fetch}");
    let text = text.trim();
    let clipped = clip(text, SHOWN);
    let more = if text.len() > SHOWN { "…" } else { "" };
    format!("`{clipped}{more}`{}", if is_inner { " of an inner query" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variants(sql: &str, width: usize, is_graded: bool) -> Option<[String; 2]> {
        read(sql, "sqlite", width, is_graded).unwrap().variants
    }

    #[test]
    fn ties_are_broken_by_all_columns_behind_the_keys() {
        let both =
            variants("SELECT DISTINCT a, b AS c FROM t ORDER BY c DESC LIMIT 3 OFFSET 1", 2, false)
                .unwrap();
        assert_eq!(
            both,
            ["ASC", "DESC"].map(|sort| {
                format!(
                    "SELECT DISTINCT a, b AS c FROM t ORDER BY c DESC, 1 {sort}, 2 {sort} \
                     LIMIT 3 OFFSET 1"
                )
            })
        );
        let compound =
            variants("SELECT a FROM t UNION SELECT b FROM u ORDER BY 1 LIMIT 2", 1, false).unwrap();
        assert!(compound[0].ends_with("ORDER BY 1, 1 ASC LIMIT 2"), "{compound:?}");
        let none = variants("SELECT * FROM t LIMIT 2", 1, false).unwrap();
        assert!(none[1].ends_with("ORDER BY 1 DESC LIMIT 2"), "{none:?}");
    }

    #[test]
    fn inner_queries_count_where_their_columns_are_known() {
        let sql = "SELECT a FROM t WHERE b = (SELECT b FROM t ORDER BY c LIMIT 1)";
        let read = read(sql, "sqlite", 1, false).unwrap();
        assert_eq!(
            (read.is_ordered, read.clause.as_str()),
            (false, "`ORDER BY c LIMIT 1` of an inner query")
        );
        assert!(
            read.variants.unwrap()[1].ends_with("(SELECT b FROM t ORDER BY c, 1 DESC LIMIT 1)")
        );
        assert_eq!(variants("SELECT a FROM (SELECT * FROM t ORDER BY c LIMIT 1)", 1, false), None);
    }

    #[test]
    fn without_a_limit_ties_matter_only_where_the_order_is_graded() {
        let sql = "SELECT a FROM t ORDER BY b";
        assert_eq!(variants(sql, 1, false), None);
        assert!(variants(sql, 1, true).is_some());
        assert_eq!(variants("SELECT a FROM t", 1, true), None);
        assert!(read("(SELECT a FROM t ORDER BY a)", "sqlite", 1, true).unwrap().is_ordered);
    }

    #[test]
    fn statements_that_cannot_be_decided_have_no_variants() {
        assert_eq!(read("SELECT FROM WHERE", "sqlite", 1, false), None);
        assert_eq!(read("SELECT 1; SELECT 2 LIMIT 1", "sqlite", 1, false), None);
        assert_eq!(variants("VALUES (1), (2) LIMIT 1", 1, false), None);
        assert_eq!(
            variants("SELECT a FROM t ORDER BY a FETCH FIRST 1 ROWS WITH TIES", 1, false),
            None
        );
    }

    #[test]
    fn ties_are_broken_in_every_dialect() {
        for (dialect, sql) in [
            ("duckdb", "SELECT a // 2 FROM t WHERE b = 'it''s' ORDER BY c"),
            ("spark", r"SELECT `a b` FROM t WHERE b = 'it\'s' ORDER BY c"),
            ("databricks", r"SELECT a FROM x.y.t WHERE b = 'a\\b' ORDER BY c"),
            ("mysql", r"SELECT a FROM t WHERE b = 'it\'s' ORDER BY c"),
        ] {
            let [up, down] =
                read(&format!("{sql} LIMIT 2"), dialect, 1, false).unwrap().variants.unwrap();
            assert_eq!(
                (up, down),
                (format!("{sql}, 1 ASC LIMIT 2"), format!("{sql}, 1 DESC LIMIT 2")),
                "{dialect}"
            );
        }
    }

    #[tokio::test]
    async fn deep_statements_are_read_or_given_up() {
        for sql in [
            format!("SELECT {}1", "1+".repeat(8_000)),
            format!("SELECT {}1{}", "(".repeat(5_000), ")".repeat(5_000)),
        ] {
            let _ = Order::read(&format!("{sql} LIMIT 1"), "sqlite", 1, true).await;
        }
        assert_eq!(Order::read(&"x".repeat(LONGEST + 1), "sqlite", 1, true).await, None);
    }
}
