//! The time that a search has: until the user stops it, or its deadline passes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use syrch_core::ports::TimeLeft;
use syrch_layers::Time;
use syrch_scheduler::Stop;

/// The time of one search, over all wordings of its problem. Clones share it.
#[derive(Clone)]
pub(crate) struct Clock {
    pub(crate) started: Instant,
    pub(crate) stop: Stop,
    /// The time that the search may take; `None` if it has no deadline.
    limit: Arc<Mutex<Option<Duration>>>,
}

impl Clock {
    /// A clock that starts now.
    pub(crate) fn new(limit: Option<Duration>, stop: Stop) -> Self {
        Self { started: Instant::now(), stop, limit: Arc::new(Mutex::new(limit)) }
    }

    fn limit(&self) -> Option<Duration> {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds time that does not count, such as that in which the user thought about a question. It
    /// must have passed while nothing waited for the deadline.
    pub(crate) fn allow(&self, more: Duration) {
        let mut limit = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        *limit = limit.map(|limit| limit.saturating_add(more));
    }

    /// Returns the latest time at which the time is over.
    pub(crate) fn deadline(&self) -> Option<tokio::time::Instant> {
        self.started.checked_add(self.limit()?).map(tokio::time::Instant::from_std)
    }

    /// Ends when the time is over.
    pub(crate) async fn wait_until_over(&self) {
        let late = async {
            match self.deadline() {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = self.stop.wait_until_triggered() => {}
            () = late => {}
        }
    }

    /// Returns whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_triggered()
            || self.limit().is_some_and(|limit| self.started.elapsed() >= limit)
    }

    /// Returns how much of the time is left, as one of the few steps that plugins are told.
    pub(crate) fn time_left(&self) -> TimeLeft {
        let Some(limit) = self.limit() else { return TimeLeft::Plenty };
        match limit.checked_sub(self.started.elapsed()) {
            None => TimeLeft::Over,
            Some(left) if left > limit / 5 => TimeLeft::Plenty,
            Some(_) => TimeLeft::Little,
        }
    }
}

#[async_trait]
impl Time for Clock {
    fn is_over(&self) -> bool {
        Self::is_over(self)
    }

    async fn wait_until_over(&self) {
        Self::wait_until_over(self).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_time_in_which_the_user_thinks_does_not_count() {
        let clock = Clock::new(Some(Duration::ZERO), Stop::new());
        let of_a_model = clock.clone();
        assert!(of_a_model.is_over());
        of_a_model.wait_until_over().await;
        clock.allow(Duration::from_secs(3_600));
        assert!(!of_a_model.is_over());
        assert!(matches!(of_a_model.time_left(), TimeLeft::Plenty));
        clock.stop.trigger();
        assert!(of_a_model.is_over());
    }

    #[test]
    fn without_a_limit_there_is_always_time() {
        let clock = Clock::new(None, Stop::new());
        clock.allow(Duration::MAX);
        assert!(
            !clock.is_over()
                && clock.deadline().is_none()
                && matches!(clock.time_left(), TimeLeft::Plenty)
        );
    }
}
