//! The decision which plugins may still call a model after the search has asked the database:
//! `--rows none|aggregates`, beyond cells.
//!
//! A plugin that is granted to send no cells is held to the same rule, whatever it reads.
//!
//! Without a single cell, row counts, profiles, errors and statistics still carry bits of the data,
//! and a plugin that asks often enough can read any cell by them. So under these two settings an
//! untrusted plugin makes no model call after any such plugin may have learned something of the
//! data. The state changes at sequence points of the event log, so a resumed run decides as the
//! killed one did.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use syrch_core::ports::{LlmError, PortError, RowsGrant};
use syrch_core::roles::Role;
use syrch_core::{RetrievalQuery, Retriever};
use syrch_journal::Ask;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The state of one search, which all its role calls share, also after the user has answered a
/// question.
#[derive(Debug)]
pub struct Taint {
    untrusted: BTreeSet<Role>,
    /// The cells that the plugins of the search may read.
    rows: RowsGrant,
    /// Permits for model calls of untrusted plugins.
    permits: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// True if any caller has asked the database for anything that depends on its rows.
    asked: bool,
    /// True if an untrusted plugin may know something of an answer.
    seen: bool,
    /// The roles whose model calls were denied.
    denied: BTreeSet<Role>,
}

impl Taint {
    /// Creates the state of a search in which plugins read cells as far as `rows` grants them, and
    /// those of these roles are untrusted, and may together have `in_flight` model calls in flight.
    #[must_use]
    pub fn new(
        untrusted: impl IntoIterator<Item = Role>,
        rows: RowsGrant,
        in_flight: usize,
    ) -> Arc<Self> {
        let permits = Arc::new(Semaphore::new(in_flight.clamp(1, Semaphore::MAX_PERMITS)));
        Arc::new(Self {
            untrusted: untrusted.into_iter().collect(),
            rows,
            permits,
            state: Mutex::default(),
        })
    }

    /// The state as one call sees it. `roles` are those that can influence the call: a plugin's own
    /// role, or for a task that retrieves, the roles that may have written its text.
    #[must_use]
    pub fn for_call(self: &Arc<Self>, roles: &[Role]) -> TaintOfCall {
        let untrusted = roles.iter().find(|role| self.untrusted.contains(role)).copied();
        TaintOfCall { taint: Arc::clone(self), untrusted, has_returned: Arc::default() }
    }

    /// Called when the host itself has asked the database for something whose answer the role calls
    /// that follow get.
    pub fn note_asked(&self) {
        self.state(|state| state.asked = true);
    }

    /// The roles whose model calls were denied so far.
    #[must_use]
    pub fn list_denied_roles(&self) -> BTreeSet<Role> {
        self.state(|state| state.denied.clone())
    }

    fn state<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The state as one role call sees and changes it.
#[derive(Debug, Clone)]
pub struct TaintOfCall {
    taint: Arc<Taint>,
    /// The role whose plugin is untrusted, if there is one.
    untrusted: Option<Role>,
    /// True if the plugin has returned. From then on the host itself makes the calls of this role
    /// call.
    has_returned: Arc<AtomicBool>,
}

impl TaintOfCall {
    /// Called when the role call starts, and when it reads what other calls change (what is left of
    /// the budgets). Once the database was asked, the arguments of any role may carry some of the
    /// answer: observations, candidates, signals, tasks that a planner changed, hints, the user's
    /// answer to a question that was made of results.
    pub fn mark_seen_if_asked(&self) {
        self.taint.state(|state| state.seen |= state.asked && self.untrusted.is_some());
    }

    /// Called when the plugin has returned.
    pub(crate) fn note_return(&self) {
        self.has_returned.store(true, Ordering::SeqCst);
    }

    /// Called when the role call makes this port call.
    pub(crate) fn admit(&self, ask: &Ask) -> Admission {
        self.taint.state(|state| match kind(ask, self.taint.rows) {
            Kind::Other => Admission::Free,
            Kind::Data => {
                // The request counts, not the answer, since the time that an answer takes carries
                // information too.
                state.asked = true;
                state.seen |= self.untrusted.is_some() && !self.has_returned.load(Ordering::SeqCst);
                Admission::Free
            }
            Kind::Model => match self.untrusted {
                None => Admission::Free,
                Some(role) if state.seen => {
                    state.denied.insert(role);
                    Admission::Denied
                }
                Some(_) => match Arc::clone(&self.taint.permits).try_acquire_owned() {
                    Ok(permit) => Admission::Permitted(permit),
                    Err(_) => Admission::Waits,
                },
            },
        })
    }

    /// Waits until the call may proceed; `None` when it is denied. A call that had to wait is
    /// denied if an untrusted plugin may know something of the data meanwhile: among many calls
    /// that wait, a plugin could choose by cancelling the others.
    pub(crate) async fn wait_for_admission(&self, admission: Admission) -> Option<Admission> {
        match admission {
            Admission::Denied => None,
            Admission::Free | Admission::Permitted(_) => Some(admission),
            Admission::Waits => {
                let permit = Arc::clone(&self.taint.permits).acquire_owned().await.ok()?;
                self.taint.state(|state| match self.untrusted.filter(|_| state.seen) {
                    Some(role) => {
                        state.denied.insert(role);
                        None
                    }
                    None => Some(Admission::Permitted(permit)),
                })
            }
        }
    }
}

/// The decision on a port call.
#[derive(Debug)]
pub(crate) enum Admission {
    /// The call is not restricted.
    Free,
    /// The model call holds one of the permits until it ends.
    Permitted(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit),
    /// The model call waits for a permit.
    Waits,
    /// The model call is denied.
    Denied,
}

/// The relation of a port call to the data and to models.
enum Kind {
    /// The answer depends on rows of the database.
    Data,
    /// The call sends text to a model.
    Model,
    /// The call does neither.
    Other,
}

fn kind(ask: &Ask, rows: RowsGrant) -> Kind {
    match ask {
        // Denied where no cells are shown: then the answer says nothing.
        Ask::Find(..) if rows.shows_cells() => Kind::Data,
        Ask::Llm(_) | Ask::Embed(_) => Kind::Model,
        Ask::Retrieval(queries) if queries.iter().any(is_embedded) => Kind::Model,
        Ask::Sql(_) | Ask::Explain(_) | Ask::Stats(..) | Ask::Samples(..) | Ask::Reward(_) => {
            Kind::Data
        }
        // Names, notes and examples are no rows, and a statement is checked against the catalog
        // alone. Rows are read of a result, which was asked for or handed in before. A calibrator
        // gets nothing but its arguments.
        Ask::Retrieval(_) | Ask::Check(_) | Ask::Rows(..) | Ask::Calibrate(_) | Ask::Find(..) => {
            Kind::Other
        }
        // A request is compiled from the semantics files alone.
        Ask::CompileMetric(_) => Kind::Other,
        Ask::Remaining | Ask::Wait(_) | Ask::GiveUp(_) => Kind::Other,
        Ask::Note(..) | Ask::Propose(_) | Ask::Keep(..) | Ask::Discard(..) | Ask::Step(..) => {
            Kind::Other
        }
    }
}

/// Returns whether the text of a query goes to a model for embeddings.
pub(crate) fn is_embedded(query: &RetrievalQuery) -> bool {
    query.retriever == Retriever::Vector
}

const WHY: &str = "this plugin is not built in and may know something of the data, which its \
                   grants or --rows keep from models: the grant `sends` allows the call, and, for \
                   a plugin without grants, --trust FILE";

/// The error of a model call that is denied.
pub(crate) fn denial() -> LlmError {
    LlmError::Denied(WHY.to_owned())
}

/// The error of a call of the port `retrieval` that is denied.
pub(crate) fn deny_retrieval<T>() -> Result<T, PortError> {
    Err(PortError::Denied(WHY.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syrch_core::{Corpus, Signals};

    use super::*;
    use crate::fakes::request;

    /// Makes a call, and returns whether it is denied.
    fn is_denied(call: &TaintOfCall, ask: &Ask) -> bool {
        matches!(call.admit(ask), Admission::Denied)
    }

    fn model() -> Ask {
        Ask::Llm(Box::new(request("x")))
    }

    fn sql() -> Ask {
        Ask::Sql("SELECT 1".to_owned())
    }

    fn search(retriever: Retriever) -> Ask {
        Ask::Retrieval(vec![RetrievalQuery {
            corpus: Corpus::Notes,
            retriever,
            text: String::new(),
            limit: 1,
        }])
    }

    fn with(untrusted: &[Role]) -> Arc<Taint> {
        Taint::new(untrusted.iter().copied(), RowsGrant::None, 8)
    }

    #[test]
    fn whoever_asked_the_database_ends_the_model_calls_of_all_that_are_not_trusted() {
        let taint = with(&[Role::Solver, Role::Aggregator]);
        let solver = taint.for_call(&[Role::Solver]);
        let other = taint.for_call(&[Role::Aggregator]);
        let builtin = taint.for_call(&[Role::Planner]);
        assert!(!is_denied(&solver, &model()) && !is_denied(&other, &model()));
        assert!(!is_denied(&solver, &sql()));
        assert!(
            is_denied(&solver, &model())
                && is_denied(&other, &model())
                && !is_denied(&builtin, &model())
        );
        assert_eq!(taint.list_denied_roles(), BTreeSet::from([Role::Solver, Role::Aggregator]));
    }

    #[test]
    fn every_port_that_reads_the_data_counts_and_no_other() {
        let data = [
            sql(),
            Ask::Explain(String::new()),
            Ask::Stats(String::new(), Vec::new()),
            Ask::Samples(String::new(), Vec::new(), 1),
            Ask::Reward(Vec::new()),
        ];
        let other = [
            search(Retriever::Lexical),
            Ask::Check(String::new()),
            Ask::Calibrate(vec![(0.5, Signals::default())]),
            Ask::Find(Vec::new(), syrch_core::ports::Match::Exact, 1),
            Ask::Rows(0, 1),
            Ask::Wait(vec![1]),
            Ask::Remaining,
        ];
        for (asks, denies) in [(&data[..], true), (&other[..], false)] {
            for ask in asks {
                let taint = with(&[Role::Solver]);
                let call = taint.for_call(&[Role::Solver]);
                assert!(!is_denied(&call, ask), "{ask:?}");
                for model in [model(), Ask::Embed(Vec::new()), search(Retriever::Vector)] {
                    assert_eq!(is_denied(&call, &model), denies, "{ask:?} {model:?}");
                }
            }
        }
    }

    #[test]
    fn where_cells_are_shown_searching_them_counts_too() {
        let find = Ask::Find(Vec::new(), syrch_core::ports::Match::Exact, 1);
        for (rows, denies) in [(RowsGrant::Aggregates, false), (RowsGrant::Sample(1), true)] {
            let call = Taint::new([Role::Solver], rows, 8).for_call(&[Role::Solver]);
            assert!(!is_denied(&call, &find), "{rows}");
            assert_eq!(is_denied(&call, &model()), denies, "{rows}");
        }
    }

    #[test]
    fn a_plugin_that_is_called_after_the_database_was_asked_may_know() {
        let taint = with(&[Role::Linker, Role::Calibrator]);
        let linker = taint.for_call(&[Role::Linker]);
        linker.mark_seen_if_asked();
        is_denied(&taint.for_call(&[Role::Solver]), &sql());
        // It was called before, and has asked nothing.
        assert!(!is_denied(&linker, &model()));
        taint.for_call(&[Role::Solver]).mark_seen_if_asked();
        assert!(!is_denied(&linker, &model()));
        taint.for_call(&[Role::Calibrator]).mark_seen_if_asked();
        assert!(is_denied(&linker, &model()));
    }

    #[test]
    fn what_the_host_asks_after_a_plugin_has_returned_reaches_only_later_calls() {
        let taint = with(&[Role::Solver]);
        let one = taint.for_call(&[Role::Solver]);
        let two = taint.for_call(&[Role::Solver]);
        one.note_return();
        is_denied(&one, &sql());
        assert!(!is_denied(&two, &model()));
        two.mark_seen_if_asked();
        assert!(is_denied(&two, &model()));
    }

    #[test]
    fn a_call_for_several_roles_is_that_of_the_one_that_is_not_trusted() {
        let taint = with(&[Role::Planner]);
        is_denied(&taint.for_call(&[Role::Planner]), &sql());
        assert!(is_denied(
            &taint.for_call(&[Role::Solver, Role::Planner]),
            &search(Retriever::Vector)
        ));
        assert!(!is_denied(&taint.for_call(&[Role::Solver]), &search(Retriever::Vector)));
    }

    #[tokio::test]
    async fn of_calls_that_wait_none_can_be_chosen() {
        let taint = Taint::new([Role::Solver], RowsGrant::None, 2);
        let call = taint.for_call(&[Role::Solver]);
        let mut admissions: Vec<Admission> = (0..4).map(|_| call.admit(&model())).collect();
        assert!(
            admissions[..2].iter().all(|admission| matches!(admission, Admission::Permitted(_))),
            "{admissions:?}"
        );
        assert!(
            admissions[2..].iter().all(|admission| matches!(admission, Admission::Waits)),
            "{admissions:?}"
        );
        let last = admissions.pop().unwrap();
        let third = admissions.pop().unwrap();
        drop(admissions.pop());
        let third = call.wait_for_admission(third).await;
        assert!(matches!(third, Some(Admission::Permitted(_))));
        // The call that has its permit continues; the one that waits is denied when a permit is
        // free.
        assert!(!is_denied(&call, &sql()));
        let first = call.wait_for_admission(admissions.pop().unwrap()).await;
        assert!(first.is_some());
        drop(first);
        assert!(taint.list_denied_roles().is_empty());
        assert!(call.wait_for_admission(last).await.is_none());
        assert_eq!(taint.list_denied_roles(), BTreeSet::from([Role::Solver]));
    }

    proptest! {
        /// In whatever order calls happen, trusted plugins are never denied, and nothing of the
        /// others is sent after one of them asked the database.
        #[test]
        fn nothing_is_sent_after_it_was_asked(
            events in proptest::collection::vec((0..3_usize, 0..4_u8), 0..60)
        ) {
            let roles = [Role::Planner, Role::Solver, Role::Reward];
            let taint = with(&roles[1..]);
            let mut asked = false;
            let mut seen = false;
            for (who, what) in events {
                let call = taint.for_call(&roles[who..=who]);
                let untrusted = who > 0;
                match what {
                    0 => prop_assert_eq!(is_denied(&call, &model()), untrusted && seen),
                    1 => {
                        is_denied(&call, &sql());
                        (asked, seen) = (true, seen || untrusted);
                    }
                    2 => {
                        call.mark_seen_if_asked();
                        seen |= asked && untrusted;
                    }
                    _ => prop_assert!(!is_denied(&call, &Ask::Remaining)),
                }
            }
            prop_assert!(!taint.list_denied_roles().contains(&Role::Planner));
        }
    }
}
