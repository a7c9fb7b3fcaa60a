//! The samples that were read of one state of the file, so that the next search does not read them
//! again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use syrch_core::Value;
use syrch_core::ports::Sample;

/// Bytes of all samples of one state. What has no place is read anew each time.
const MOST: usize = 8 << 20;

/// The samples of one state. They are dropped with its snapshot.
#[derive(Default)]
pub(crate) struct CachedSamples(Mutex<Cached>);

#[derive(Default)]
struct Cached {
    /// By table and column, with the most frequent values that were asked for.
    samples: HashMap<(String, String), (u32, Sample)>,
    bytes: usize,
}

impl CachedSamples {
    fn lock(&self) -> MutexGuard<'_, Cached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the sample of a column with at most `limit` frequent values, if as many were asked
    /// for before.
    pub(crate) fn find(&self, table: &str, column: &str, limit: u32) -> Option<Sample> {
        let cached = self.lock();
        let (asked, sample) = cached.samples.get(&(table.to_owned(), column.to_owned()))?;
        (*asked >= limit).then(|| {
            let mut sample = sample.clone();
            sample.frequent.truncate(limit as usize);
            sample
        })
    }

    /// Returns the samples of all these columns, or `None` if one of them is not there.
    pub(crate) fn find_all(
        &self,
        table: &str,
        columns: &[String],
        limit: u32,
    ) -> Option<Vec<Sample>> {
        columns.iter().map(|column| self.find(table, column, limit)).collect()
    }

    /// Stores a sample that was read for `limit` frequent values, if there is place for it.
    pub(crate) fn put(&self, table: &str, limit: u32, sample: &Sample) {
        let mut cached = self.lock();
        let key = (table.to_owned(), sample.column.clone());
        let former = cached.samples.get(&key).map_or(0, |(_, former)| size(table, former));
        let bytes = cached.bytes - former + size(table, sample);
        if bytes <= MOST {
            cached.bytes = bytes;
            cached.samples.insert(key, (limit, sample.clone()));
        }
    }
}

/// The bytes that a sample takes, about.
fn size(table: &str, sample: &Sample) -> usize {
    let frequent = sample.frequent.iter().map(|(value, _)| value_size(value) + 8).sum::<usize>();
    let ends = value_size(&sample.least) + value_size(&sample.greatest);
    2 * sample.column.len() + table.len() + ends + frequent
}

fn value_size(value: &Value) -> usize {
    let content = match value {
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    };
    size_of::<Value>() + content
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(column: &str, texts: &[&str]) -> Sample {
        let frequent = texts.iter().map(|text| (Value::Text((*text).to_owned()), 1)).collect();
        let column = column.to_owned();
        Sample { column, least: Value::Null, greatest: Value::Null, frequent }
    }

    #[test]
    fn fewer_values_are_the_first_of_more() {
        let cached = CachedSamples::default();
        cached.put("t", 2, &sample("a", &["x", "y"]));
        assert_eq!(cached.find("t", "a", 1), Some(sample("a", &["x"])));
        assert_eq!(cached.find("t", "a", 2), Some(sample("a", &["x", "y"])));
        assert_eq!(cached.find("t", "a", 3), None);
        assert_eq!(cached.find("u", "a", 1), None);
        let both = ["a".to_owned(), "b".to_owned()];
        assert_eq!(cached.find_all("t", &both, 1), None);
        cached.put("t", 1, &sample("b", &["z"]));
        assert_eq!(cached.find_all("t", &both, 1).map(|samples| samples.len()), Some(2));
    }

    #[test]
    fn what_has_no_place_is_not_stored() {
        let cached = CachedSamples::default();
        let long = "x".repeat(MOST / 2);
        cached.put("t", 1, &sample("a", &[&long]));
        cached.put("t", 1, &sample("a", &[&long]));
        cached.put("t", 1, &sample("b", &[&long]));
        assert!(cached.find("t", "a", 1).is_some() && cached.find("t", "b", 1).is_none());
        cached.put("t", 2, &sample("a", &["short"]));
        cached.put("t", 1, &sample("b", &[&long]));
        assert!(cached.find("t", "b", 1).is_some());
    }
}
