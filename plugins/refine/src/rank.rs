//! The order among statements that ran, and the candidate that stands for one.

use syrch_plugin::prelude::*;

// The host's longest id.
const ID: usize = 64;

/// The id of a task's numbered candidate, also for a task whose own id leaves no room for the number.
pub(crate) fn candidate_id(task: &str, number: u32) -> String {
    let id = format!("{task}.{number}");
    if id.len() <= ID {
        return id;
    }
    // The head alone could be another task's too: a hash of the whole (FNV-1a) tells them apart.
    let hash = task
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let head: String = task.chars().take(32).collect();
    format!("{head}.{hash:016x}.{number}")
}

/// Most trusted first; fewer tokens win a tie, and then the earlier one.
pub(crate) fn rank(candidates: &mut [Candidate]) {
    candidates.sort_by(|a, b| b.sureness().total_cmp(&a.sureness()).then_with(|| a.tokens().total_cmp(&b.tokens())));
}

/// Tells which candidate was kept and why the others were not.
pub(crate) fn tell(host: &impl SolverHost, ranked: &[Candidate]) {
    let Some((best, others)) = ranked.split_first() else { return };
    let alone = if others.is_empty() { "the only statement that did" } else { "the most trusted statement" };
    host.keep(&best.id, &format!("{alone}: confidence {:.2}", best.sureness()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_fit_and_differ() {
        assert_eq!(candidate_id("A", 1), "A.1");
        let long = "x".repeat(63);
        let other = format!("{}y", "x".repeat(62));
        assert!(candidate_id(&long, 100).len() <= 64);
        assert_ne!(candidate_id(&long, 10), candidate_id(&other, 10));
    }
}
