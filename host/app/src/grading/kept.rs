//! The latest few of things that are dear to make: hosts, databases, expected answers.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

type Cell<V> = Arc<OnceCell<Arc<V>>>;

/// Things by key, the latest used ones. Whoever still uses one that is not kept any more goes on with it.
pub(crate) struct Kept<K, V> {
    most: usize,
    /// The latest used last.
    cells: Mutex<Vec<(K, Cell<V>)>>,
}

impl<K: PartialEq + Clone, V> Kept<K, V> {
    /// Keeps so many.
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(1), cells: Mutex::default() }
    }

    /// The thing with that key. It is made once, however many ask for it at once; when that fails, the next one tries again.
    pub(crate) async fn get<E, F: Future<Output = Result<V, E>>>(
        &self,
        key: &K,
        make: impl FnOnce() -> F,
    ) -> Result<Arc<V>, E> {
        let cell = self.cell(key);
        let made = cell.get_or_try_init(|| async { make().await.map(Arc::new) }).await?;
        Ok(Arc::clone(made))
    }

    fn cell(&self, key: &K) -> Cell<V> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        let known = cells.iter().position(|(known, _)| known == key).map(|at| cells.remove(at).1);
        let cell = known.unwrap_or_default();
        cells.push((key.clone(), Arc::clone(&cell)));
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
        let (kept, made) = (Kept::new(2), AtomicU32::new(0));
        let get = async |key: &str| {
            let make = || async {
                made.fetch_add(1, Ordering::Relaxed);
                Ok::<_, ()>(key.to_owned())
            };
            kept.get(&key.to_owned(), make).await.unwrap()
        };
        for key in ["a", "b", "a", "c", "a"] {
            assert_eq!(*get(key).await, key);
        }
        assert_eq!(made.load(Ordering::Relaxed), 3);
        get("b").await;
        assert_eq!(made.load(Ordering::Relaxed), 4);
    }

    #[tokio::test]
    async fn what_failed_is_tried_again() {
        let kept = Kept::<u8, u8>::new(1);
        assert_eq!(kept.get(&1, || async { Err("no") }).await, Err("no"));
        assert_eq!(kept.get(&1, || async { Ok::<_, &str>(7) }).await, Ok(Arc::new(7)));
    }
}
