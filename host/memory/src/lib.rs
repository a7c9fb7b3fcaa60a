//! A cache in memory of values that are expensive to make: hosts, databases, expected answers,
//! compiled schemas.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

type Cell<V> = Arc<OnceCell<Arc<V>>>;

/// The approximate size of a key with its value in bytes.
type Weigh<K, V> = fn(&K, &V) -> usize;

/// The most recently used values by key. An evicted value is dropped by its last user.
pub struct MemoryCache<K, V> {
    most: usize,
    /// The limit on the size of all values together, in bytes, and the function that counts them.
    bytes: Option<(usize, Weigh<K, V>)>,
    /// The latest used last.
    cells: Mutex<Vec<(K, Cell<V>)>>,
}

impl<K: PartialEq + Clone, V> MemoryCache<K, V> {
    /// A cache of at most `most` values.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), bytes: None, cells: Mutex::default() }
    }

    /// A cache of at most `most` values that take at most `bytes` together. A value larger than
    /// `bytes` is not cached.
    #[must_use]
    pub fn within(most: usize, bytes: usize, weigh: Weigh<K, V>) -> Self {
        Self { bytes: Some((bytes, weigh)), ..Self::new(most) }
    }

    /// The value of that key. It is made once, however many callers request it at once; when that
    /// fails, the next caller tries again.
    ///
    /// # Errors
    /// That of making it.
    pub async fn get<E, F: Future<Output = Result<V, E>>>(
        &self,
        key: &K,
        make: impl FnOnce() -> F,
    ) -> Result<Arc<V>, E> {
        let cell = self.cell(key);
        let is_new = !cell.initialized();
        let made = cell.get_or_try_init(|| async { make().await.map(Arc::new) }).await?;
        if is_new {
            self.lighten();
        }
        Ok(Arc::clone(made))
    }

    /// The value of the key for which this holds, if it is cached.
    pub fn get_cached(&self, is_key: impl Fn(&K) -> bool) -> Option<Arc<V>> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let at = cells.iter().position(|(known, _)| is_key(known))?;
        let value = cells[at].1.get().map(Arc::clone)?;
        cells[at..].rotate_left(1);
        Some(value)
    }

    /// [`MemoryCache::get`] for a value that is made without waiting. Of two callers that make it
    /// at once, both get the one that is cached.
    ///
    /// # Errors
    /// That of making it.
    pub fn get_or_make<E>(
        &self,
        key: &K,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<Arc<V>, E> {
        if let Some(cached) = self.get_cached(|known| known == key) {
            return Ok(cached);
        }
        let made = Arc::new(make()?);
        let cell = self.cell(key);
        drop(cell.set(Arc::clone(&made)));
        self.lighten();
        Ok(cell.get().map_or(made, Arc::clone))
    }

    /// Evicts the least recently used values until the others fit into the bytes.
    fn lighten(&self) {
        let Some((most, weigh)) = self.bytes else { return };
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held = 0_usize;
        let mut fits = |(key, cell): &(K, Cell<V>)| {
            // A value that is still being made is weighed when it is complete.
            let Some(bytes) = cell.get().map(|thing| weigh(key, thing)) else { return true };
            if bytes > most {
                return false;
            }
            held = held.saturating_add(bytes);
            held <= most
        };
        let mut left: Vec<_> = cells.drain(..).rev().filter(|entry| fits(entry)).collect();
        left.reverse();
        *cells = left;
    }

    fn cell(&self, key: &K) -> Cell<V> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cells.iter().position(|(known, _)| known == key).map(|at| cells.remove(at));
        let (key, cell) = known.unwrap_or_else(|| (key.clone(), Cell::default()));
        cells.push((key, Arc::clone(&cell)));
        if cells.len() > self.most {
            cells.remove(0);
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn the_latest_used_are_kept_and_made_once() {
        let cache = MemoryCache::new(2);
        let made = AtomicU32::new(0);
        let get = async |key: &str| {
            cache
                .get(&key.to_owned(), || async {
                    made.fetch_add(1, Ordering::Relaxed);
                    Ok::<_, ()>(key.to_owned())
                })
                .await
                .unwrap()
        };
        for key in ["a", "b", "a", "c", "a"] {
            assert_eq!(*get(key).await, key);
        }
        assert_eq!(made.load(Ordering::Relaxed), 3);
        get("b").await;
        assert_eq!(made.load(Ordering::Relaxed), 4);
    }

    #[tokio::test]
    async fn no_more_is_kept_than_there_are_bytes_for() {
        let cache = MemoryCache::within(100, 10, |_, bytes: &Vec<u8>| bytes.len());
        let made = AtomicU32::new(0);
        let get = async |bytes: usize| {
            assert_eq!(
                cache
                    .get(&bytes, || async {
                        made.fetch_add(1, Ordering::Relaxed);
                        Ok::<_, ()>(vec![0_u8; bytes])
                    })
                    .await
                    .unwrap()
                    .len(),
                bytes
            );
            made.load(Ordering::Relaxed)
        };
        for (bytes, expected) in [(4, 1), (6, 2), (4, 2), (6, 2)] {
            assert_eq!(get(bytes).await, expected, "{bytes}");
        }
        // The one that was not used for longest goes.
        assert_eq!((get(3).await, get(6).await, get(4).await), (3, 3, 4));
        // What is too large goes at once, and drives nothing out.
        assert_eq!((get(11).await, get(11).await), (5, 6));
        assert_eq!((get(6).await, get(4).await), (6, 6));
    }

    #[test]
    fn a_key_without_a_value_takes_no_place() {
        let cache = MemoryCache::<u8, u8>::new(1);
        assert_eq!(cache.get_or_make(&1, || Ok::<_, ()>(7)), Ok(Arc::new(7)));
        assert_eq!(cache.get_or_make(&2, || Err("no")), Err("no"));
        assert_eq!(
            (cache.get_cached(|key| *key == 1), cache.get_cached(|key| *key == 2)),
            (Some(Arc::new(7)), None)
        );
    }

    #[tokio::test]
    async fn what_failed_is_tried_again() {
        let cache = MemoryCache::<u8, u8>::new(1);
        assert_eq!(cache.get(&1, || async { Err("no") }).await, Err("no"));
        assert_eq!(cache.get(&1, || async { Ok::<_, &str>(7) }).await, Ok(Arc::new(7)));
    }
}
