//! The order in which a question's answers are given.

use sha2::{Digest, Sha256};

use super::read::Answer;

/// The answers in their order under a seed: ascending by the SHA-256 of `SEED/ID/SYSTEM` (the seed
/// in decimal digits, the question's id and the system's name as they are recorded, UTF-8), and by
/// the name where that is equal. Any program can compute it again.
pub(super) fn in_order<'a>(seed: u64, id: &str, answers: &'a [Answer]) -> Vec<&'a Answer> {
    let mut ranked: Vec<([u8; 32], &Answer)> =
        answers.iter().map(|answer| (rank(seed, id, answer), answer)).collect();
    ranked.sort_by(|(rank, answer), (other, with)| {
        rank.cmp(other).then_with(|| answer.system.cmp(&with.system))
    });
    ranked.into_iter().map(|(_, answer)| answer).collect()
}

fn rank(seed: u64, id: &str, answer: &Answer) -> [u8; 32] {
    Sha256::digest(format!("{seed}/{id}/{}", answer.system)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(seed: u64, id: &str, systems: &[&str]) -> Vec<String> {
        let answer = |system: &&str| Answer { system: (*system).to_owned(), sql: String::new() };
        let answers: Vec<Answer> = systems.iter().map(answer).collect();
        in_order(seed, id, &answers).into_iter().map(|answer| answer.system.clone()).collect()
    }

    /// As `sorted(systems, key=lambda s: hashlib.sha256(f"{seed}/{id}/{s}".encode()).digest())` of
    /// Python has it.
    #[test]
    fn the_order_is_the_documented_one() {
        assert_eq!(order(0, "q1", &["a", "b", "c", "d"]), ["a", "c", "b", "d"]);
        assert_eq!(order(7, "q1", &["a", "b", "c", "d"]), ["d", "c", "b", "a"]);
    }

    #[test]
    fn it_follows_from_seed_and_question_and_not_from_the_file() {
        let systems = ["a", "b", "c", "d", "e", "f"];
        let mut turned = systems;
        turned.reverse();
        assert_eq!(order(1, "q", &systems), order(1, "q", &turned));
        assert_ne!(order(1, "q", &systems), order(2, "q", &systems));
        assert_ne!(order(1, "q", &systems), order(1, "r", &systems));
    }
}
