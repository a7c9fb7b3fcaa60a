//! Proposes a first semantics file from the keys, names and types of a catalog. A person reviews
//! it, and its comments give the reasons.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use chrono::NaiveDate;
use syrch_core::text::escape::is_dangerous;
use syrch_core::{Catalog, Column, Dialect, Table};

use crate::check::probes::source_in_sql;
use crate::check::types::Type;
use crate::describe::{Descriptions, is_description, name_dimension, name_metric, name_table};
use crate::write::{
    Taken, clean, is_writable, scalar, scalars, sql_column, sql_name, sql_own_column,
};

/// The limit on the number of tables that are proposed.
const TABLES: usize = 500;

/// The limit on the number of values that become labels, and on the characters of each.
const LABELS: usize = 20;
const LABEL: usize = 60;

/// The words in names of numbers whose sum says little, and whose mean is proposed.
const MEANS: &[&str] = &[
    "age",
    "average",
    "avg",
    "cost",
    "discount",
    "height",
    "length",
    "percent",
    "price",
    "rate",
    "rating",
    "ratio",
    "salary",
    "score",
    "share",
    "temperature",
    "weight",
    "width",
];

/// The words in names of numbers that are not amounts, such as codes and parts of dates.
const CODES: &[&str] = &[
    "code",
    "day",
    "id",
    "key",
    "lat",
    "latitude",
    "line",
    "lng",
    "lon",
    "longitude",
    "month",
    "no",
    "nr",
    "number",
    "phone",
    "position",
    "postal",
    "version",
    "year",
    "zip",
];

/// The words in names of texts that are not useful groups.
const FREE_TEXTS: &[&str] = &[
    "address",
    "body",
    "comment",
    "comments",
    "description",
    "email",
    "fax",
    "hash",
    "note",
    "notes",
    "password",
    "phone",
    "postal",
    "postalcode",
    "postcode",
    "secret",
    "street",
    "text",
    "token",
    "url",
    "zip",
    "zipcode",
];

/// The endings of such names, whatever stands before them without a sign between.
const FREE_TEXT_ENDS: &[&str] = &["address", "email", "phone", "postalcode"];

/// The names of the two columns that name a person together.
const FIRST_NAMES: &[&str] = &["firstname", "forename", "givenname"];
const LAST_NAMES: &[&str] = &["familyname", "lastname", "surname"];

/// The words for units of time in questions.
const UNITS: &[&str] = &["day", "month", "quarter", "week", "year"];

/// The words in names of days that seldom date a row.
const BIRTHS: &[&str] = &["birth", "birthdate", "birthday", "born", "dob"];

/// The words in names of texts that hold dates, in SQLite, which has no type for them.
const DATES: &[&str] = &["at", "date", "day", "on", "time", "timestamp"];

/// The values that a column has in the rows, for labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnValues {
    /// The table, by the name that the catalog shows.
    pub table: String,
    /// The column.
    pub column: String,
    /// All its values, each once.
    pub values: Vec<String>,
}

/// A question for the values of a column that may be few: the caller runs the statement, whose
/// result is one column of at most 21 rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValuesProbe {
    /// The table, by the name that the catalog shows.
    pub table: String,
    /// The column.
    pub column: String,
    /// One SELECT in the dialect of the catalog.
    pub sql: String,
}

/// The statements that ask for the values of columns whose labels [`propose`] would write, and of
/// texts that may be days. Of these, values that are none come first.
#[must_use]
pub fn values_probes(catalog: &Catalog) -> Vec<ValuesProbe> {
    let mut probes = Vec::new();
    for table in tables_to_propose(catalog) {
        let shown = catalog.table_name(table);
        let from = source_in_sql(catalog, table);
        for column in &table.columns {
            let is_asked = is_grouped_text(column, &catalog.dialect)
                && !is_name(table, column)
                && !is_in_key(table, column)
                && column.values().is_none();
            let may_be_days = is_time(column, &catalog.dialect) && is_writable(&column.name);
            let holds_text = holds_text(&catalog.dialect);
            if is_asked || (may_be_days && holds_text) {
                let name = catalog.dialect.quote(&column.name);
                let order = match holds_text {
                    true => format!(" ORDER BY {name} LIKE '____-__-__%', {name}"),
                    false => String::new(),
                };
                let sql = format!(
                    "SELECT DISTINCT {name} FROM {from} WHERE {name} IS NOT NULL{order} LIMIT {}",
                    LABELS + 1
                );
                probes.push(ValuesProbe { table: shown.clone(), column: column.name.clone(), sql });
            }
        }
    }
    probes
}

/// Proposes a semantics file for a catalog: its tables with keys and times, dimensions for texts
/// and dates, joins from foreign keys and from names, counts, sums and means for metrics, and
/// labels for columns with few values. Comments of the database become descriptions; what has none
/// has that of `descriptions`. The file reads back without problems.
#[must_use]
pub fn propose(catalog: &Catalog, values: &[ColumnValues], descriptions: &Descriptions) -> String {
    let mut names = Taken::default();
    let prefix = find_prefix(catalog);
    let tables: Vec<Proposed<'_>> = tables_to_propose(catalog)
        .map(|source| {
            let short = source.name.get(prefix..).unwrap_or(&source.name);
            let shown = catalog.table_name(source);
            let name = names.take(&[clean(short), clean(&source.name), clean(&shown)]);
            Proposed { source, shown, name }
        })
        .collect();
    let joins = find_joins(catalog, &tables);
    let words = Taken::default();
    let mut writer = Writer { catalog, values, descriptions, tables, joins, words };
    writer.write()
}

fn tables_to_propose(catalog: &Catalog) -> impl Iterator<Item = &Table> {
    catalog
        .tables
        .iter()
        .filter(|table| !table.is_view() && is_writable(&catalog.table_name(table)))
        .take(TABLES)
}

/// The length of the beginning that the names of all tables share, such as `shop_`, and that says
/// nothing of one of them.
fn find_prefix(catalog: &Catalog) -> usize {
    let names: Vec<&str> = tables_to_propose(catalog).map(|table| table.name.as_str()).collect();
    let [first, _, _, ..] = names.as_slice() else { return 0 };
    let ends = first.match_indices('_').map(|(at, _)| at + 1);
    let mut shared = ends.filter(|end| {
        names.iter().all(|name| name.len() > *end && name.get(..*end) == first.get(..*end))
    });
    shared.next_back().unwrap_or(0)
}

/// A table with its name in the file.
struct Proposed<'a> {
    source: &'a Table,
    shown: String,
    name: String,
}

/// A join with the positions of its tables.
struct ProposedJoin {
    from: usize,
    columns: Vec<String>,
    to: usize,
    to_columns: Vec<String>,
    /// The reason for it, as a comment.
    reason: &'static str,
}

/// The joins for a file, and the foreign keys that it has no place for, each with the reason.
#[derive(Default)]
struct ProposedJoins {
    kept: Vec<ProposedJoin>,
    left_out: Vec<(ProposedJoin, &'static str)>,
}

/// The comment on a foreign key without a join.
const FOREIGN_KEY: &str = "a foreign key";

/// Returns the words of a name in lower case, at changes of case and at other signs.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (was_lower && c.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn has_word(name: &str, list: &[&str]) -> bool {
    words(name).iter().any(|word| list.contains(&word.as_str()))
}

fn type_of(column: &Column) -> Type {
    Type::from_declared(&column.sql_type)
}

fn is_time(column: &Column, dialect: &Dialect) -> bool {
    match type_of(column) {
        Type::Time => true,
        Type::Text => {
            let last = words(&column.name).pop().unwrap_or_default();
            *dialect == Dialect::Sqlite && DATES.contains(&last.as_str())
        }
        Type::Number | Type::Boolean | Type::Unknown => false,
    }
}

/// Returns true for a dialect whose dates are texts, which may have any form.
fn holds_text(dialect: &Dialect) -> bool {
    *dialect == Dialect::Sqlite
}

/// Returns true for a day as ISO 8601 has it, with a time or without.
fn is_iso_day(value: &str) -> bool {
    let Some((day, rest)) = value.split_at_checked("2024-05-31".len()) else { return false };
    let is_day = NaiveDate::parse_from_str(day, "%Y-%m-%d").is_ok();
    is_day && day.is_ascii() && (rest.is_empty() || rest.starts_with(['T', ' ']))
}

fn is_grouped_text(column: &Column, dialect: &Dialect) -> bool {
    type_of(column) == Type::Text
        && is_writable(&column.name)
        && !is_time(column, dialect)
        && !is_free_text(&column.name)
}

fn is_free_text(name: &str) -> bool {
    let last = words(name).pop().unwrap_or_default();
    has_word(name, FREE_TEXTS) || FREE_TEXT_ENDS.iter().any(|end| last.ends_with(end))
}

/// Returns true for the column that names a row, such as `name`, `full_name`, or `pet_name`, `pet`
/// and `petname` of `pets`.
fn is_name(table: &Table, column: &Column) -> bool {
    let own = words(&column.name);
    let table = words(&singular(&table.name));
    let joined = own.concat();
    let is_of_table = own.split_last().is_some_and(|(last, before)| {
        let is_short = matches!((before, table.as_slice()), ([one], [whole]) if means(one, whole));
        last == "name" && (table.ends_with(before) || is_short)
    });
    is_of_table || own == table || joined == "fullname" || joined == table.concat() + "name"
}

/// Returns true if a word of a name stands for another: it is the same, its beginning or an
/// abbreviation.
fn means(word: &str, whole: &str) -> bool {
    word == whole
        || (word.len() >= 3 && whole.starts_with(word))
        || syrch_words::abbreviation(word) == Some(whole)
}

/// The first text whose name is one of these.
fn find_text<'t>(table: &'t Table, names: &[&str]) -> Option<&'t Column> {
    table.columns.iter().find(|column| {
        type_of(column) == Type::Text
            && is_writable(&column.name)
            && names.contains(&words(&column.name).concat().as_str())
    })
}

/// The expression of the names of people, which two columns have together.
fn full_name(table: &Table) -> Option<String> {
    let is_named = table.columns.iter().any(|column| is_name(table, column));
    let first = find_text(table, FIRST_NAMES).filter(|_| !is_named && has_writable_key(table))?;
    let last = find_text(table, LAST_NAMES)?;
    let [first, last] = [first, last].map(|column| sql_own_column(&column.name));
    Some(format!("{first} || ' ' || {last}"))
}

fn is_in_key(table: &Table, column: &Column) -> bool {
    let foreign = table.foreign_keys.iter().flat_map(|key| &key.columns);
    foreign.chain(&table.primary_key).any(|name| name.eq_ignore_ascii_case(&column.name))
}

/// Returns true if the file says what tells the rows of a table apart.
fn has_writable_key(table: &Table) -> bool {
    !table.primary_key.is_empty() && table.primary_key.iter().all(|key| is_writable(key))
}

/// The singular of a name.
fn singular(name: &str) -> String {
    let lower = name.to_lowercase();
    let irregular = syrch_words::singular(&lower);
    if irregular != lower {
        return irregular.to_owned();
    }
    match name {
        name if lower.ends_with("ies") && name.len() > 4 => format!("{}y", &name[..name.len() - 3]),
        name if lower.ends_with("ss") || lower.ends_with("us") => name.to_owned(),
        name if ["ches", "shes", "xes", "sses"].iter().any(|end| lower.ends_with(end)) => {
            name[..name.len() - 2].to_owned()
        }
        name if lower.ends_with('s') && name.len() > 3 => name[..name.len() - 1].to_owned(),
        name => name.to_owned(),
    }
}

/// The plural of a name in lower case, by the rules of English.
fn plural(name: &str) -> String {
    match name {
        name if name.ends_with('y')
            && !["ay", "ey", "oy", "uy"].iter().any(|end| name.ends_with(end)) =>
        {
            format!("{}ies", &name[..name.len() - 1])
        }
        name if ["ch", "s", "sh", "x", "z"].iter().any(|end| name.ends_with(end)) => {
            format!("{name}es")
        }
        name => format!("{name}s"),
    }
}

/// The joins that keys state and names suggest: none from a table to itself, one at most between
/// two tables, and none that closes a circle.
fn find_joins(catalog: &Catalog, tables: &[Proposed<'_>]) -> ProposedJoins {
    let mut found = Vec::new();
    for (from, table) in tables.iter().enumerate() {
        for key in &table.source.foreign_keys {
            let Some(target) = catalog.table(&key.ref_table) else { continue };
            let is_comparable =
                key.columns.iter().zip(&key.ref_columns).all(|(own, other)| {
                    are_comparable(table.source.column(own), target.column(other))
                });
            let to = tables.iter().position(|table| table.source.is_same(target));
            if let Some(to) = to.filter(|_| is_comparable) {
                found.push(ProposedJoin {
                    from,
                    columns: key.columns.clone(),
                    to,
                    to_columns: key.ref_columns.clone(),
                    reason: FOREIGN_KEY,
                });
            }
        }
    }
    for (from, table) in tables.iter().enumerate() {
        let free = table.source.columns.iter().filter(|column| {
            !is_in_key(table.source, column) || table.source.primary_key.len() > 1
        });
        for column in free {
            let Some(to) = find_table_meant(column, tables) else { continue };
            let target = tables[to].source;
            let [key] = target.primary_key.as_slice() else { continue };
            if to != from && are_comparable(Some(column), target.column(key)) {
                found.push(ProposedJoin {
                    from,
                    columns: vec![column.name.clone()],
                    to,
                    to_columns: vec![key.clone()],
                    reason: "by the names: review it",
                });
            }
        }
    }
    keep_plain(found, tables)
}

/// Returns true for two columns of the same type, as far as it is known.
fn are_comparable(one: Option<&Column>, other: Option<&Column>) -> bool {
    match [one.map(type_of), other.map(type_of)] {
        [Some(one), Some(other)] => one == other || [one, other].contains(&Type::Unknown),
        _ => false,
    }
}

/// The table that a column such as `customer_id` or `customerId` means.
fn find_table_meant(column: &Column, tables: &[Proposed<'_>]) -> Option<usize> {
    let mut words = words(&column.name);
    if words.pop().is_none_or(|last| last != "id") || words.is_empty() {
        return None;
    }
    let wanted = words.join("_");
    tables.iter().position(|table| {
        let name = self::words(&table.source.name).join("_");
        let short = self::words(&table.name).join("_");
        [name, short].iter().any(|name| *name == wanted || singular(name) == wanted)
    })
}

/// Leaves out what a file cannot have. Of several joins, one whose columns say no more than the
/// table that they refer to comes before others: the `dept_no` of an employee before the `mngr_no`
/// of a department.
fn keep_plain(found: Vec<ProposedJoin>, tables: &[Proposed<'_>]) -> ProposedJoins {
    let mut next: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); tables.len()];
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|at| !says_no_more(&found[*at], tables));
    let mut reasons: BTreeMap<usize, &'static str> = BTreeMap::new();
    for at in order {
        let join = &found[at];
        let reason = if join.from == join.to {
            "it refers to its own table"
        } else if next[join.from].contains(&join.to) || next[join.to].contains(&join.from) {
            "another join is between these tables"
        } else if leads(&next, join.to, join.from) {
            "with others it would be a circle"
        } else if is_writable_join(join) {
            next[join.from].insert(join.to);
            continue;
        } else {
            ""
        };
        reasons.insert(at, reason);
    }
    let mut joins = ProposedJoins::default();
    for (at, join) in found.into_iter().enumerate() {
        match reasons.get(&at) {
            None => joins.kept.push(join),
            Some(reason) if join.reason == FOREIGN_KEY && is_writable_join(&join) => {
                joins.left_out.push((join, reason));
            }
            Some(_) => {}
        }
    }
    joins
}

fn is_writable_join(join: &ProposedJoin) -> bool {
    join.columns.len() == join.to_columns.len()
        && !join.columns.is_empty()
        && join.columns.iter().chain(&join.to_columns).all(|name| is_writable(name))
}

/// Returns true if each word of a join's columns stands for a word of the table that they refer to,
/// or only says that they refer.
fn says_no_more(join: &ProposedJoin, tables: &[Proposed<'_>]) -> bool {
    let table = words(&singular(&tables[join.to].source.name));
    join.columns
        .iter()
        .flat_map(|column| words(column))
        .all(|word| CODES.contains(&word.as_str()) || table.iter().any(|whole| means(&word, whole)))
}

/// Returns true if joins lead from one table to another, or the two are one.
fn leads(next: &[BTreeSet<usize>], from: usize, to: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(table) = open.pop() {
        if table == to {
            return true;
        }
        if seen.insert(table) {
            open.extend(&next[table]);
        }
    }
    false
}

struct Writer<'a> {
    catalog: &'a Catalog,
    values: &'a [ColumnValues],
    descriptions: &'a Descriptions,
    tables: Vec<Proposed<'a>>,
    joins: ProposedJoins,
    /// The words of dimensions and metrics.
    words: Taken,
}

/// The comment after a description that a model wrote.
const BY_MODEL: &str = " # by a model: review it";

const HEAD: &str = "\
# A proposal from keys, names and types. Review every line before you rely on it: remove what is
# wrong, rename what people call otherwise, add synonyms, and compare it with the database by
# `syrch-host semantics check`.
";

impl Writer<'_> {
    fn write(&mut self) -> String {
        let mut out = String::from(HEAD);
        let left_out = self.catalog.tables.len() - self.tables.len();
        if left_out > 0 {
            let line = format!("# Views, and tables beyond {TABLES}, are left out: {left_out}.\n");
            out.push_str(&line);
        }
        if !self.tables.is_empty() {
            out.push_str("\ntables:\n");
        }
        for index in 0..self.tables.len() {
            let table = self.table(index);
            out.push_str(&table);
        }
        if !self.joins.kept.is_empty() {
            out.push_str("\njoins:\n");
        }
        for join in &self.joins.kept {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  - {} # {}", self.join(join), join.reason);
        }
        for (join, reason) in &self.joins.left_out {
            let _ = writeln!(out, "  # {}: left out, since {reason}", self.join(join));
        }
        if !self.joins.left_out.is_empty() {
            out.push_str("  # A second table with the same `source` can have such a join.\n");
        }
        let metrics = self.metrics();
        if !metrics.is_empty() {
            let _ = write!(out, "\nmetrics:\n{metrics}");
        }
        out
    }

    fn join(&self, join: &ProposedJoin) -> String {
        let from = self.end(join.from, &join.columns);
        let to = self.end(join.to, &join.to_columns);
        format!("{{from: {from}, to: {to}}}")
    }

    fn end(&self, table: usize, columns: &[String]) -> String {
        let name = &self.tables[table].name;
        let columns: Vec<String> =
            columns.iter().map(|column| format!("{name}.{column}")).collect();
        scalars(&columns)
    }

    fn table(&mut self, index: usize) -> String {
        let Proposed { source, ref shown, ref name } = self.tables[index];
        let shown = shown.clone();
        let name = name.clone();
        let mut out = format!("  {}:\n", scalar(&name));
        if shown != name {
            let _ = writeln!(out, "    source: {}", scalar(&shown));
        }
        if let Some((text, mark)) = self.describe(&name_table(&name), source.comment.as_deref()) {
            let _ = writeln!(out, "    description: {text}{mark}");
        }
        if has_writable_key(source) {
            let _ = writeln!(out, "    key: {}", scalars(&source.primary_key));
        }
        let mut times = Vec::new();
        let mut is_certain = true;
        let mut dimensions = String::new();
        let mut own = BTreeSet::new();
        if let Some(expression) = full_name(source) {
            let singular = singular(&name);
            let dimension = self.words.take(&[singular.clone(), format!("{singular} name")]);
            let parts =
                vec![format!("expression: {}", scalar(&expression)), "type: name".to_owned()];
            let described = self.describe(&name_dimension(&name, &dimension), None);
            dimensions.push_str(&entry("      ", &dimension, parts, described));
            own.insert(dimension.to_lowercase());
        }
        for column in &source.columns {
            if !is_writable(&column.name) || self.is_joined(index, column) {
                continue;
            }
            let doubt = self.doubt_time(&shown, column);
            if let Some(doubt) = doubt {
                let _ = writeln!(out, "    # {}: {doubt}", clean(&column.name));
            }
            let is_day = self.holds_days(&shown, source, column);
            let is_time = is_day || is_time(column, &self.catalog.dialect) && doubt.is_none();
            let is_grouped =
                is_grouped_text(column, &self.catalog.dialect) || type_of(column) == Type::Boolean;
            if !is_time && !is_grouped {
                continue;
            }
            let dimension = self.dimension_name(&name, column, is_name(source, column), &mut own);
            if is_time {
                times.push(dimension.clone());
                is_certain &= !is_day;
            }
            let parts = self.dimension(&dimension, &self.tables[index], column, is_time);
            let key = name_dimension(&name, &dimension);
            let described = self.describe(&key, column.comment.as_deref());
            dimensions.push_str(&entry("      ", &dimension, parts, described));
        }
        times.sort_by_key(|time: &String| has_word(time, BIRTHS));
        match times.as_slice() {
            [] => {}
            [time] => {
                let reason = if is_certain { "" } else { " # by its values: review it" };
                let _ = writeln!(out, "    time: {}{reason}", scalar(time));
            }
            [time, others @ ..] => {
                let others = others.join(", ");
                let _ = writeln!(out, "    time: {} # or {others}: review it", scalar(time));
            }
        }
        if !dimensions.is_empty() {
            let _ = write!(out, "    dimensions:\n{dimensions}");
        }
        out
    }

    /// The description of a name as a scalar, with a mark if a model wrote it: the comment of the
    /// database if that can be one, else the model's.
    fn describe(&self, name: &str, comment: Option<&str>) -> Option<(String, &'static str)> {
        let comment = comment.map(str::trim).filter(|comment| is_description(comment));
        match comment {
            Some(comment) => Some((scalar(comment), "")),
            None => self.descriptions.get(name).map(|text| (scalar(text), BY_MODEL)),
        }
    }

    /// The reason why a column with the name or the type of a time is not proposed as one.
    fn doubt_time(&self, table: &str, column: &Column) -> Option<&'static str> {
        let dialect = &self.catalog.dialect;
        if !holds_text(dialect) || !is_time(column, dialect) {
            return None;
        }
        match self.find_values(table, column) {
            // A declared type is the word of the one who made the table.
            None if type_of(column) == Type::Time => None,
            None => Some("a time by its name; its values were not read, so it is left out"),
            Some([]) => Some("a time by its name, without a value"),
            Some(values) if values.iter().all(|value| is_iso_day(value)) => None,
            Some(_) => Some("a time by its name; not all of its values are days as 2024-05-31"),
        }
    }

    /// Returns true for a text whose name says nothing of a time and whose values are days.
    fn holds_days(&self, shown: &str, table: &Table, column: &Column) -> bool {
        let dialect = &self.catalog.dialect;
        let values = self.find_values(shown, column).unwrap_or_default();
        holds_text(dialect)
            && is_grouped_text(column, dialect)
            && !is_name(table, column)
            && !is_in_key(table, column)
            && !values.is_empty()
            && values.iter().all(|value| is_iso_day(value))
    }

    fn find_values(&self, table: &str, column: &Column) -> Option<&[String]> {
        let found = self.values.iter().find(|values| {
            values.table == table && values.column.eq_ignore_ascii_case(&column.name)
        });
        found.map(|found| found.values.as_slice())
    }

    /// Returns true if a join stands for a column.
    fn is_joined(&self, table: usize, column: &Column) -> bool {
        self.joins.kept.iter().any(|join| {
            join.from == table
                && join.columns.iter().any(|name| name.eq_ignore_ascii_case(&column.name))
        })
    }

    /// A name that is unique in its table, and that no dimension of another name is near to.
    fn dimension_name(
        &mut self,
        table: &str,
        column: &Column,
        is_name: bool,
        own: &mut BTreeSet<String>,
    ) -> String {
        let singular = singular(table);
        let plain = if is_name { singular.clone() } else { clean(&column.name) };
        let long = clean(&format!("{singular} {}", column.name));
        for name in [plain, long.clone()] {
            if self.words.is_free_or(&name) && own.insert(name.to_lowercase()) {
                self.words.add(&name);
                return name;
            }
        }
        let name = self.words.take(&[long]);
        own.insert(name.to_lowercase());
        name
    }

    /// The keys of a dimension.
    fn dimension(
        &self,
        name: &str,
        source: &Proposed<'_>,
        column: &Column,
        is_time: bool,
    ) -> Vec<String> {
        let table = source.shown.as_str();
        let has_key = has_writable_key(source.source);
        let mut parts = Vec::new();
        if is_time {
            parts.push("type: time".to_owned());
        }
        if name != column.name {
            parts.push(format!("expression: {}", scalar(&sql_own_column(&column.name))));
        }
        let labels = if is_time { Vec::new() } else { self.labels(table, column) };
        if labels.is_empty() && !is_time && has_key && is_name(source.source, column) {
            parts.push("type: name".to_owned());
        }
        if !labels.is_empty() {
            let labels: Vec<String> =
                labels.iter().map(|label| format!("{}: []", scalar(label))).collect();
            parts.push("type: text".to_owned());
            parts.push(format!("labels: {{{}}}", labels.join(", ")));
        }
        parts
    }

    /// The values of a column, if they are few and each can be told from the others in a question.
    fn labels(&self, table: &str, column: &Column) -> Vec<String> {
        let declared = match column.values() {
            Some((values, 0)) => Some(values),
            _ => None,
        };
        let mut values = match (declared, self.find_values(table, column)) {
            (Some(values), _) => values,
            (None, Some(found)) => found.to_vec(),
            (None, None) => return Vec::new(),
        };
        values.sort();
        let different: BTreeSet<String> = values.iter().map(|value| value.to_lowercase()).collect();
        let is_usable = (2..=LABELS).contains(&values.len())
            && different.len() == values.len()
            && values.iter().all(|value| {
                value.chars().count() <= LABEL
                    && !value.trim().is_empty()
                    && !value.chars().any(is_dangerous)
            });
        if is_usable { values } else { Vec::new() }
    }

    /// The word for the rows of a table, such as `orders`, if nothing else may be meant by it. The
    /// dimension that names a row, such as `order`, stays apart from it.
    fn name_rows(&mut self, shown: &str, table: &str) -> Option<String> {
        let one = singular(table);
        let rows = match one == table {
            true => plural(shown),
            false => shown.to_owned(),
        };
        let is_free = self.words.is_free_or(&one)
            && !rows.eq_ignore_ascii_case(&one)
            && !UNITS.contains(&one.to_lowercase().as_str());
        is_free.then(|| self.words.add(&rows))?;
        Some(rows)
    }

    fn metrics(&mut self) -> String {
        // A number that several tables have is named with its table.
        let mut owners: BTreeMap<String, usize> = BTreeMap::new();
        for table in &self.tables {
            for column in &table.source.columns {
                *owners.entry(column.name.to_lowercase()).or_default() += 1;
            }
        }
        let mut out = String::new();
        for index in 0..self.tables.len() {
            let source = self.tables[index].source;
            let name = self.tables[index].name.clone();
            let shown = words(&name).join(" ");
            let metric = self.words.take(&[format!("number of {shown}"), format!("{shown} count")]);
            let count = format!("count({}.*)", sql_name(&name));
            let rows = self.name_rows(&shown, &name);
            out.push_str(&self.metric(&metric, &count, rows.as_deref(), None));
            let numbers = source.columns.iter().filter(|column| {
                type_of(column) == Type::Number
                    && is_writable(&column.name)
                    && !is_in_key(source, column)
                    && !has_word(&column.name, CODES)
            });
            for column in numbers {
                if self.is_joined(index, column) {
                    continue;
                }
                let is_mean = has_word(&column.name, MEANS);
                let (word, aggregate) = if is_mean { ("average", "avg") } else { ("total", "sum") };
                // `average price` of `price_cents`, in cents.
                let unit = syrch_words::unit(&column.name).filter(|(_, before)| *before > 0);
                let bare = unit.map_or(column.name.as_str(), |(_, before)| &column.name[..before]);
                let column_words = words(bare).join(" ");
                let long = format!("{word} {} {column_words}", words(&singular(&name)).join(" "));
                let is_shared = owners.get(&column.name.to_lowercase()).is_some_and(|n| *n > 1);
                let plain = match column_words.contains("total") {
                    true => format!("{} {column_words}", words(&singular(&name)).join(" ")),
                    false if is_shared => long.clone(),
                    false => format!("{word} {column_words}"),
                };
                let metric = self.words.take(&[plain, long]);
                let argument = sql_column(&name, &column.name);
                let measure = format!("{aggregate}({argument})");
                out.push_str(&self.metric(&metric, &measure, None, unit.map(|(unit, _)| unit)));
            }
        }
        out
    }

    /// A metric with its measure alone, unless it has a synonym, a unit or a description.
    fn metric(
        &self,
        name: &str,
        measure: &str,
        synonym: Option<&str>,
        unit: Option<&str>,
    ) -> String {
        let described = self.describe(&name_metric(name), None);
        if synonym.is_none() && unit.is_none() && described.is_none() {
            return format!("  {}: {}\n", scalar(name), scalar(measure));
        }
        let mut parts = vec![format!("measure: {}", scalar(measure))];
        parts.extend(synonym.map(|synonym| format!("synonyms: [{}]", scalar(synonym))));
        parts.extend(unit.map(|unit| format!("unit: {unit}")));
        entry("  ", name, parts, described)
    }
}

/// A name with its keys in one line, and with its description if there is one.
fn entry(
    indent: &str,
    name: &str,
    mut parts: Vec<String>,
    described: Option<(String, &'static str)>,
) -> String {
    let mut mark = "";
    if let Some((text, by)) = described {
        parts.push(format!("description: {text}"));
        mark = by;
    }
    match parts.is_empty() {
        true => format!("{indent}{}:\n", scalar(name)),
        false => format!("{indent}{}: {{{}}}{mark}\n", scalar(name), parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syrch_core::{ForeignKey, Index};

    use super::*;
    use crate::{Semantics, Severity, Source, check};

    fn column(name: &str, sql_type: &str) -> Column {
        Column { name: name.into(), sql_type: sql_type.into(), ..Column::default() }
    }

    fn read_back(catalog: &Catalog, values: &[ColumnValues]) -> (String, Semantics) {
        let text = propose(catalog, values, &Descriptions::default());
        let source = Source { file: "p.yml".into(), text: text.clone() };
        let semantics =
            Semantics::read(&[source]).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"));
        let wrong: Vec<String> = check(&semantics, catalog)
            .iter()
            .filter(|finding| finding.severity != Severity::Note)
            .map(ToString::to_string)
            .collect();
        assert!(wrong.is_empty(), "{text}\n{wrong:#?}");
        (text, semantics)
    }

    #[test]
    fn keys_names_and_types_become_a_file() {
        let orders = Table {
            name: "orders".into(),
            columns: vec![
                column("id", "INTEGER"),
                column("customer_id", "INTEGER"),
                column("shop_id", "INTEGER"),
                column("order_date", "TEXT"),
                column("status", "TEXT"),
                column("total", "REAL"),
                column("discount", "REAL"),
            ],
            primary_key: vec!["id".into()],
            foreign_keys: vec![ForeignKey {
                columns: vec!["customer_id".into()],
                ref_table: "customers".into(),
                ref_columns: vec!["id".into()],
            }],
            ..Table::default()
        };
        let customers = Table {
            name: "customers".into(),
            columns: vec![column("id", "INTEGER"), column("name", "TEXT"), column("city", "TEXT")],
            primary_key: vec!["id".into()],
            indexes: vec![Index {
                name: "by_name".into(),
                columns: vec!["name".into()],
                is_unique: true,
                method: None,
                predicate: None,
            }],
            ..Table::default()
        };
        let shops = Table {
            name: "shops".into(),
            columns: vec![column("id", "INTEGER"), column("city", "TEXT")],
            primary_key: vec!["id".into()],
            ..Table::default()
        };
        let catalog = Catalog {
            database: "d".into(),
            dialect: Dialect::Sqlite,
            tables: vec![orders, customers, shops],
        };
        let values = ColumnValues {
            table: "orders".into(),
            column: "status".into(),
            values: vec!["open".into(), "1".into()],
        };
        let days = ColumnValues {
            table: "orders".into(),
            column: "order_date".into(),
            values: vec!["2024-05-31".into(), "2024-06-01 12:30:00".into()],
        };
        let (text, _) = read_back(&catalog, &[values, days]);
        let body = text.strip_prefix(HEAD).unwrap();
        assert_eq!(
            body,
            "
tables:
  orders:
    key: id
    time: order_date
    dimensions:
      order_date: {type: time}
      status: {type: text, labels: {\"1\": [], open: []}}
  customers:
    key: id
    dimensions:
      customer: {expression: name, type: name}
      city:
  shops:
    key: id
    dimensions:
      city:

joins:
  - {from: orders.customer_id, to: customers.id} # a foreign key
  - {from: orders.shop_id, to: shops.id} # by the names: review it

metrics:
  number of orders: {measure: count(orders.*), synonyms: [orders]}
  order total: sum(orders.total)
  average discount: avg(orders.discount)
  number of customers: {measure: count(customers.*), synonyms: [customers]}
  number of shops: {measure: count(shops.*), synonyms: [shops]}
"
        );
        let asked: Vec<String> = values_probes(&catalog)
            .into_iter()
            .map(|probe| format!("{}.{}", probe.table, probe.column))
            .collect();
        assert_eq!(asked, ["orders.order_date", "orders.status", "customers.city", "shops.city"]);
    }

    /// A foreign key of one column.
    fn refers(column: &str, table: &str, target: &str) -> ForeignKey {
        ForeignKey {
            columns: vec![column.into()],
            ref_table: table.into(),
            ref_columns: vec![target.into()],
        }
    }

    #[test]
    fn a_foreign_key_without_a_join_is_named_with_the_reason() {
        let department = Table {
            name: "department".into(),
            columns: vec![
                column("dept_no", "TEXT"),
                column("department", "TEXT"),
                column("head_dept", "TEXT"),
                column("mngr_no", "INTEGER"),
            ],
            primary_key: vec!["dept_no".into()],
            foreign_keys: vec![
                refers("head_dept", "department", "dept_no"),
                refers("mngr_no", "employee", "emp_no"),
            ],
            ..Table::default()
        };
        let employee = Table {
            name: "employee".into(),
            columns: vec![
                column("emp_no", "INTEGER"),
                column("emp_name", "TEXT"),
                column("dept_no", "TEXT"),
            ],
            primary_key: vec!["emp_no".into()],
            foreign_keys: vec![refers("dept_no", "department", "dept_no")],
            ..Table::default()
        };
        let tables = vec![department, employee];
        let catalog = Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables };
        let (text, _) = read_back(&catalog, &[]);
        let joins = "
joins:
  - {from: employee.dept_no, to: department.dept_no} # a foreign key
  # {from: department.head_dept, to: department.dept_no}: left out, since it refers to its own table
  # {from: department.mngr_no, to: employee.emp_no}: left out, since another join is between these \
                     tables
  # A second table with the same `source` can have such a join.
";
        assert!(text.contains(joins), "{text}");
        assert!(text.contains("      department: {type: name}\n"), "{text}");
        assert!(text.contains("      employee: {expression: emp_name, type: name}\n"), "{text}");
    }

    #[test]
    fn a_number_has_the_unit_that_its_name_says() {
        let products = Table {
            name: "products".into(),
            columns: vec![
                column("id", "INTEGER"),
                column("price_cents", "INTEGER"),
                column("weight", "REAL"),
            ],
            primary_key: vec!["id".into()],
            ..Table::default()
        };
        let tables = vec![products];
        let catalog = Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables };
        let (text, _) = read_back(&catalog, &[]);
        let metrics = "
  average price: {measure: avg(products.price_cents), unit: cents}
  average weight: avg(products.weight)
";
        assert!(text.ends_with(metrics), "{text}");
    }

    fn days(column: &str, values: &[&str]) -> ColumnValues {
        ColumnValues {
            table: "orders".into(),
            column: column.into(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        }
    }

    #[test]
    fn a_text_is_a_time_if_its_values_are_iso_days() {
        let orders = Table {
            name: "orders".into(),
            columns: vec![
                column("id", "INTEGER"),
                column("placed_on", "TEXT"),
                column("shipped", "DATE"),
                column("paid", "TEXT"),
            ],
            primary_key: vec!["id".into()],
            ..Table::default()
        };
        let catalog =
            Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables: vec![orders] };
        for (values, is_time, is_declared, reason) in [
            (vec![], false, true, "its values were not read"),
            (vec![days("placed_on", &["2024-01-01"])], true, true, ""),
            (vec![days("placed_on", &["2024-01-01T09:00:00Z"])], true, true, ""),
            (vec![days("placed_on", &["31/12/2023", "2024-01-01"])], false, true, "not all of"),
            (vec![days("placed_on", &["2024-02-30"])], false, true, "not all of"),
            (vec![days("placed_on", &["1704067200"])], false, true, "not all of"),
            (vec![days("placed_on", &["2024-01-010"])], false, true, "not all of"),
            (vec![days("placed_on", &[])], false, true, "without a value"),
            (vec![days("shipped", &["31.12.2023"])], false, false, "not all of"),
            (vec![days("paid", &["2024-01-01"])], false, true, "paid: {type: time}"),
            (vec![days("paid", &["2024-01-01", "yes"])], false, true, "paid: {type: text"),
            (vec![days("paid", &[])], false, true, "paid:\n"),
        ] {
            let (text, _) = read_back(&catalog, &values);
            assert_eq!(text.contains("placed_on: {type: time}"), is_time, "{text}");
            assert_eq!(text.contains("shipped: {type: time}"), is_declared, "{text}");
            assert!(text.contains(reason), "{text}");
        }
        let probes = values_probes(&catalog);
        assert_eq!(
            probes[0].sql,
            "SELECT DISTINCT \"placed_on\" FROM \"orders\" WHERE \"placed_on\" IS NOT NULL \
             ORDER BY \"placed_on\" LIKE '____-__-__%', \"placed_on\" LIMIT 21"
        );
    }

    #[test]
    fn a_column_names_rows_by_the_name_of_its_table() {
        for (table, name, dimension) in [
            ("pets", "pet_name", "pet: {expression: pet_name, type: name}"),
            ("Categories", "CategoryName", "Category: {expression: CategoryName, type: name}"),
            ("owners", "full_name", "owner: {expression: full_name, type: name}"),
            ("products", "brand_name", "brand_name:\n"),
        ] {
            let table = Table {
                name: table.into(),
                columns: vec![column("id", "INTEGER"), column(name, "TEXT")],
                primary_key: vec!["id".into()],
                ..Table::default()
            };
            let catalog =
                Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables: vec![table] };
            let (text, _) = read_back(&catalog, &[]);
            assert!(text.contains(dimension), "{text}");
        }
    }

    #[test]
    fn names_of_tables_lose_what_they_share() {
        fn table(name: &str, columns: &[(&str, &str)]) -> Table {
            Table {
                name: name.into(),
                columns: columns.iter().map(|(name, sql_type)| column(name, sql_type)).collect(),
                primary_key: vec!["id".into()],
                ..Table::default()
            }
        }
        let id = ("id", "INTEGER");
        let people = [
            id,
            ("firstname", "TEXT"),
            ("last_name", "TEXT"),
            ("birthdate", "DATE"),
            ("hired", "DATE"),
            ("billingaddress", "TEXT"),
        ];
        let tables = vec![
            table("app_employee", &people),
            table("app_album", &[id, ("album_name", "TEXT"), ("employee_id", "INTEGER")]),
            table("app_genre", &[id]),
        ];
        let mut catalog = Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables };
        let (text, _) = read_back(&catalog, &[]);
        for line in [
            "  employee:\n    source: app_employee\n    key: id\n    time: hired # or birthdate: \
             review it\n    dimensions:\n      employee: {expression: \"firstname || ' ' || \
             last_name\", type: name}\n",
            "album: {expression: album_name, type: name}",
            "{from: album.employee_id, to: employee.id}",
            "number of genre: {measure: count(genre.*), synonyms: [genres]}",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("billingaddress"), "{text}");
        catalog.tables.push(table("genre", &[id]));
        let (text, _) = read_back(&catalog, &[]);
        assert!(text.contains("number of app genre: {measure: count(app_genre.*)"), "{text}");
    }

    #[test]
    fn a_key_that_cannot_be_written_names_no_rows() {
        let orders = Table {
            name: "orders".into(),
            columns: vec![column("x\n", "INTEGER"), column("name", "TEXT")],
            primary_key: vec!["x\n".into()],
            ..Table::default()
        };
        let catalog =
            Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables: vec![orders] };
        let (text, _) = read_back(&catalog, &[]);
        assert!(!text.contains("key:") && !text.contains("type: name"), "{text}");
    }

    fn any_table() -> impl Strategy<Value = Table> {
        let name = prop_oneof![
            proptest::sample::select(vec![
                "orders",
                "order",
                "Orders",
                "order items",
                "select",
                "a.b",
                "x\"y",
                "y\u{1b}",
                "time",
                "status",
                "statuses",
                "na:me",
                "- a",
                "#",
                "é",
            ])
            .prop_map(str::to_owned),
            "\\PC{1,12}",
        ];
        let column_name = prop_oneof![
            proptest::sample::select(vec![
                "id",
                "order_id",
                "orderId",
                "name",
                "Name",
                "names",
                "time",
                "order",
                "select",
                "total",
                "price",
                "order_date",
                "created at",
                "a\"b",
                "a.b",
                "x\n",
                "yes",
                "1",
            ])
            .prop_map(str::to_owned),
            "\\PC{1,12}",
        ];
        let types = proptest::sample::select(vec![
            "INTEGER",
            "TEXT",
            "DATE",
            "REAL",
            "BOOLEAN",
            "",
            "JSON",
            "VARCHAR(10)",
        ]);
        let columns = proptest::collection::vec((column_name, types), 1..8);
        let references = proptest::collection::vec((0..8_usize, 0..6_usize), 0..3);
        (name, columns, references, any::<bool>()).prop_map(|(name, columns, references, keyed)| {
            let columns: Vec<Column> =
                columns.iter().map(|(name, sql_type)| column(name, sql_type)).collect();
            let foreign_keys = references
                .into_iter()
                .filter_map(|(own, target)| {
                    Some(ForeignKey {
                        columns: vec![columns.get(own)?.name.clone()],
                        ref_table: ["orders", "order", "a.b", "select", "x\"y", "status"][target]
                            .to_owned(),
                        ref_columns: vec!["id".into()],
                    })
                })
                .collect();
            let primary_key = if keyed { vec![columns[0].name.clone()] } else { Vec::new() };
            Table { name, columns, primary_key, foreign_keys, ..Table::default() }
        })
    }

    proptest! {
        #[test]
        fn a_proposal_reads_back_whatever_the_catalog(
            tables in proptest::collection::vec(any_table(), 0..6),
            values in proptest::collection::vec("\\PC{0,8}", 0..4),
        ) {
            // A catalog names no table and no column twice.
            let mut tables = tables;
            let mut names = BTreeSet::new();
            tables.retain(|table| names.insert(table.name.to_lowercase()));
            for table in &mut tables {
                let mut names = BTreeSet::new();
                table.columns.retain(|column| names.insert(column.name.to_lowercase()));
            }
            let values: Vec<ColumnValues> = tables
                .iter()
                .flat_map(|table| table.columns.iter().map(|column| ColumnValues {
                    table: table.name.clone(),
                    column: column.name.clone(),
                    values: values.clone(),
                }))
                .collect();
            // A key may name a column that its table lacks, which is an error of the catalog.
            let existing: Vec<Table> = tables.clone();
            for table in &mut tables {
                table.foreign_keys.retain(|key| {
                    existing.iter().any(|other| {
                        other.name == key.ref_table && other.column("id").is_some()
                    })
                });
                let own = table.clone();
                table.foreign_keys.retain(|key| {
                    key.columns.iter().all(|name| own.column(name).is_some())
                });
                table.primary_key.retain(|name| own.column(name).is_some());
            }
            let catalog = Catalog { database: "d".into(), dialect: Dialect::Sqlite, tables };
            let (_, semantics) = read_back(&catalog, &values);
            prop_assert!(semantics.tables.len() <= catalog.tables.len());
        }
    }
}
