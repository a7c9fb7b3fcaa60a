//! Facts that were read of columns some minutes ago, so that a question does not read them again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use syrch_core::Table;
use syrch_core::ports::PortError;

/// The columns that are remembered at most.
const MOST: usize = 1_024;

/// A column: its table's schema and name, its own name, and how many of its values are wanted.
type Column = (Option<String>, String, String, u32);

/// Facts about columns, each for some minutes.
pub(crate) struct Recent<T> {
    lifetime: Duration,
    read: Mutex<HashMap<Column, (Instant, T)>>,
}

impl<T: Clone> Recent<T> {
    /// Makes an empty one, whose facts are used for so long.
    pub(crate) fn new(lifetime: Duration) -> Self {
        Self { lifetime, read: Mutex::default() }
    }

    /// The facts of these columns, in their order. `read` reads those that are not known, and
    /// returns one for each of the columns that it gets.
    ///
    /// # Errors
    /// Those of `read`, of which nothing is remembered.
    pub(crate) async fn get(
        &self,
        table: &Table,
        columns: &[String],
        limit: u32,
        read: impl AsyncFnOnce(Vec<String>) -> Result<Vec<T>, PortError>,
    ) -> Result<Vec<T>, PortError> {
        let keys: Vec<Column> = columns
            .iter()
            .map(|column| (table.schema_name.clone(), table.name.clone(), column.clone(), limit))
            .collect();
        let known: Vec<Option<T>> = keys.iter().map(|key| self.find(key)).collect();
        let missing: Vec<String> = columns
            .iter()
            .zip(&known)
            .filter(|(_, fact)| fact.is_none())
            .map(|(column, _)| column.clone())
            .collect();
        let made = if missing.is_empty() { Vec::new() } else { read(missing).await? };
        let mut made = made.into_iter();
        let mut facts = Vec::with_capacity(columns.len());
        for (key, fact) in keys.into_iter().zip(known) {
            let fact = match fact {
                Some(fact) => fact,
                None => {
                    let Some(fact) = made.next() else { break };
                    self.put(key, fact.clone());
                    fact
                }
            };
            facts.push(fact);
        }
        Ok(facts)
    }

    fn find(&self, key: &Column) -> Option<T> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, fact) = read.get(key)?;
        (at.elapsed() < self.lifetime).then(|| fact.clone())
    }

    fn put(&self, key: Column, fact: T) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.len() >= MOST {
            read.retain(|_, (at, _)| at.elapsed() < self.lifetime);
        }
        if read.len() < MOST {
            read.insert(key, (Instant::now(), fact));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[tokio::test]
    async fn a_column_is_read_once_in_a_while() {
        let recent = Recent::new(Duration::from_secs(60));
        let old = Recent::new(Duration::ZERO);
        let table = Table { name: "t".to_owned(), ..Table::default() };
        let asked = RefCell::new(Vec::new());
        for (facts, columns, limit) in [
            (&recent, names(&["a"]), 1),
            (&recent, names(&["b", "a", "c"]), 1),
            (&recent, names(&["a"]), 2),
            (&old, names(&["a"]), 1),
            (&old, names(&["a"]), 1),
        ] {
            let found = facts
                .get(&table, &columns, limit, async |missing: Vec<String>| {
                    asked.borrow_mut().push(missing.concat());
                    Ok(missing)
                })
                .await;
            assert_eq!(found, Ok(columns));
        }
        assert_eq!(asked.into_inner(), ["a", "bc", "a", "a", "a"]);
        let columns = names(&["d"]);
        let failed = recent.get(&table, &columns, 1, async |_| Err(PortError::Unsupported));
        assert_eq!(failed.await, Err(PortError::Unsupported));
        assert_eq!(recent.find(&(None, "t".to_owned(), "d".to_owned(), 1)), None);
    }
}
