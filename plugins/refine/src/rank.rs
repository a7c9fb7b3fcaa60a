//! The order among statements that ran.

use syrch_plugin::prelude::*;

/// Most trusted first; fewer tokens win a tie, and then the earlier one.
pub(crate) fn rank(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| b.sureness().total_cmp(&a.sureness()).then_with(|| a.tokens().total_cmp(&b.tokens())));
}

/// Tells which candidate was kept and why the others were not.
pub(crate) fn tell(host: &impl SolverHost, ranked: &[Candidate]) {
    let Some((best, others)) = ranked.split_first() else { return };
    let why = match others.len() + 1 {
        1 => "the only statement that ran".to_owned(),
        all => format!("the most trusted of {all} statements that ran"),
    };
    host.keep(&best.id, &why);
    for other in others {
        let why = if other.sureness() < best.sureness() {
            format!("confidence {:.2} is below the {:.2} of {}", other.sureness(), best.sureness(), best.id)
        } else if other.tokens() > best.tokens() {
            format!("as trusted as {}, but of more tokens", best.id)
        } else {
            format!("as trusted as {}, but later", best.id)
        };
        host.discard(&other.id, &why);
    }
}
