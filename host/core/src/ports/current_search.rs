//! The search on whose behalf a future is polled. An executor that several searches share serves
//! those first that have used the least, and the arguments of a port do not name the search.

use std::cell::Cell;
use std::pin::pin;

thread_local! {
    static SEARCH: Cell<u64> = const { Cell::new(NO_SEARCH) };
}

/// The number of work that belongs to no search.
pub const NO_SEARCH: u64 = 0;

/// Polls `work` as work of the search of that number: [`current_search`] returns it meanwhile, but
/// not in tasks that the work spawns.
pub async fn in_search<T>(search: u64, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        let before = SEARCH.replace(search);
        let polled = work.as_mut().poll(context);
        SEARCH.set(before);
        polled
    })
    .await
}

/// The number of the search on whose behalf this runs, or [`NO_SEARCH`].
#[must_use]
pub fn current_search() -> u64 {
    SEARCH.get()
}
