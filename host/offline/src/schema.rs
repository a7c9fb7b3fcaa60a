//! The catalog in words: the names of tables and columns in English, what they hold, and which
//! columns join.

mod dates;

use std::collections::{BTreeMap, BTreeSet};

use syrch_core::{Catalog, Column, Dialect, Table};

use super::{dialect, lexicon, words};
pub(crate) use dates::Span;

/// A column by position: table, then column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ColumnRef {
    pub(crate) table: usize,
    pub(crate) column: usize,
}

/// The kind of the values that a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Number,
    Text,
    Time,
    Flag,
}

/// A column in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnView {
    pub(crate) name: String,
    /// Stems that distinguish it from the other columns of its table.
    pub(crate) required: Vec<String>,
    /// Stems that only repeat the table's name.
    pub(crate) optional: Vec<String>,
    /// All words written together, stemmed: as they are, and with abbreviations written out.
    pub(crate) joined: [String; 2],
    pub(crate) holds: Holds,
    /// The declared type, in lower case.
    pub(crate) declared: String,
    pub(crate) nullable: bool,
    /// An identifier: a primary key, a foreign key or named like one.
    pub(crate) is_key: bool,
}

/// A table in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableView {
    pub(crate) name: String,
    pub(crate) schema: Option<String>,
    /// True if no other table has that name.
    pub(crate) is_only: bool,
    pub(crate) stems: Vec<String>,
    pub(crate) joined: String,
    pub(crate) columns: Vec<ColumnView>,
    /// True if a key is declared.
    pub(crate) is_keyed: bool,
    /// The column that identifies a row.
    pub(crate) key: Option<usize>,
    /// The columns that name a row to people, such as `title`, or first and last name; empty where
    /// none does.
    pub(crate) labels: Vec<usize>,
}

/// Two columns that join. The cost is lower the more certain the join is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Edge {
    pub(crate) left: ColumnRef,
    pub(crate) right: ColumnRef,
    pub(crate) cost: f64,
    /// True if another edge joins the same two tables.
    pub(crate) rival: bool,
    /// True if the left column is declared to refer to the right one.
    pub(crate) declared: bool,
}

impl Edge {
    fn new(left: ColumnRef, right: ColumnRef, cost: f64) -> Self {
        Self { left, right, cost, rival: false, declared: false }
    }

    fn tables(&self) -> (usize, usize) {
        let left = self.left.table;
        let right = self.right.table;
        (left.min(right), left.max(right))
    }

    /// The table at the other end.
    pub(crate) fn other_table(&self, table: usize) -> usize {
        if self.left.table == table { self.right.table } else { self.left.table }
    }
}

/// The catalog in words.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    pub(crate) dialect: Dialect,
    pub(crate) tables: Vec<TableView>,
    pub(crate) edges: Vec<Edge>,
    /// The edges of each table, by their places.
    joins: Vec<Vec<usize>>,
    /// The places of the tables by their names in lower case, with their schemas and without.
    by_name: BTreeMap<String, usize>,
}

impl Schema {
    pub(crate) fn new(catalog: &Catalog) -> Self {
        let prefix = common_prefix(catalog.tables.iter().map(|table| table.name.as_str()), 3);
        let mut tables: Vec<TableView> =
            catalog.tables.iter().map(|table| table_view(table, prefix)).collect();
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        tables
            .iter()
            .for_each(|view| *count.entry(view.name.to_ascii_lowercase()).or_default() += 1);
        tables
            .iter_mut()
            .for_each(|view| view.is_only = count[&view.name.to_ascii_lowercase()] == 1);
        let by_name = places(catalog);
        let mut edges = read_declared_edges(catalog, &by_name);
        edges.extend(infer_edges(&tables, &edges));
        mark_rivals(&mut edges);
        let mut joins = vec![Vec::new(); tables.len()];
        for (at, edge) in edges.iter().enumerate() {
            joins[edge.left.table].push(at);
            if edge.right.table != edge.left.table {
                joins[edge.right.table].push(at);
            }
        }
        Self { dialect: catalog.dialect.clone(), tables, edges, joins, by_name }
    }

    /// The place of the table that a name means, with its schema before it or without.
    pub(crate) fn table(&self, name: &str) -> Option<usize> {
        let name = name.to_ascii_lowercase();
        self.by_name
            .get(&name)
            .or_else(|| name.rsplit_once('.').and_then(|(_, bare)| self.by_name.get(bare)))
            .copied()
    }

    /// The edges of a table.
    pub(crate) fn edges_of(&self, table: usize) -> impl Iterator<Item = &Edge> {
        self.joins[table].iter().map(|at| &self.edges[*at])
    }

    /// The other edges that join the tables of one.
    pub(crate) fn rivals(&self, edge: &Edge) -> impl Iterator<Item = &Edge> {
        let edge = *edge;
        self.edges_of(edge.left.table)
            .filter(move |other| **other != edge && other.tables() == edge.tables())
    }

    /// The column of an edge that refers to the key of another table, and that table.
    pub(crate) fn reference(&self, edge: &Edge) -> Option<(ColumnRef, usize)> {
        fn refers(schema: &Schema, edge: &Edge, to: ColumnRef) -> bool {
            let is_key = schema.tables[to.table].key == Some(to.column);
            if edge.declared { to == edge.right } else { is_key }
        }
        let ends = [(edge.left, edge.right), (edge.right, edge.left)];
        let (from, to) = ends.into_iter().find(|(_, to)| refers(self, edge, *to))?;
        (from.table != to.table).then_some((from, to.table))
    }

    /// The column of its own table that a column refers to, as the manager of an employee does.
    pub(crate) fn self_reference(&self, from: ColumnRef) -> Option<ColumnRef> {
        self.edges_of(from.table)
            .find(|edge: &&Edge| edge.left == from && edge.right.table == from.table)
            .map(|edge| edge.right)
    }

    /// The columns by which rows refer to those above them, as to a manager.
    pub(crate) fn superiors(&self) -> impl Iterator<Item = ColumnRef> {
        let columns = self
            .edges
            .iter()
            .filter(|edge| edge.left.table == edge.right.table)
            .map(|edge| edge.left);
        columns.filter(move |at| {
            self.column(*at)
                .required
                .iter()
                .any(|stem: &String| lexicon::SUPERIORS.contains(&stem.as_str()))
        })
    }

    pub(crate) fn column(&self, at: ColumnRef) -> &ColumnView {
        &self.tables[at.table].columns[at.column]
    }

    /// The name of a column with that of its table.
    pub(crate) fn path(&self, at: ColumnRef) -> String {
        format!("{}.{}", self.tables[at.table].name, self.column(at).name)
    }

    /// Every column, in catalog order.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (ColumnRef, &ColumnView)> {
        self.tables.iter().enumerate().flat_map(|(table, view)| {
            view.columns
                .iter()
                .enumerate()
                .map(move |(column, view)| (ColumnRef { table, column }, view))
        })
    }

    /// The column of that table whose words best match one of these, the earlier word first; `-`
    /// before a word turns the result's second part to true.
    pub(crate) fn column_for_words(&self, table: usize, of: &[&str]) -> Option<(ColumnRef, bool)> {
        of.iter().find_map(|word| {
            let stem = words::stem(word.trim_start_matches('-'));
            let column = self.tables[table]
                .columns
                .iter()
                .position(|view: &ColumnView| view.required.contains(&stem) && !view.is_key)?;
            Some((ColumnRef { table, column }, word.starts_with('-')))
        })
    }

    /// The columns of that table that one of these words measures, those of the earliest such word;
    /// the second part as of [`column_for_words`](Self::column_for_words).
    pub(crate) fn all_measured(&self, table: usize, of: &[&str]) -> (Vec<ColumnRef>, bool) {
        let Some((first, turned)) = self.column_for_words(table, of) else {
            return (Vec::new(), false);
        };
        let fits = |word: &&&str| {
            self.column(first).required.contains(&words::stem(word.trim_start_matches('-')))
        };
        let Some(stem) = of.iter().find(fits).map(|word| words::stem(word.trim_start_matches('-')))
        else {
            return (vec![first], turned);
        };
        let columns = self.tables[table].columns.iter().enumerate();
        let fits = |view: &ColumnView| {
            view.required.contains(&stem) && !view.is_key && view.holds != Holds::Text
        };
        let others =
            columns.filter(|(_, view)| fits(view)).map(|(column, _)| ColumnRef { table, column });
        let mut all: Vec<ColumnRef> = others.collect();
        if !all.contains(&first) {
            all.insert(0, first);
        }
        (all, turned)
    }

    /// Returns true if the values of a column may repeat over the rows: its table declares no key,
    /// and it neither numbers nor names the rows. The rows of a table with a year repeat their
    /// names, too.
    pub(crate) fn repeats(&self, at: ColumnRef) -> bool {
        let table = &self.tables[at.table];
        let view = self.column(at);
        fn is_year(view: &ColumnView) -> bool {
            view.required.iter().any(|stem| stem == "year")
        }
        let is_label = table.labels.contains(&at.column)
            && (at.column == 0
                || view
                    .required
                    .iter()
                    .any(|stem: &String| matches!(stem.as_str(), "name" | "titl")));
        let is_name = is_label && !table.columns.iter().any(is_year);
        let is_value = matches!(view.holds, Holds::Text | Holds::Time) || is_year(view);
        is_value && !table.is_keyed && !view.is_key && !is_name
    }

    /// Returns true if a column holds texts that neither name nor number the rows.
    pub(crate) fn is_value(&self, at: ColumnRef) -> bool {
        let view = self.column(at);
        let names_row = self.tables[at.table].labels.contains(&at.column);
        view.holds == Holds::Text && !view.is_key && !names_row
    }

    /// Returns true if the numbers of a column are amounts, which may be added up over rows.
    pub(crate) fn adds_up(&self, at: ColumnRef) -> bool {
        let view = self.column(at);
        fn names_any(view: &ColumnView, list: &[&str]) -> bool {
            list.iter().any(|word| view.required.contains(&words::stem(word)))
        }
        let is_amount =
            names_any(view, &["amount", "revenue", "value"]) || names_any(view, lexicon::ADDED);
        view.holds == Holds::Number && !view.is_key && is_amount && !names_any(view, lexicon::RATES)
    }

    /// The tables of other schemas that have the name of that one.
    pub(crate) fn namesakes(&self, table: usize) -> impl Iterator<Item = usize> {
        let name = &self.tables[table].name;
        (0..self.tables.len()).filter(move |at: &usize| {
            *at != table && self.tables[*at].name.eq_ignore_ascii_case(name)
        })
    }

    /// The columns of that table by whose numbers its rows can be compared; a year or a place on a
    /// map is none.
    pub(crate) fn measures(&self, table: usize) -> impl Iterator<Item = ColumnRef> {
        const PLACES: &[&str] = &["year", "date", "latitud", "longitud", "zip", "phone", "number"];
        let views = self.tables[table].columns.iter().enumerate();
        fn is_measure(view: &ColumnView) -> bool {
            let places = view.required.iter().any(|stem| PLACES.contains(&stem.as_str()));
            view.holds == Holds::Number && !view.is_key && !places
        }
        views
            .filter(move |(_, view)| is_measure(view))
            .map(move |(column, _)| ColumnRef { table, column })
    }

    /// The first column of that table that holds dates or years.
    pub(crate) fn time(&self, table: usize) -> Option<ColumnRef> {
        let columns = &self.tables[table].columns;
        let by_word = self.column_for_words(table, lexicon::TIME_WORDS).map(|(at, _)| at.column);
        by_word
            .or_else(|| columns.iter().position(|view| view.holds == Holds::Time))
            .map(|column| ColumnRef { table, column })
    }
}

fn table_view(table: &Table, prefix: usize) -> TableView {
    let own = words::identifier(&table.name[prefix..]);
    // `cars93` is about cars.
    let mut stems: Vec<String> = own
        .iter()
        .map(|word: &String| {
            let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
            words::stem(if bare.len() >= 3 { bare } else { word })
        })
        .collect();
    // `book_list`, `book_data` and `ref_book` are about books.
    if stems.iter().any(|stem| !lexicon::CONTAINERS.contains(&stem.as_str())) {
        stems.retain(|stem| !lexicon::CONTAINERS.contains(&stem.as_str()));
    }
    let names = table.columns.iter().map(|column| column.name.as_str());
    let cut = if table.columns.iter().any(|column| column.name.contains('_')) {
        0
    } else {
        common_prefix(names, 3)
    };
    let columns: Vec<ColumnView> =
        table.columns.iter().map(|column| column_view(table, column, cut, &stems)).collect();
    let key = primary_key(table, &columns, &stems);
    let labels = labels(&columns, &stems, key);
    TableView {
        name: table.name.clone(),
        schema: table.schema_name.clone(),
        is_only: true,
        joined: words::stem(&own.concat()),
        stems,
        columns,
        is_keyed: !table.primary_key.is_empty(),
        key,
        labels,
    }
}

/// Returns the number of bytes that all names share at their beginning, if there are at least
/// `least` names and what remains of each is a word; else 0.
fn common_prefix<'a>(names: impl Iterator<Item = &'a str>, least: usize) -> usize {
    let names: Vec<&str> = names.collect();
    let (Some(first), true) = (names.first(), names.len() >= least) else { return 0 };
    let shared = (0..first.len())
        .take_while(|i| {
            names.iter().all(|name| name.as_bytes().get(*i) == first.as_bytes().get(*i))
        })
        .count();
    let left = names.iter().map(|name| name.len() - shared).min().unwrap_or(0);
    let whole = names.iter().all(|name| name.is_char_boundary(shared));
    if shared >= 2 && left >= 2 && whole { shared } else { 0 }
}

fn column_view(table: &Table, column: &Column, cut: usize, table_stems: &[String]) -> ColumnView {
    let parts = words::identifier(&column.name[cut..]);
    let stems: Vec<String> = parts
        .iter()
        .map(|word| words::stem(word))
        // A beginning of the table's name stands for it: `stuid` in `student`.
        .map(|stem| {
            table_stems
                .iter()
                .find(|t| stem.len() >= 3 && t.starts_with(&stem))
                .cloned()
                .unwrap_or(stem)
        })
        .collect();
    let (optional, mut required): (Vec<_>, Vec<_>) =
        stems.into_iter().partition(|stem| table_stems.contains(stem));
    if required.is_empty() {
        required.clone_from(&optional);
    }
    let name = column.name.to_lowercase();
    let plain: String = name[cut..].chars().filter(|c| c.is_alphanumeric()).collect();
    let foreign = table
        .foreign_keys
        .iter()
        .any(|key| key.columns.iter().any(|c| c.eq_ignore_ascii_case(&name)));
    let primary = table.primary_key.len() == 1 && table.primary_key[0].eq_ignore_ascii_case(&name);
    // The number of a thing names it: `FlightNo` of a flight.
    let like_number = required == ["number"] && !optional.is_empty();
    let like_id = like_number
        || required.iter().any(|stem| stem == "id")
        || (name.ends_with("id") && name.len() <= 3);
    ColumnView {
        joined: [words::stem(&plain), words::stem(&parts.concat())],
        holds: classify_column(column, &required),
        declared: column.sql_type.to_lowercase(),
        nullable: column.nullable,
        name: column.name.clone(),
        is_key: foreign || primary || like_id,
        required,
        optional,
    }
}

fn classify_column(column: &Column, stems: &[String]) -> Holds {
    let declared = column.sql_type.to_lowercase();
    fn contains_any(declared: &str, parts: &[&str]) -> bool {
        parts.iter().any(|part| declared.contains(part))
    }
    if contains_any(&declared, &["bool"]) || stems.first().is_some_and(|stem| stem == "is") {
        Holds::Flag
    } else if contains_any(&declared, &["date", "time"]) || stems.iter().any(|stem| stem == "date")
    {
        Holds::Time
    } else if contains_any(
        &declared,
        &["int", "real", "num", "dec", "doub", "float", "money", "serial"],
    ) {
        Holds::Number
    } else if dialect::is_text(&declared) && is_moment(&column.name) {
        Holds::Time
    } else {
        Holds::Text
    }
}

/// Returns true if the name of a column of texts says when something happened: `hired_on`,
/// `paid_at`.
fn is_moment(name: &str) -> bool {
    match words::identifier(name).as_slice() {
        [.., verb, last] => {
            let verb = verb.as_str();
            let happens = verb.ends_with("ed") || lexicon::PARTICIPLES.contains(&verb);
            matches!(last.as_str(), "at" | "on") && happens && !lexicon::LOCATED.contains(&verb)
        }
        _ => false,
    }
}

fn primary_key(table: &Table, columns: &[ColumnView], table_stems: &[String]) -> Option<usize> {
    if let [only] = table.primary_key.as_slice() {
        return columns.iter().position(|view| view.name.eq_ignore_ascii_case(only));
    }
    if !table.primary_key.is_empty() {
        return None;
    }
    // Without a declared key: `id`, `<table>id`, or a short name ending in `id` that begins with
    // the beginning of the table's name.
    fn is_id(view: &ColumnView) -> bool {
        view.required == ["id"]
    }
    let named = columns.iter().position(|view| is_id(view) && !view.optional.is_empty());
    named.or_else(|| columns.iter().position(is_id)).or_else(|| {
        columns.iter().position(|view: &ColumnView| {
            let name = view.name.to_lowercase();
            let begins =
                table_stems.first().is_some_and(|stem| name.chars().next() == stem.chars().next());
            name.len() <= 3 && name.ends_with("id") && table_stems.len() == 1 && begins
        })
    })
}

fn labels(columns: &[ColumnView], table_stems: &[String], key: Option<usize>) -> Vec<usize> {
    fn find_named(columns: &[ColumnView], words: &[&str]) -> Option<usize> {
        columns.iter().position(|view| {
            view.required.len() == words.len()
                && view.required.iter().zip(words).all(|(stem, word)| *stem == words::stem(word))
        })
    }
    fn is_plain_text(view: &ColumnView) -> bool {
        view.holds == Holds::Text && !view.is_key
    }
    let single = find_named(columns, &["name"])
        .or_else(|| find_named(columns, &["title"]))
        .or_else(|| {
            columns.iter().position(|view| {
                is_plain_text(view) && view.required.iter().all(|stem| table_stems.contains(stem))
            })
        })
        .or_else(|| find_named(columns, &["full", "name"]));
    if let Some(single) = single {
        return vec![single];
    }
    if let (Some(first), Some(last)) =
        (find_named(columns, &["first", "name"]), find_named(columns, &["last", "name"]))
    {
        return vec![first, last];
    }
    columns
        .iter()
        .position(|view| {
            is_plain_text(view) && view.required.iter().any(|stem| stem == "name" || stem == "titl")
        })
        .or_else(|| find_named(columns, &["description"]))
        .or(key)
        .into_iter()
        .collect()
}

fn mark_rivals(edges: &mut [Edge]) {
    let mut count: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    edges.iter().for_each(|edge| *count.entry(edge.tables()).or_default() += 1);
    edges.iter_mut().for_each(|edge| edge.rival = count[&edge.tables()] > 1);
}

/// The places of the tables by their names in lower case, as the catalog finds them.
fn places(catalog: &Catalog) -> BTreeMap<String, usize> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (at, table) in catalog.tables.iter().enumerate() {
        if let Some(schema) = &table.schema_name {
            names.entry(format!("{schema}.{}", table.name).to_ascii_lowercase()).or_insert(at);
        }
    }
    let plain = |needs_schema: bool| {
        catalog
            .tables
            .iter()
            .enumerate()
            .filter(move |(_, table)| table.needs_schema() == needs_schema)
    };
    for (at, table) in plain(false).chain(plain(true)) {
        names.entry(table.name.to_ascii_lowercase()).or_insert(at);
    }
    names
}

fn read_declared_edges(catalog: &Catalog, names: &BTreeMap<String, usize>) -> Vec<Edge> {
    let place = |table: &str, column: &str| {
        let at = *names.get(&table.to_ascii_lowercase())?;
        let column =
            catalog.tables[at].columns.iter().position(|c| c.name.eq_ignore_ascii_case(column))?;
        Some(ColumnRef { table: at, column })
    };
    let mut edges = Vec::new();
    for (at, table) in catalog.tables.iter().enumerate() {
        let own = |name: &String| {
            let column =
                table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))?;
            Some(ColumnRef { table: at, column })
        };
        for key in &table.foreign_keys {
            if let ([column], [target]) = (key.columns.as_slice(), key.ref_columns.as_slice())
                && let (Some(left), Some(right)) = (own(column), place(&key.ref_table, target))
            {
                edges.push(Edge { declared: true, ..Edge::new(left, right, 1.0) });
            }
        }
    }
    edges
}

/// Joins by the names of columns, between tables of which at least one declares none.
fn infer_edges(tables: &[TableView], declared: &[Edge]) -> Vec<Edge> {
    let mut linked = vec![false; tables.len()];
    for edge in declared {
        linked[edge.left.table] = true;
        linked[edge.right.table] = true;
    }
    fn locate(tables: &[TableView], at: ColumnRef) -> (usize, usize, &ColumnView) {
        (at.table, at.column, &tables[at.table].columns[at.column])
    }
    alike_pairs(tables, &linked)
        .into_iter()
        .filter_map(|(left, right)| {
            join_cost(tables, locate(tables, left), locate(tables, right))
                .map(|cost| Edge::new(left, right, cost))
        })
        .collect()
}

/// The pairs of columns of different tables that may join at all, in catalog order: those of the
/// same name, and those that share a word with the table whose key the other is. Comparing every
/// column with every other would take too long for hundreds of tables.
fn alike_pairs(tables: &[TableView], linked: &[bool]) -> BTreeSet<(ColumnRef, ColumnRef)> {
    let mut by_name: BTreeMap<String, Vec<ColumnRef>> = BTreeMap::new();
    let mut by_stem: BTreeMap<&str, Vec<ColumnRef>> = BTreeMap::new();
    for (table, view) in tables.iter().enumerate() {
        for (column, view) in view.columns.iter().enumerate() {
            let at = ColumnRef { table, column };
            by_name.entry(view.name.to_ascii_lowercase()).or_default().push(at);
            let refers =
                view.holds == Holds::Number || view.required.iter().any(|stem| stem == "id");
            for stem in view.required.iter().filter(|stem| refers && *stem != "id") {
                by_stem.entry(stem).or_default().push(at);
            }
        }
    }
    let mut pairs = BTreeSet::new();
    let mut pair = |a: ColumnRef, b: ColumnRef| {
        if a.table != b.table && !(linked[a.table] && linked[b.table]) {
            pairs.insert((a.min(b), a.max(b)));
        }
    };
    // A name such as `price` in every table joins nothing.
    for same in by_name.values().filter(|same| {
        !same.iter().all(|at: &ColumnRef| {
            let view = &tables[at.table].columns[at.column];
            !view.is_key
                && view.optional.is_empty()
                && (view.required.len() == 1 || view.holds != Holds::Text)
        })
    }) {
        same.iter()
            .enumerate()
            .for_each(|(at, a)| same[at + 1..].iter().for_each(|b| pair(*a, *b)));
    }
    for (table, view) in tables.iter().enumerate() {
        let Some(column) = view.key else { continue };
        // A reference may name its table by the beginning of a word.
        let beginnings = view
            .stems
            .iter()
            .flat_map(|stem| stem.char_indices().map(|(at, c)| &stem[..at + c.len_utf8()]));
        for found in beginnings.filter_map(|beginning| by_stem.get(beginning)).flatten() {
            pair(ColumnRef { table, column }, *found);
        }
    }
    pairs
}

/// The cost of joining two columns by their names; `None` if they do not match.
fn join_cost(
    tables: &[TableView],
    a: (usize, usize, &ColumnView),
    b: (usize, usize, &ColumnView),
) -> Option<f64> {
    let key_of = |owner: (usize, usize, &ColumnView), other: &ColumnView| {
        let table = &tables[owner.0];
        let names = other.required.iter().any(|stem| stem == "id")
            && other.required.iter().all(|stem| {
                stem == "id" || table.stems.iter().any(|own| own.starts_with(stem.as_str()))
            });
        // `id` alone is the other table's own key, not a reference.
        table.key == Some(owner.1) && names && other.required.len() > 1
    };
    if key_of(a, b.2) || key_of(b, a.2) {
        return Some(1.0);
    }
    // A number named like the other table refers to its key: `author` in `book`.
    let refers = |owner: (usize, usize, &ColumnView), other: (usize, usize, &ColumnView)| {
        let table = &tables[owner.0];
        table.key == Some(owner.1)
            && other.2.holds == Holds::Number
            && other.2.required == table.stems
    };
    if refers(a, b) || refers(b, a) {
        return Some(1.2);
    }
    if !a.2.name.eq_ignore_ascii_case(&b.2.name)
        || a.2.required == ["id"] && b.2.required == ["id"] && a.2.optional.is_empty()
    {
        return None;
    }
    fn is_primary_key(tables: &[TableView], side: (usize, usize, &ColumnView)) -> bool {
        tables[side.0].key == Some(side.1)
    }
    let names = |side: (usize, usize, &ColumnView)| {
        tables[side.0].labels == [side.1] && side.2.required == ["name"]
    };
    match () {
        () if a.2.is_key && (is_primary_key(tables, a) || is_primary_key(tables, b)) => Some(1.1),
        () if a.2.is_key => Some(2.5),
        () if a.2.required != b.2.required && (names(a) || names(b)) => Some(1.3),
        () if a.2.required == b.2.required
            && a.2.required.len() > 1
            && a.2.holds == Holds::Text =>
        {
            Some(3.0)
        }
        () => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn columns_lose_the_words_of_their_table() {
        let schema = Schema::new(&fixture::library());
        let book = schema.tables.iter().find(|table| table.name == "book").unwrap();
        assert_eq!(book.columns[0].required, ["id"]);
        assert_eq!(book.labels, [1]);
        assert_eq!(book.key, Some(0));
    }

    #[test]
    fn joins_are_inferred_from_names_without_foreign_keys() {
        let mut catalog = fixture::library();
        let declared = Schema::new(&catalog).edges.len();
        catalog.tables.iter_mut().for_each(|table| table.foreign_keys.clear());
        let schema = Schema::new(&catalog);
        assert_eq!(
            schema.edges.iter().filter(|edge| edge.cost < 2.0).count(),
            declared,
            "{:?}",
            schema.edges
        );
    }

    #[test]
    fn only_pairs_that_cannot_join_are_left_out() {
        let mut catalog = fixture::library();
        catalog.tables.iter_mut().for_each(|table| table.foreign_keys.clear());
        catalog.tables[2].columns[3].name = "book".to_owned();
        catalog.tables[2].columns[3].sql_type = "INTEGER".to_owned();
        let schema = Schema::new(&catalog);
        let mut all = Vec::new();
        for (left, a) in schema.columns() {
            for (right, b) in schema.columns().filter(|(right, _)| right.table > left.table) {
                let cost = join_cost(
                    &schema.tables,
                    (left.table, left.column, a),
                    (right.table, right.column, b),
                );
                all.extend(cost.map(|cost| (left, right, cost)));
            }
        }
        let mut found: Vec<_> =
            schema.edges.iter().map(|edge| (edge.left, edge.right, edge.cost)).collect();
        let order = |list: &mut Vec<(ColumnRef, ColumnRef, f64)>| {
            list.sort_by_key(|(left, right, _)| (*left, *right))
        };
        order(&mut all);
        order(&mut found);
        assert!(found.len() > 3);
        assert_eq!(found, all);
    }

    #[test]
    fn a_prefix_of_all_names_is_not_a_word() {
        assert_eq!(common_prefix(["xzorder", "xzitem", "xzcart"].into_iter(), 3), 2);
        assert_eq!(common_prefix(["order", "item", "cart"].into_iter(), 3), 0);
    }
}
