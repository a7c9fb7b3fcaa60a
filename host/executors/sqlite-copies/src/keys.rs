//! Keys and what refers to them: foreign keys that pointed to a row point to a row again.

use std::collections::{BTreeMap, HashSet};

use rand::RngExt;
use rand_pcg::Pcg64;
use rusqlite::types::Value;
use sha2::{Digest, Sha256};

use crate::literals::number_text;
use crate::source::{Reference, Sampled};

/// Bytes of a key's text; a longer one is replaced by its digest.
const LONG: usize = 200;

/// The tables' places in an order in which each comes after those that it refers to, as far as they
/// refer to each other without a circle.
pub(crate) fn parents_first(tables: &[Sampled]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < tables.len() {
        let left: Vec<usize> = (0..tables.len()).filter(|at| !order.contains(at)).collect();
        fn refers_to(tables: &[Sampled], at: usize, other: usize) -> bool {
            let name = tables[other].name.to_lowercase();
            at != other && tables[at].foreign_keys.iter().any(|key| key.table == name)
        }
        let free: Vec<usize> = left
            .iter()
            .copied()
            .filter(|at| !left.iter().any(|other| refers_to(tables, *at, *other)))
            .collect();
        // In a circle, the first breaks it.
        order.extend(if free.is_empty() { left[..1].to_vec() } else { free });
    }
    order
}

/// The cells of a key as text, equal where the engine's comparison by affinity finds them equal;
/// `None` if one is NULL. Long ones are digests.
pub(crate) fn key_text(row: &[Value], columns: &[usize]) -> Option<String> {
    let mut text = String::new();
    for column in columns {
        match row.get(*column)? {
            Value::Null => return None,
            Value::Integer(value) => text.push_str(&value.to_string()),
            Value::Real(value) => text.push_str(&number_text(*value)),
            Value::Text(value) => text.push_str(value),
            Value::Blob(bytes) => {
                bytes.iter().for_each(|byte| text.push_str(&format!("\\{byte:02x}")))
            }
        }
        text.push('\u{1f}');
    }
    Some(if text.len() > LONG { digest(&text) } else { text })
}

/// Stands for a long text. It is no other key's text, which ends with a separator.
fn digest(text: &str) -> String {
    syrch_core::text::hex(Sha256::digest(text))
}

/// The rows of a key.
#[derive(Default)]
struct Key {
    /// The keys that stood in the source.
    seen: HashSet<String>,
    /// The keys that stand in the variant, or will.
    cells: Vec<Vec<Value>>,
    present: HashSet<String>,
}

/// All keys that something refers to or may refer to, by table and columns, in lower case.
pub(crate) struct Keys(BTreeMap<(String, Vec<String>), Key>);

impl Keys {
    pub(crate) fn from_tables(tables: &[Sampled]) -> Self {
        let mut keys = Self(BTreeMap::new());
        for table in tables {
            for (columns, seen) in &table.seen {
                keys.0.insert(id(table, columns), Key { seen: seen.clone(), ..Key::default() });
            }
            keys.replace(table);
        }
        keys
    }

    /// Takes over the rows that a table has now.
    pub(crate) fn replace(&mut self, table: &Sampled) {
        for columns in table.seen.keys() {
            let key = self.0.entry(id(table, columns)).or_default();
            (key.cells, key.present) = (Vec::new(), HashSet::new());
            for row in &table.rows {
                if let Some(text) = key_text(row, columns)
                    && key.present.insert(text)
                {
                    key.cells.push(columns.iter().map(|column| row[*column].clone()).collect());
                }
            }
        }
    }

    /// Returns true if every cell of a column is a key of another table, declared or not.
    pub(crate) fn refers(&self, table: &Sampled, column: usize) -> bool {
        let name = table.name.to_lowercase();
        let texts: HashSet<String> =
            table.rows.iter().filter_map(|row| key_text(row, &[column])).collect();
        let mut others =
            self.0.iter().filter(|((other, columns), _)| *other != name && columns.len() == 1);
        !texts.is_empty() && others.any(|(_, key)| texts.is_subset(&key.seen))
    }

    /// Makes the foreign keys of a table point to rows where they did in the source; those to the
    /// table itself last, when its rows stand.
    pub(crate) fn repair(&mut self, table: &mut Sampled, random: &mut Pcg64) {
        let name = table.name.to_lowercase();
        let (own, others): (Vec<usize>, Vec<usize>) =
            (0..table.foreign_keys.len()).partition(|at| table.foreign_keys[*at].table == name);
        for at in others.into_iter().chain(own) {
            if table.foreign_keys[at].table == name {
                self.replace(table);
            }
            let Reference { columns, table: other, others } = &table.foreign_keys[at];
            let columns = columns.clone();
            let other = (other.clone(), others.clone());
            if let Some(key) = self.0.get(&other) {
                key.point(table, &columns, random);
            }
        }
    }
}

impl Key {
    /// Makes columns of a table point here. Where they are a key themselves, each row is pointed to
    /// once at most, and the rows for which none is left are dropped.
    fn point(&self, table: &mut Sampled, columns: &[usize], random: &mut Pcg64) {
        let is_own =
            |key: &Vec<usize>| !key.is_empty() && key.iter().all(|column| columns.contains(column));
        let is_unique = is_own(&table.primary_key) || table.unique.iter().any(is_own);
        let taken: HashSet<String> =
            table.rows.iter().filter_map(|row| key_text(row, columns)).collect();
        let places: Vec<usize> = (0..columns.len()).collect();
        let mut free: Vec<&Vec<Value>> = self
            .cells
            .iter()
            .filter(|cells: &&Vec<Value>| {
                !is_unique || key_text(cells, &places).is_some_and(|text| !taken.contains(&text))
            })
            .collect();
        let mut used: HashSet<String> = HashSet::new();
        table.rows.retain_mut(|row| {
            let Some(text) = key_text(row, columns) else { return true };
            let is_good = self.present.contains(&text) || !self.seen.contains(&text);
            if is_good && (!is_unique || used.insert(text)) {
                return true;
            }
            if free.is_empty() {
                return false;
            }
            let at = random.random_range(0..free.len());
            let cells = if is_unique { free.swap_remove(at) } else { free[at] };
            columns.iter().zip(cells).for_each(|(column, cell)| row[*column] = cell.clone());
            true
        });
    }
}

fn id(table: &Sampled, columns: &[usize]) -> (String, Vec<String>) {
    let names =
        columns.iter().filter_map(|at| table.columns.get(*at)).map(|name| name.to_lowercase());
    (table.name.to_lowercase(), names.collect())
}
