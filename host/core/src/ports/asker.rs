//! Who asks: an executor that many searches share serves those first that ask for little, and a port's arguments do not say whose they are.

use std::cell::Cell;
use std::pin::pin;

thread_local! {
    static ASKER: Cell<u64> = const { Cell::new(NOBODY) };
}

/// Calls of no search.
pub const NOBODY: u64 = 0;

/// Does work on behalf of a search; [`asker`] gives its number meanwhile, except in what the work spawns.
pub async fn on_behalf_of<T>(search: u64, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        let before = ASKER.replace(search);
        let polled = work.as_mut().poll(context);
        ASKER.set(before);
        polled
    })
    .await
}

/// The number of the search on whose behalf this runs.
#[must_use]
pub fn asker() -> u64 {
    ASKER.get()
}
