//! Values that are shared while they are in use, and dropped by their last user.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A reference to the value. Locked while the value is made.
type Cell<V> = Arc<tokio::sync::Mutex<Option<Weak<V>>>>;

/// Values by key, each of which lives as long as somebody else uses it.
pub(super) struct Living<K, V: ?Sized>(Mutex<Vec<(K, Cell<V>)>>);

impl<K, V: ?Sized> Default for Living<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, V: ?Sized> Living<K, V> {
    /// The value of that key: the one in use, or a new one. Callers that request it while it is
    /// made get the same one.
    pub(super) async fn get<E, F: Future<Output = Result<Arc<V>, E>>>(
        &self,
        key: K,
        make: impl FnOnce() -> F,
    ) -> Result<Arc<V>, E> {
        let cell = self.cell(key);
        let mut known = cell.lock().await;
        if let Some(living) = known.as_ref().and_then(Weak::upgrade) {
            return Ok(living);
        }
        let made = make().await?;
        *known = Some(Arc::downgrade(&made));
        Ok(made)
    }

    /// The cell of a key. Cells of dropped values are removed.
    fn cell(&self, key: K) -> Cell<V> {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cells.retain(|(_, cell)| Arc::strong_count(cell) > 1 || is_living(cell));
        if let Some((_, cell)) = cells.iter().find(|(known, _)| *known == key) {
            return Arc::clone(cell);
        }
        let cell = Cell::default();
        cells.push((key, Arc::clone(&cell)));
        cell
    }
}

fn is_living<V: ?Sized>(cell: &Cell<V>) -> bool {
    cell.try_lock()
        .map_or(true, |known| known.as_ref().is_some_and(|known| known.strong_count() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_in_use_is_shared_and_what_is_not_is_gone() {
        let living = Living::<u8, String>::default();
        let get = async |key: u8, text: &str| {
            living.get(key, || async { Ok::<_, ()>(Arc::new(text.to_owned())) }).await.unwrap()
        };
        let first = get(1, "first").await;
        let second = get(1, "second").await;
        let other = get(2, "other").await;
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!((first.as_str(), other.as_str()), ("first", "other"));
        drop((first, second));
        assert_eq!((get(1, "third").await.as_str(), living.0.lock().unwrap().len()), ("third", 2));
        drop(other);
        get(3, "more").await;
        assert_eq!(living.0.lock().unwrap().len(), 1);
    }

    #[tokio::test]
    async fn who_asks_while_it_is_made_waits_for_it_and_tries_when_that_fails() {
        let living = Living::<u8, u8>::default();
        let (one, same) = tokio::join!(
            living.get(1, || async {
                tokio::task::yield_now().await;
                Ok::<_, ()>(Arc::new(1))
            }),
            living.get(1, || async { Ok::<_, ()>(Arc::new(2)) })
        );
        assert_eq!((one, same), (Ok(Arc::new(1)), Ok(Arc::new(1))));
        let (none, some) = tokio::join!(
            living.get(2, || async {
                tokio::task::yield_now().await;
                Err("no")
            }),
            living.get(2, || async { Ok::<_, &str>(Arc::new(2)) })
        );
        assert_eq!((none, some), (Err("no"), Ok(Arc::new(2))));
    }
}
