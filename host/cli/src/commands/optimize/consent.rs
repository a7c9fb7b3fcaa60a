//! Consent to what is sent to a model: the exact requests are shown first, and nothing is sent
//! unless the user agrees.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use syrch::syrch_core::ports::Preview;
use syrch_optimizing::AskConsent;

use crate::commands::dry_run;
use crate::console::Console;
use crate::console::interrupt::Interrupt;
use crate::console::prompt::confirm;
use crate::exit::Exit;
use crate::failure::{Failure, Outcome};

/// Shows requests and asks on the terminal; a user who has agreed is not asked again.
#[derive(Clone)]
pub(super) struct Consent {
    console: Arc<Console>,
    interrupt: Interrupt,
    has_agreed: Arc<AtomicBool>,
}

impl Consent {
    pub(super) fn new(console: &Arc<Console>, interrupt: &Interrupt) -> Self {
        Self {
            console: Arc::clone(console),
            interrupt: interrupt.clone(),
            has_agreed: Arc::default(),
        }
    }
}

#[async_trait]
impl AskConsent for Consent {
    async fn agrees(&self, requests: &[Preview]) -> bool {
        if self.has_agreed.load(Ordering::Relaxed) {
            return true;
        }
        let Ok(text) = dry_run::text(requests) else { return false };
        self.console.clear();
        self.console.ask(&text);
        let question =
            "Send this, and further requests of this kind? No row of the database is in them.";
        let agrees = confirm(&self.console, &self.interrupt, question).await;
        self.has_agreed.store(agrees, Ordering::Relaxed);
        agrees
    }
}

/// The failure of work that ended because the user had not agreed.
pub(super) fn consent_failure() -> Failure {
    let message =
        "nothing was sent: the request above, and those that follow it, need your consent";
    Failure::new(Exit::Denied, message).hint(
        "--accept-data-sent agrees that such requests are sent, --dry-run shows them, and \
         --rewriter rules sends none",
    )
}

/// The result of work that may end for want of consent.
pub(super) fn explain_consent<T>(result: Result<T, syrch::Error>) -> Outcome<T> {
    result.map_err(|error| match error {
        syrch::Error::Consent(_) => consent_failure(),
        error => error.into(),
    })
}

#[cfg(test)]
mod tests {
    use std::io::IsTerminal;

    use super::*;

    #[tokio::test]
    async fn nobody_agrees_without_a_terminal() {
        let console = Arc::new(Console::new(true, true, crate::scrub::Scrubber::default()));
        let consent = Consent::new(&console, &Interrupt::listen());
        // Tests have no terminal as standard input, or one that nobody reads.
        if !std::io::stdin().is_terminal() {
            assert!(!consent.agrees(&[]).await);
        }
    }
}
