//! The notices that the server sends beside its answers. None is retained, except while a bench
//! waits for the analysis of a statement.

use std::sync::{Mutex, PoisonError};

use tokio_postgres::error::DbError;

/// The beginning of an analysed statement.
const TREE: &str = "{QUERY ";

/// The first analysed statement that arrives after [`Notices::expect`].
#[derive(Default)]
pub(crate) struct Notices(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Ignored,
    Expected,
    Arrived(String),
}

impl Notices {
    /// Retains the next analysed statement.
    pub(crate) fn expect(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State::Expected;
    }

    /// The analysed statement, if one arrived; none is retained from then on.
    pub(crate) fn take(&self) -> Option<String> {
        match std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)) {
            State::Arrived(tree) => Some(tree),
            State::Ignored | State::Expected => None,
        }
    }

    /// Called for each notice of the server, in the order in which they arrive.
    pub(crate) fn note(&self, notice: &DbError) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tree = notice.detail().filter(|detail| detail.trim_start().starts_with(TREE));
        if let (State::Expected, Some(tree)) = (&*state, tree) {
            *state = State::Arrived(tree.to_owned());
        }
    }
}
