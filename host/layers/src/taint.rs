//! Which plugins may still call a model, once the search has asked the database: the user's `--rows none|aggregates`, beyond cells.
//!
//! Without a single cell, row counts, profiles, errors and statistics still carry bits of the data, and a plugin that asks often enough reads any
//! cell by them. So under these two settings a plugin that the user does not trust makes no model call after any such plugin may have learned
//! something of the data. What happens to the state here happens under the lock of the tape, in the order of the journal: a resumed run decides as
//! the killed one did.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use syrch_core::ports::{LlmError, PortError};
use syrch_core::roles::Role;
use syrch_core::{Lane, Lookup};
use syrch_journal::Ask;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What one search knows of this: shared by all its role calls, also after the user has answered a question.
#[derive(Debug)]
pub struct Taint {
    untrusted: BTreeSet<Role>,
    /// Places for model calls of such plugins.
    places: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the database was asked for anything that depends on its rows, by whomever.
    asked: bool,
    /// Whether a plugin that is not trusted may know something of an answer.
    seen: bool,
    /// The roles whose model calls were denied.
    denied: BTreeSet<Role>,
}

impl Taint {
    /// A search in which the plugins of these roles are not trusted with both the data and a model, and may have so many calls of one under way.
    #[must_use]
    pub fn new(untrusted: impl IntoIterator<Item = Role>, in_flight: usize) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(in_flight.clamp(1, Semaphore::MAX_PERMITS)));
        Arc::new(Self { untrusted: untrusted.into_iter().collect(), places, state: Mutex::default() })
    }

    /// The part of a call that is made for these roles: a plugin's own, or of a look into a corpus those that may have written its text.
    #[must_use]
    pub fn of_call(self: &Arc<Self>, roles: &[Role]) -> TaintOfCall {
        let untrusted = roles.iter().find(|role| self.untrusted.contains(role)).copied();
        TaintOfCall { taint: Arc::clone(self), untrusted, has_left: Arc::default() }
    }

    /// The roles whose model calls were denied so far.
    #[must_use]
    pub fn denied(&self) -> BTreeSet<Role> {
        self.state(|state| state.denied.clone())
    }

    fn state<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What one role call does to it.
#[derive(Debug, Clone)]
pub struct TaintOfCall {
    taint: Arc<Taint>,
    /// The role whose plugin is not trusted, if it is one.
    untrusted: Option<Role>,
    /// Whether the plugin has returned: what is asked from then on, the host asks on the call's account.
    has_left: Arc<AtomicBool>,
}

impl TaintOfCall {
    /// The role call begins. Once the database was asked, whatever a role is called with may carry some of the answer: observations, candidates,
    /// signals, tasks that a planner changed, hints, the user's answer to a question that was made of results.
    pub fn begins(&self) {
        self.taint.state(|state| state.seen |= state.asked && self.untrusted.is_some());
    }

    /// The role call reads what other calls change: how much of the budgets is left.
    pub(crate) fn reads_of_others(&self) {
        self.begins();
    }

    /// The plugin has returned.
    pub(crate) fn leaves(&self) {
        self.has_left.store(true, Ordering::SeqCst);
    }

    /// The role call asks a port for this.
    pub(crate) fn asks(&self, ask: &Ask) -> Passage {
        self.taint.state(|state| match kind(ask) {
            Kind::Other => Passage::Free,
            Kind::Data => {
                // From the moment of asking, not of the answer: how long an answer takes tells something of it, too.
                state.asked = true;
                state.seen |= self.untrusted.is_some() && !self.has_left.load(Ordering::SeqCst);
                Passage::Free
            }
            Kind::Model => match self.untrusted {
                None => Passage::Free,
                Some(role) if state.seen => {
                    state.denied.insert(role);
                    Passage::Denied
                }
                Some(_) => match Arc::clone(&self.taint.places).try_acquire_owned() {
                    Ok(place) => Passage::Placed(place),
                    Err(_) => Passage::Waits,
                },
            },
        })
    }

    /// Waits until the call may go on; none: it is denied. One that has waited is, if somebody may know something of the data meanwhile: among many calls
    /// that wait a plugin could choose by giving up the others.
    pub(crate) async fn passes(&self, passage: Passage) -> Option<Passage> {
        match passage {
            Passage::Denied => None,
            Passage::Free | Passage::Placed(_) => Some(passage),
            Passage::Waits => {
                let place = Arc::clone(&self.taint.places).acquire_owned().await.ok()?;
                self.taint.state(|state| match self.untrusted.filter(|_| state.seen) {
                    Some(role) => {
                        state.denied.insert(role);
                        None
                    }
                    None => Some(Passage::Placed(place)),
                })
            }
        }
    }
}

/// How a port call goes on.
#[derive(Debug)]
pub(crate) enum Passage {
    /// Nothing is in its way.
    Free,
    /// A model call that holds one of the places until it ends.
    Placed(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit),
    /// A model call that waits for a place.
    Waits,
    /// A model call that is denied.
    Denied,
}

/// What a port call has to do with the data and with models.
enum Kind {
    /// Its answer depends on rows of the database.
    Data,
    /// It sends text to a model.
    Model,
    /// Neither.
    Other,
}

fn kind(ask: &Ask) -> Kind {
    match ask {
        Ask::Llm(_) | Ask::Embed(_) => Kind::Model,
        Ask::LookUp(looks) if looks.iter().any(is_embedded) => Kind::Model,
        Ask::Sql(_) | Ask::Explain(_) | Ask::Stats(..) | Ask::Samples(..) | Ask::Reward(_) => Kind::Data,
        // Names, notes and examples are no rows, and a statement is checked against the catalog alone. Rows are read of a result, which was asked
        // for or handed in before. A calibrator knows what it is told and nothing else. Looking for cells is refused wherever somebody is untrusted.
        Ask::LookUp(_) | Ask::Check(_) | Ask::Rows(..) | Ask::Calibrate(_) | Ask::Find(..) => Kind::Other,
        Ask::Remaining | Ask::Wait(_) | Ask::GiveUp(_) => Kind::Other,
        Ask::Note(..) | Ask::Propose(_) | Ask::Keep(..) | Ask::Discard(..) | Ask::Step(..) => Kind::Other,
    }
}

/// Whether the text of a query goes to a model for embeddings.
pub(crate) fn is_embedded(look: &Lookup) -> bool {
    look.lane == Lane::Vector
}

const WHY: &str = "this plugin is not built in and may know something of the data, of which --rows grants no cells; --trust FILE allows the call";

/// The answer to a model call that is denied.
pub(crate) fn denied() -> LlmError {
    LlmError::Denied(WHY.to_owned())
}

/// The same of the port `search`.
pub(crate) fn denied_search<T>() -> Result<T, PortError> {
    Err(PortError::Denied(WHY.to_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syrch_core::{Corpus, Signals};

    use super::*;
    use crate::fakes::request;

    /// Asks, and tells whether that is denied.
    fn is_denied(call: &TaintOfCall, ask: &Ask) -> bool {
        matches!(call.asks(ask), Passage::Denied)
    }

    fn model() -> Ask {
        Ask::Llm(Box::new(request("x")))
    }

    fn sql() -> Ask {
        Ask::Sql("SELECT 1".to_owned())
    }

    fn look(lane: Lane) -> Ask {
        Ask::LookUp(vec![Lookup { corpus: Corpus::Notes, lane, text: String::new(), limit: 1 }])
    }

    fn with(untrusted: &[Role]) -> Arc<Taint> {
        Taint::new(untrusted.iter().copied(), 8)
    }

    #[test]
    fn whoever_asked_the_database_ends_the_model_calls_of_all_that_are_not_trusted() {
        let taint = with(&[Role::Solver, Role::Aggregator]);
        let (solver, other) = (taint.of_call(&[Role::Solver]), taint.of_call(&[Role::Aggregator]));
        let builtin = taint.of_call(&[Role::Planner]);
        assert!(!is_denied(&solver, &model()) && !is_denied(&other, &model()));
        assert!(!is_denied(&solver, &sql()));
        assert!(is_denied(&solver, &model()) && is_denied(&other, &model()) && !is_denied(&builtin, &model()));
        assert_eq!(taint.denied(), BTreeSet::from([Role::Solver, Role::Aggregator]));
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
            look(Lane::Lexical),
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
                let call = taint.of_call(&[Role::Solver]);
                assert!(!is_denied(&call, ask), "{ask:?}");
                for model in [model(), Ask::Embed(Vec::new()), look(Lane::Vector)] {
                    assert_eq!(is_denied(&call, &model), denies, "{ask:?} {model:?}");
                }
            }
        }
    }

    #[test]
    fn a_plugin_that_is_called_after_the_database_was_asked_may_know() {
        let taint = with(&[Role::Linker, Role::Calibrator]);
        let linker = taint.of_call(&[Role::Linker]);
        linker.begins();
        is_denied(&taint.of_call(&[Role::Solver]), &sql());
        // It was called before, and has asked nothing.
        assert!(!is_denied(&linker, &model()));
        taint.of_call(&[Role::Solver]).begins();
        assert!(!is_denied(&linker, &model()));
        taint.of_call(&[Role::Calibrator]).begins();
        assert!(is_denied(&linker, &model()));
    }

    #[test]
    fn what_the_host_asks_after_a_plugin_has_returned_reaches_only_later_calls() {
        let taint = with(&[Role::Solver]);
        let (one, two) = (taint.of_call(&[Role::Solver]), taint.of_call(&[Role::Solver]));
        one.leaves();
        is_denied(&one, &sql());
        assert!(!is_denied(&two, &model()));
        two.reads_of_others();
        assert!(is_denied(&two, &model()));
    }

    #[test]
    fn a_call_for_several_roles_is_that_of_the_one_that_is_not_trusted() {
        let taint = with(&[Role::Planner]);
        is_denied(&taint.of_call(&[Role::Planner]), &sql());
        assert!(is_denied(&taint.of_call(&[Role::Solver, Role::Planner]), &look(Lane::Vector)));
        assert!(!is_denied(&taint.of_call(&[Role::Solver]), &look(Lane::Vector)));
    }

    #[tokio::test]
    async fn of_calls_that_wait_none_can_be_chosen() {
        let taint = Taint::new([Role::Solver], 2);
        let call = taint.of_call(&[Role::Solver]);
        let mut passages: Vec<Passage> = (0..4).map(|_| call.asks(&model())).collect();
        assert!(passages[..2].iter().all(|passage| matches!(passage, Passage::Placed(_))), "{passages:?}");
        assert!(passages[2..].iter().all(|passage| matches!(passage, Passage::Waits)), "{passages:?}");
        let (last, third) = (passages.pop().unwrap(), passages.pop().unwrap());
        drop(passages.pop());
        let third = call.passes(third).await;
        assert!(matches!(third, Some(Passage::Placed(_))));
        // The call that has its place goes on; the one that waits is denied when its turn comes.
        assert!(!is_denied(&call, &sql()));
        let first = call.passes(passages.pop().unwrap()).await;
        assert!(first.is_some());
        drop(first);
        assert!(taint.denied().is_empty());
        assert!(call.passes(last).await.is_none());
        assert_eq!(taint.denied(), BTreeSet::from([Role::Solver]));
    }

    proptest! {
        /// Whatever happens in whatever order: what is trusted is never denied, and of the others nothing is sent after one of them asked.
        #[test]
        fn nothing_is_sent_after_it_was_asked(events in proptest::collection::vec((0..3_usize, 0..4_u8), 0..60)) {
            let roles = [Role::Planner, Role::Solver, Role::Reward];
            let taint = with(&roles[1..]);
            let (mut asked, mut seen) = (false, false);
            for (who, what) in events {
                let (call, untrusted) = (taint.of_call(&roles[who..=who]), who > 0);
                match what {
                    0 => prop_assert_eq!(is_denied(&call, &model()), untrusted && seen),
                    1 => {
                        is_denied(&call, &sql());
                        (asked, seen) = (true, seen || untrusted);
                    }
                    2 => {
                        call.begins();
                        seen |= asked && untrusted;
                    }
                    _ => prop_assert!(!is_denied(&call, &Ask::Remaining)),
                }
            }
            prop_assert!(!taint.denied().contains(&Role::Planner));
        }
    }
}
