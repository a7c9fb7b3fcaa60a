//! The signs that a statement and its result show.
//!
//! The statements are read and run here and not by the host: names are looked up more loosely than
//! the guard does it, and columns that come through a subquery in FROM are not followed.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, OpenFlags, Row};
use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr,
    JoinOperator, Query, Select, SelectItem, SetExpr, Statement, TableFactor, Value, ValueWithSpan,
    Visit, Visitor,
};
use sqlparser::dialect::SQLiteDialect;
use sqlparser::parser::Parser;
use syrch_core::Dialect;

use super::Signs;
use crate::Outcome;

/// The time that a statement may run.
const LIMIT: Duration = Duration::from_secs(5);
/// Words of a question that name nothing, as the plugin has them.
const PARTICLES: &str = " a an and are at be by did do does for from had has have in is no not of \
                         on or the to was were with ";
/// Words of a question that ask for an order or for a number of rows.
const ORDERING: &str = " order ordered sort sorted alphabetical alphabetically ascending \
                        descending lexicographical decreasing increasing most least top first last \
                        latest more less maximum minimum best worst ";

/// A column, by the places of its table and of itself.
type Place = (usize, usize);

/// A database's names and foreign keys.
struct Catalog {
    tables: Vec<(String, Vec<String>)>,
    /// Each column of a key with its counterpart, in both directions.
    keys: BTreeSet<(Place, Place)>,
}

impl Catalog {
    fn read(connection: &Connection) -> Outcome<Self> {
        let names = texts(
            connection,
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')",
            None,
        )?;
        let mut tables = Vec::new();
        for [name, ..] in names {
            let columns = texts(connection, "SELECT name FROM pragma_table_info(?1)", Some(&name))?;
            tables.push((name, columns.into_iter().map(|[name, ..]| name).collect()));
        }
        let mut catalog = Self { tables, keys: BTreeSet::new() };
        let keys = "SELECT k.\"from\", k.\"table\", coalesce(k.\"to\", p.name) \
                    FROM pragma_foreign_key_list(?1) AS k LEFT JOIN pragma_table_info(k.\"table\") \
                    AS p ON k.\"to\" IS NULL AND p.pk = k.seq + 1";
        for table in 0..catalog.tables.len() {
            for [from, target, to] in texts(connection, keys, Some(&catalog.tables[table].0))? {
                let target = catalog.table(&target).and_then(|target| catalog.column(target, &to));
                if let (Some(from), Some(to)) = (catalog.column(table, &from), target) {
                    catalog.keys.extend([(from, to), (to, from)]);
                }
            }
        }
        Ok(catalog)
    }

    fn table(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    fn column(&self, table: usize, name: &str) -> Option<Place> {
        let at = self.tables[table].1.iter().position(|known| known.eq_ignore_ascii_case(name))?;
        Some((table, at))
    }

    fn name(&self, (table, column): Place) -> &str {
        &self.tables[table].1[column]
    }

    /// Returns true if keys speak against joining by these two columns, as the plugin has it.
    fn is_odd(&self, left: Place, right: Place) -> bool {
        let partners = |of: Place| {
            self.keys.iter().filter(move |(place, _)| *place == of).map(|(_, partner)| *partner)
        };
        let is_along = partners(left)
            .any(|place| place == right || partners(right).any(|other| other == place));
        let is_between =
            self.keys.iter().any(|(place, partner)| place.0 == left.0 && partner.0 == right.0);
        !is_along && (is_between || partners(left).chain(partners(right)).next().is_some())
    }
}

/// The first three columns of all rows as texts; the statement may ask about a name.
fn texts(connection: &Connection, sql: &str, about: Option<&str>) -> Outcome<Vec<[String; 3]>> {
    let mut statement = connection.prepare(sql)?;
    let width = statement.column_count();
    let text = |row: &Row<'_>, at: usize| {
        if at < width { row.get::<_, Option<String>>(at) } else { Ok(None) }
    };
    let rows = statement.query_map(rusqlite::params_from_iter(about), |row| {
        Ok([text(row, 0)?, text(row, 1)?, text(row, 2)?].map(Option::unwrap_or_default))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The state of a walk over a statement.
struct Reading<'c> {
    catalog: &'c Catalog,
    /// The tables of each query around, by the names that they go by.
    scopes: Vec<Vec<(String, usize)>>,
    /// The tables of all queries, by the names that they go by.
    sources: Vec<(String, usize)>,
    columns: BTreeSet<Place>,
    /// Texts and numbers that stand anywhere, and those that stand beside a column.
    literals: Vec<String>,
    compared: Vec<(Place, String)>,
    equalities: Vec<[(Option<String>, String); 2]>,
    any_case: bool,
    is_ordered: bool,
    queries: usize,
    left_joins: bool,
    distinct: bool,
    bare_column: bool,
    /// Columns that the outermost query gives back as they are; `None` if it is not known yet.
    selected: Option<Vec<String>>,
}

impl Reading<'_> {
    fn sources(&self, body: &SetExpr) -> Vec<(String, usize)> {
        match body {
            SetExpr::Select(select) => self.tables(select),
            SetExpr::SetOperation { left, right, .. } => {
                [self.sources(left), self.sources(right)].concat()
            }
            _ => Vec::new(),
        }
    }

    fn tables(&self, select: &Select) -> Vec<(String, usize)> {
        let trees = select.from.iter();
        let factors = trees.flat_map(|tree| {
            std::iter::once(&tree.relation).chain(tree.joins.iter().map(|j| &j.relation))
        });
        factors
            .filter_map(|factor: &TableFactor| {
                let TableFactor::Table { name, alias, .. } = factor else { return None };
                let name = &name.0.last()?.as_ident()?.value;
                let alias = alias.as_ref().map_or(name, |alias| &alias.name.value);
                Some((alias.clone(), self.catalog.table(name)?))
            })
            .collect()
    }

    /// The column that an expression is, looked up from the innermost query outwards.
    fn column(&self, expr: &Expr) -> Option<Place> {
        let (qualifier, name) = column_name(expr)?;
        let goes_by = |known: &str| {
            qualifier.as_ref().is_none_or(|wanted| wanted.eq_ignore_ascii_case(known))
        };
        let sources = self.scopes.iter().rev().flatten().filter(|(known, _)| goes_by(known));
        sources.filter_map(|(_, table)| self.catalog.column(*table, &name)).next()
    }

    /// The text that an expression is. SQLite takes a name in double quotes that nothing has for
    /// one.
    fn text(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Value(value) => literal(value),
            Expr::Identifier(name)
                if name.quote_style == Some('"') && self.column(expr).is_none() =>
            {
                Some(name.value.clone())
            }
            _ => None,
        }
    }

    fn pair(&mut self, column: &Expr, text: &Expr) {
        let column = match column {
            Expr::Nested(inner) => return self.pair(inner, text),
            Expr::Function(function) => match &function.args {
                FunctionArguments::List(list) => match list.args.first() {
                    Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))) => {
                        self.column(argument)
                    }
                    _ => None,
                },
                _ => None,
            },
            column => self.column(column),
        };
        self.compared.extend(column.zip(self.text(text)));
    }

    /// The only column that a name can mean anywhere in the statement, as the plugin places those
    /// of joins.
    fn place(&self, (qualifier, name): &(Option<String>, String)) -> Option<Place> {
        let goes_by = |(known, table): &(String, usize)| match qualifier {
            Some(wanted) => {
                known.eq_ignore_ascii_case(wanted)
                    || self.catalog.tables[*table].0.eq_ignore_ascii_case(wanted)
            }
            None => true,
        };
        let sources = self.sources.iter().filter(|source| goes_by(source));
        let places: BTreeSet<Place> =
            sources.filter_map(|(_, table)| self.catalog.column(*table, name)).collect();
        places.first().copied().filter(|_| places.len() == 1)
    }

    fn has_odd_join(&self) -> bool {
        self.equalities.iter().any(|[left, right]| match (self.place(left), self.place(right)) {
            (Some(left), Some(right)) => left.0 != right.0 && self.catalog.is_odd(left, right),
            _ => false,
        })
    }
}

impl Visitor for Reading<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.queries += 1;
        self.is_ordered |=
            self.queries == 1 && (query.order_by.is_some() || query.limit_clause.is_some());
        self.scopes.push(self.sources(&query.body));
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let tables = self.tables(select);
        self.sources.extend(tables.iter().cloned());
        self.scopes.push(tables);
        self.distinct |= select.distinct.is_some();
        let mut joins =
            select.from.iter().flat_map(|tree| &tree.joins).map(|join| &join.join_operator);
        self.left_joins |=
            joins.any(|join| matches!(join, JoinOperator::Left(_) | JoinOperator::LeftOuter(_)));
        let items: Vec<&Expr> = select.projection.iter().filter_map(expression).collect();
        let plain: Vec<String> =
            items.iter().filter_map(|item| Some(column_name(item)?.1)).collect();
        let is_grouped =
            !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
        self.bare_column |=
            !is_grouped && !plain.is_empty() && items.iter().any(|item| is_aggregate(item));
        self.selected.get_or_insert(plain);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
                self.columns.extend(self.column(expr));
                self.literals.extend(self.text(expr));
            }
            Expr::Function(function) => {
                let name = function.name.to_string().to_lowercase();
                self.any_case |= name == "lower" || name == "upper";
            }
            Expr::BinaryOp { left, right, op } => {
                if *op == BinaryOperator::Eq
                    && let (Some(left), Some(right)) = (column_name(left), column_name(right))
                {
                    self.equalities.push([left, right]);
                }
                self.pair(left, right);
                self.pair(right, left);
            }
            Expr::Like { expr, pattern, .. } => self.pair(expr, pattern),
            Expr::InList { expr, list, .. } => list.iter().for_each(|value| self.pair(expr, value)),
            Expr::Between { expr, low, high, .. } => {
                [low, high].into_iter().for_each(|end| self.pair(expr, end))
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<()> {
        self.literals.extend(literal(value));
        ControlFlow::Continue(())
    }
}

fn column_name(expr: &Expr) -> Option<(Option<String>, String)> {
    match expr {
        Expr::Identifier(name) => Some((None, name.value.clone())),
        Expr::CompoundIdentifier(names) => match names.as_slice() {
            [.., qualifier, name] => Some((Some(qualifier.value.clone()), name.value.clone())),
            _ => None,
        },
        _ => None,
    }
}

fn literal(value: &ValueWithSpan) -> Option<String> {
    match &value.value {
        Value::Number(text, _) => Some(text.clone()),
        other => other.clone().into_string(),
    }
}

fn expression(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

fn is_aggregate(expr: &Expr) -> bool {
    let Expr::Function(function) = expr else { return false };
    ["count", "sum", "avg", "min", "max"]
        .contains(&function.name.to_string().to_lowercase().as_str())
}

/// The words of a text, letters only, split where a small letter meets a capital one, in small
/// letters.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in text.chars() {
        if !c.is_alphabetic() || (was_small && c.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphabetic()) {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn stems(text: &str) -> BTreeSet<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

/// The plugin's: takes off the plural, then `ing` or `ed`, then a last `e`, as far as enough is
/// left.
fn stem(word: &str) -> String {
    let length = word.chars().count();
    let hisses = ["sses", "shes", "ches", "xes", "zes"].iter().any(|ending| word.ends_with(ending));
    let mut stem = match (word.strip_suffix("ies"), word.strip_suffix("es"), word.strip_suffix('s'))
    {
        (Some(left), ..) if length > 4 => format!("{left}y"),
        (_, Some(left), _) if length > 4 && hisses => left.to_owned(),
        (.., Some(left)) if length > 3 && !left.ends_with('s') => left.to_owned(),
        _ => word.to_owned(),
    };
    for endings in [&["ing", "ed"][..], &["e"]] {
        let mut left = endings.iter().filter_map(|ending| stem.strip_suffix(ending));
        if let Some(left) = left.find(|left| left.chars().count() >= 3) {
            stem = left.to_owned();
        }
    }
    stem
}

/// A database under measurement.
pub(super) struct Database {
    connection: Connection,
    catalog: Catalog,
    /// Stems of all names.
    names: BTreeSet<String>,
}

impl Database {
    pub(super) fn open(path: &Path) -> Outcome<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        let catalog = Catalog::read(&connection)?;
        let names = catalog
            .tables
            .iter()
            .flat_map(|(table, columns)| std::iter::once(table).chain(columns));
        let names = names.flat_map(|name| stems(name)).collect();
        Ok(Self { connection, catalog, names })
    }

    /// The signs of a statement that runs.
    pub(super) fn signs(&mut self, question: &str, sql: &str) -> Outcome<Signs> {
        let until = Instant::now() + LIMIT;
        self.connection.progress_handler(10_000, Some(move || Instant::now() > until))?;
        self.look(question, sql)
    }

    fn look(&self, question: &str, sql: &str) -> Outcome<Signs> {
        let rows = self.rows(sql)?;
        let statements = Parser::parse_sql(&SQLiteDialect {}, sql)?;
        let statement = statements.first().ok_or("no statement")?;
        let reading = self.read(statement);
        fn flag(is: bool) -> f64 {
            f64::from(u8::from(is))
        }
        fn count(count: usize, most: usize) -> f64 {
            count.min(most) as f64
        }

        let asked: BTreeSet<String> = words(question)
            .iter()
            .filter(|word| word.chars().count() > 1 && !is_among(PARTICLES, word))
            .map(|word| stem(word))
            .collect();
        let tables: BTreeSet<usize> = reading.sources.iter().map(|(_, table)| *table).collect();
        let used = tables.iter().map(|table| &*self.catalog.tables[*table].0);
        let used = used.chain(reading.columns.iter().map(|column| self.catalog.name(*column)));
        let used: BTreeSet<String> =
            used.chain(reading.literals.iter().map(String::as_str)).flat_map(stems).collect();
        let unused = asked.intersection(&self.names).filter(|stem| !used.contains(*stem)).count();
        let distinct: BTreeSet<String> = rows.iter().map(|row| format!("{row:?}")).collect();
        let width = rows.first().map_or(0, Vec::len);
        let selected = reading.selected.iter().flatten();
        let unnamed = selected.filter(|name| stems(name).is_disjoint(&asked)).count();
        let is_zero = rows.len() == 1 && matches!(rows[0].as_slice(), [Cell::Integer(0)]);

        Ok([
            -flag(self.has_absent_value(&reading)?),
            -flag(reading.has_odd_join()),
            -count(unused, 3),
            -flag(distinct.len() < rows.len()),
            -count(width, 6),
            count(tables.len(), 5),
            -flag(
                (0..width).any(|at: usize| rows.iter().all(|row| row.get(at) == Some(&Cell::Null))),
            ),
            -flag(reading.left_joins),
            -flag(reading.distinct),
            -count(reading.queries.saturating_sub(1), 3),
            -flag(
                reading.is_ordered
                    && !words(question)
                        .iter()
                        .any(|word: &String| is_among(ORDERING, word) || word.ends_with("est")),
            ),
            -(statement.to_string().chars().count() as f64 / 100.0).min(4.0),
            -flag(has_odd_shape(question, rows.len(), width)),
            -count(unnamed, 6),
            -flag(reading.bare_column),
            -flag(is_zero),
            // The host says whether it doubts the result.
            0.0,
        ])
    }

    fn rows(&self, sql: &str) -> Outcome<Vec<Vec<Cell>>> {
        let mut statement = self.connection.prepare(sql)?;
        let width = statement.column_count();
        let rows = statement.query_map([], |row| (0..width).map(|at| row.get(at)).collect())?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn read(&self, statement: &Statement) -> Reading<'_> {
        let mut reading = Reading {
            catalog: &self.catalog,
            scopes: Vec::new(),
            sources: Vec::new(),
            columns: BTreeSet::new(),
            literals: Vec::new(),
            compared: Vec::new(),
            equalities: Vec::new(),
            any_case: false,
            is_ordered: false,
            queries: 0,
            left_joins: false,
            distinct: false,
            bare_column: false,
            selected: None,
        };
        let _ = statement.visit(&mut reading);
        reading
    }

    /// Returns true if a text is compared with a column that does not hold it; numbers, dates and
    /// patterns are left out.
    fn has_absent_value(&self, reading: &Reading<'_>) -> Outcome<bool> {
        for (place, text) in &reading.compared {
            if text.contains('%') || !text.chars().any(char::is_alphabetic) {
                continue;
            }
            let table = Dialect::Sqlite.quote(&self.catalog.tables[place.0].0);
            let column = Dialect::Sqlite.quote(self.catalog.name(*place));
            let is_equal = if reading.any_case {
                format!("lower({column}) = lower(?1)")
            } else {
                format!("{column} = ?1")
            };
            let mut probe = self
                .connection
                .prepare(&format!("SELECT 1 FROM {table} WHERE {is_equal} LIMIT 1"))?;
            if !probe.exists([text])? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn is_among(list: &str, word: &str) -> bool {
    list.contains(&format!(" {word} "))
}

/// Returns true if a result does not have the shape that the question's words speak of.
fn has_odd_shape(question: &str, rows: usize, width: usize) -> bool {
    let words = words(question);
    let has = |list: &str| words.iter().any(|word| is_among(list, word));
    let is_for_each = has(" each every per different ");
    let counts = words.windows(2).any(|pair| pair == ["how", "many"]);
    let is_superlative = has(" most least ") || words.iter().any(|word| word.ends_with("est"));
    match (is_for_each, counts) {
        (true, _) => rows == 1,
        (false, true) => rows != 1 || width != 1,
        (false, false) => is_superlative && rows > 1,
    }
}
