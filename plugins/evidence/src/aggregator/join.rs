//! Joining finished tasks by the join keys that the planner left, in one statement over their
//! relation names.

use std::fmt::Write as _;

use syrch_plugin::names::quote_if_odd;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::{JoinHow, JoinKey};
use syrch_plugin::text::line;

/// A join that ran.
pub(crate) struct Joined {
    pub(crate) sql: String,
    pub(crate) results: ResultSet,
    /// The joined tasks, with the columns by which they join.
    pub(crate) reported: String,
    /// Tasks that no key connects with the others.
    pub(crate) left_out: Vec<String>,
}

/// Writes the join and runs it once; the error is the reason why there is none.
pub(crate) fn join(
    host: &impl AggregatorHost,
    rivals: &[&Finished],
    keys: &[JoinKey],
) -> Result<Joined, String> {
    let sides: Vec<Side<'_>> =
        rivals.iter().map(|done| Side::new(done)).filter(|side| side.rows > 0).collect();
    let usable: Vec<JoinKey> = keys.iter().filter(|key| is_usable(key, &sides)).cloned().collect();
    let mut writer = Writer::start(sides.first().ok_or("all of them are empty")?);
    while writer.grow(&sides, &usable) {}
    if writer.joined.len() < 2 {
        return Err("no join key fits their columns".to_owned());
    }
    let sql = writer.sql();
    let results = host.run(&sql).map_err(|error| line(&error.message, 300))?;
    if results.profile().rows == 0 {
        return Err("they have no row in common".to_owned());
    }
    let left_out =
        rivals.iter().map(|done| done.task.id.clone()).filter(|id| !writer.has(id)).collect();
    Ok(Joined { sql, results, reported: writer.reported, left_out })
}

/// A finished task as one side of a join.
struct Side<'a> {
    id: &'a str,
    relation: &'a str,
    rows: u64,
    /// Names that can be referred to: a name that occurs twice in one result cannot.
    columns: Vec<String>,
}

impl<'a> Side<'a> {
    fn new(done: &'a Finished) -> Self {
        let profile = done.results.profile();
        let names: Vec<String> =
            profile.columns.into_iter().map(|column| column.column.name).collect();
        let occurs =
            |name: &String| names.iter().filter(|other| other.eq_ignore_ascii_case(name)).count();
        let columns = names.iter().filter(|name| occurs(name) == 1).cloned().collect();
        Self { id: &done.task.id, relation: &done.name, rows: profile.rows, columns }
    }

    /// The column of that name as the result spells it.
    fn column(&self, name: &str) -> Option<&str> {
        self.columns.iter().map(String::as_str).find(|column| column.eq_ignore_ascii_case(name))
    }
}

fn is_usable(key: &JoinKey, sides: &[Side<'_>]) -> bool {
    let has = |id: &str, column: &str| {
        sides.iter().any(|side| side.id == id && side.column(column).is_some())
    };
    key.left != key.right && has(&key.left, &key.left_col) && has(&key.right, &key.right_col)
}

/// One column of the joined result.
struct Output {
    expression: String,
    name: String,
    is_renamed: bool,
}

/// The statement under construction, breadth first from the first side.
struct Writer {
    /// (task, alias), in the order of joining.
    joined: Vec<(String, String)>,
    from: String,
    outputs: Vec<Output>,
    reported: String,
}

impl Writer {
    fn start(first: &Side<'_>) -> Self {
        let mut writer = Self {
            joined: Vec::new(),
            from: String::new(),
            outputs: Vec::new(),
            reported: first.id.to_owned(),
        };
        let alias = writer.enter(first);
        writer.from = format!("{} AS {alias}", quote_name(first.relation));
        first.columns.iter().for_each(|column| writer.add(&alias, column));
        writer
    }

    fn has(&self, id: &str) -> bool {
        self.joined.iter().any(|(task, _)| task == id)
    }

    fn alias(&self, id: &str) -> Option<&str> {
        self.joined.iter().find(|(task, _)| task == id).map(|(_, alias)| alias.as_str())
    }

    fn enter(&mut self, side: &Side<'_>) -> String {
        let alias = format!("j{}", self.joined.len() + 1);
        self.joined.push((side.id.to_owned(), alias.clone()));
        alias
    }

    /// Joins one more side that a key connects with those already there, the earliest first; false
    /// when there is none.
    fn grow(&mut self, sides: &[Side<'_>], keys: &[JoinKey]) -> bool {
        let here: Vec<String> = self.joined.iter().map(|(task, _)| task.clone()).collect();
        for old in &here {
            let new = keys.iter().find_map(|key| match (key.left == *old, key.right == *old) {
                (true, _) if !self.has(&key.right) => Some(&key.right),
                (_, true) if !self.has(&key.left) => Some(&key.left),
                _ => None,
            });
            let Some(side) = new.and_then(|id| sides.iter().find(|side| side.id == id.as_str()))
            else {
                continue;
            };
            self.attach(sides, side, &pairs(keys, old, side.id));
            return true;
        }
        false
    }

    /// All keys between two tasks make one condition; the first says which rows stay.
    fn attach(&mut self, sides: &[Side<'_>], side: &Side<'_>, pairs: &[JoinKey]) {
        let Some(how) = pairs.first().map(|pair| pair.how) else { return };
        let alias = self.enter(side);
        let mut conditions: Vec<String> = Vec::new();
        let mut merged: Vec<String> = Vec::new();
        for pair in pairs {
            let old_side = sides.iter().find(|side| side.id == pair.left);
            let (Some(old), Some(old_column), Some(column)) = (
                self.alias(&pair.left),
                old_side.and_then(|side| side.column(&pair.left_col)),
                side.column(&pair.right_col),
            ) else {
                continue;
            };
            let left = format!("{old}.{}", quote_name(old_column));
            let right = format!("{alias}.{}", quote_name(column));
            conditions.push(format!("{left} = {right}"));
            let _ = write!(
                self.reported,
                ", {} ({} by {} = {})",
                side.id,
                how.name(),
                line(&pair.left_col, 80),
                line(&pair.right_col, 80)
            );
            if old_column.eq_ignore_ascii_case(column) && self.merge(&left, &right, how) {
                merged.push(column.to_owned());
            }
        }
        let _ = write!(
            self.from,
            " {} {} AS {alias} ON {}",
            keyword(how),
            quote_name(side.relation),
            conditions.join(" AND ")
        );
        for column in side.columns.iter().filter(|column| !merged.contains(column)) {
            self.add(&alias, column);
        }
    }

    /// A key of one name on both sides is one column of the result, as in a merge of data frames.
    fn merge(&mut self, left: &str, right: &str, how: JoinHow) -> bool {
        let Some(output) = self.outputs.iter_mut().find(|output| output.expression == left) else {
            return false;
        };
        if matches!(how, JoinHow::Right | JoinHow::Outer) {
            output.expression = format!("COALESCE({left}, {right})");
            output.is_renamed = true;
        }
        true
    }

    fn add(&mut self, alias: &str, column: &str) {
        let is_free =
            |name: &str| !self.outputs.iter().any(|output| output.name.eq_ignore_ascii_case(name));
        let numbered = (2..).map(|number| format!("{column}_{number}"));
        let name = std::iter::once(column.to_owned())
            .chain(numbered)
            .find(|name| is_free(name))
            .unwrap_or_default();
        let is_renamed = name != column;
        self.outputs.push(Output {
            expression: format!("{alias}.{}", quote_name(column)),
            name,
            is_renamed,
        });
    }

    fn sql(&self) -> String {
        let outputs: Vec<String> = self
            .outputs
            .iter()
            .map(|output: &Output| match output.is_renamed {
                true => format!("{} AS {}", output.expression, quote_name(&output.name)),
                false => output.expression.clone(),
            })
            .collect();
        format!("SELECT {} FROM {}", outputs.join(", "), self.from)
    }
}

/// The keys between two tasks, turned so that `old` is on the left.
fn pairs(keys: &[JoinKey], old: &str, new: &str) -> Vec<JoinKey> {
    let mut pairs: Vec<JoinKey> = Vec::new();
    for pair in keys.iter().filter_map(|key: &JoinKey| {
        if key.left == old && key.right == new {
            Some(key.clone())
        } else if key.right == old && key.left == new {
            Some(JoinKey {
                left: key.right.clone(),
                left_col: key.right_col.clone(),
                right: key.left.clone(),
                right_col: key.left_col.clone(),
                how: key.how.mirror(),
            })
        } else {
            None
        }
    }) {
        if pairs.iter().all(|known: &JoinKey| {
            known.left_col != pair.left_col || known.right_col != pair.right_col
        }) {
            pairs.push(pair);
        }
    }
    pairs
}

fn keyword(how: JoinHow) -> &'static str {
    match how {
        JoinHow::Inner => "JOIN",
        JoinHow::Left => "LEFT JOIN",
        JoinHow::Right => "RIGHT JOIN",
        JoinHow::Outer => "FULL JOIN",
    }
}

// An aggregator does not see the catalog and so not its syntax: standard quotes, wherever a dialect
// that folds names would need them.
fn quote_name(name: &str) -> String {
    quote_if_odd(&Syntax { folds_names: true, ..Syntax::default() }, name)
}
