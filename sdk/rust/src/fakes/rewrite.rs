//! An optimizer for unit tests of rewriters: it measures nothing, and the test gives the outcome of
//! each proposal.

use crate::bindings::inspect::Plan;
use crate::bindings::types::{Catalog, Failure};
use crate::ports::RewriterHost;
use crate::roles::{Attempt, Proposal, RewriterRole, Trial};

/// A plan that consists of this text, without estimates.
#[must_use]
pub fn plan(text: &str) -> Plan {
    Plan { format: "text".to_owned(), text: text.to_owned(), cost: None, rows: None }
}

/// An earlier proposal and what became of it.
#[must_use]
pub fn attempt(sql: &str, family: &str, trial: Trial) -> Attempt {
    Attempt { sql: sql.to_owned(), family: family.to_owned(), trial }
}

/// Calls a rewriter as the optimizer does: once for each of `trials`, which are the outcomes of its
/// proposals in order. An accepted proposal is the best statement from then on. Returns the
/// proposals; they are fewer than the trials when the rewriter had no more.
///
/// `host.database.plans` gives the plan of the best statement, or else the plan is empty.
///
/// # Errors
/// The first failure of the rewriter.
///
/// ```
/// use syrch_plugin::fakes::{FakeHost, rewrites};
/// use syrch_plugin::prelude::*;
///
/// syrch_plugin::plugin! {
///     /// Removes a needless condition.
///     pub struct Shorter(NoSettings) = "shorter", "drops WHERE 1 = 1";
/// }
///
/// impl RewriterRole for Shorter {
///     fn rewrite(
///         &self,
///         _: &impl RewriterHost,
///         _: &str,
///         best: &str,
///         _: &Plan,
///         _: &Catalog,
///         history: &[Attempt],
///     ) -> Result<Option<Proposal>, Failure> {
///         let sql = best.replace(" WHERE 1 = 1", "");
///         let is_new = sql != best && history.iter().all(|attempt| attempt.sql != sql);
///         Ok(is_new.then(|| Proposal::new(sql, "drop-condition", "the condition always holds")))
///     }
/// }
///
/// let (plugin, host) = (Shorter::new(NoSettings {}), FakeHost::default());
/// let trials = [Trial::Slower(0.9), Trial::Mismatch];
/// let catalog = Catalog { database: "shop".into(), ..Catalog::default() };
/// let proposals = rewrites(&plugin, &host, "SELECT 1 WHERE 1 = 1", &catalog, &trials).unwrap();
/// assert_eq!(proposals.len(), 1);
/// assert_eq!(proposals[0].sql, "SELECT 1");
/// ```
pub fn rewrites<P: RewriterRole>(
    plugin: &P,
    host: &impl RewriterHost,
    original: &str,
    catalog: &Catalog,
    trials: &[Trial],
) -> Result<Vec<Proposal>, Failure> {
    let mut best = original.to_owned();
    let mut history = Vec::new();
    let mut proposals = Vec::new();
    for trial in trials {
        let lent = host.explain(&best).unwrap_or_else(|_| plan(""));
        let Some(proposal) = plugin.rewrite(host, original, &best, &lent, catalog, &history)?
        else {
            break;
        };
        if matches!(trial, Trial::Accepted(_)) {
            best.clone_from(&proposal.sql);
        }
        history.push(attempt(&proposal.sql, &proposal.family, trial.clone()));
        proposals.push(proposal);
    }
    Ok(proposals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::FakeHost;
    use crate::prelude::*;

    crate::plugin! {
        /// Appends a letter to the best statement, three times at most.
        struct Longer(NoSettings) = "longer", "appends a letter";
    }

    impl RewriterRole for Longer {
        fn rewrite(
            &self,
            _host: &impl RewriterHost,
            original: &str,
            best: &str,
            plan: &Plan,
            _catalog: &Catalog,
            history: &[Attempt],
        ) -> Result<Option<Proposal>, Failure> {
            let letter = char::from(b'a' + u8::try_from(history.len()).unwrap());
            let proposal = Proposal::new(
                format!("{best}{letter}"),
                "longer",
                format!("{original}: {}", plan.text),
            );
            Ok((history.len() < 3).then_some(proposal))
        }
    }

    #[test]
    fn an_accepted_proposal_is_the_best_from_then_on_and_none_ends_it() {
        let plugin = Longer::new(NoSettings {});
        let mut host = FakeHost::default();
        host.database.plans.insert("xb".to_owned(), plan("SCAN x"));
        let trials = [Trial::Mismatch, Trial::Accepted(2.0), Trial::Slower(0.5), Trial::Mismatch];
        let catalog = Catalog { database: "shop".into(), ..Catalog::default() };
        let proposals = rewrites(&plugin, &host, "x", &catalog, &trials).unwrap();
        let texts: Vec<&str> = proposals.iter().map(|proposal| proposal.sql.as_str()).collect();
        assert_eq!(texts, ["xa", "xb", "xbc"]);
        assert_eq!(proposals[2].reason, "x: SCAN x");
    }
}
