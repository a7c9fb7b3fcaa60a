//! Reciprocal rank fusion (Cormack et al. 2009), as sift has it, of what the retrievers found.

use std::collections::{BTreeMap, BTreeSet};

/// The hits of one retriever, best first.
#[derive(Debug, Clone)]
pub(crate) struct List<K> {
    /// The retriever's name in reasons.
    pub(crate) retriever: &'static str,
    pub(crate) weight: f64,
    pub(crate) ranked: Vec<(K, f64)>,
}

impl<K: Ord + Copy> List<K> {
    /// A list of the sums of all scores of each key.
    pub(crate) fn new(
        retriever: &'static str,
        weight: f64,
        scored: impl IntoIterator<Item = (K, f64)>,
    ) -> Self {
        let mut sums: BTreeMap<K, f64> = BTreeMap::new();
        for (key, score) in scored {
            *sums.entry(key).or_default() += score;
        }
        let mut ranked: Vec<(K, f64)> = sums.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        Self { retriever, weight, ranked }
    }
}

/// A find, with the retrievers that found it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fused<K> {
    pub(crate) key: K,
    /// 0 to 1: the share of what the first of every retriever that found anything would have.
    pub(crate) score: f64,
    pub(crate) retrievers: Vec<&'static str>,
}

/// Fuses the lists: each find scores the sum of weight / (smoothing + rank) over the lists, best
/// first, equal ones in the order of their keys. Finds with equal scores in a list have one rank,
/// so that the order of names decides nothing.
pub(crate) fn fuse<K: Ord + Copy>(lists: &[List<K>], smoothing: f64) -> Vec<Fused<K>> {
    let lists = || lists.iter().filter(|list| list.weight > 0.0 && !list.ranked.is_empty());
    let most: f64 = lists().map(|list| list.weight / (smoothing + 1.0)).sum();
    let mut sums: BTreeMap<K, (f64, Vec<&'static str>)> = BTreeMap::new();
    for list in lists() {
        let mut rank = 0;
        for (at, (key, score)) in list.ranked.iter().enumerate() {
            if at == 0 || list.ranked[at - 1].1 != *score {
                rank = at + 1;
            }
            let (sum, retrievers) = sums.entry(*key).or_default();
            *sum += list.weight / (smoothing + rank as f64);
            if !retrievers.contains(&list.retriever) {
                retrievers.push(list.retriever);
            }
        }
    }
    let mut fused: Vec<Fused<K>> = sums
        .into_iter()
        .map(|(key, (sum, retrievers))| Fused { key, score: sum / most, retrievers })
        .collect();
    sort(&mut fused);
    fused
}

/// Returns the keys at the top of a list, alone or with one other: those that one retriever is sure
/// of, whatever the others say.
pub(crate) fn firsts<K: Ord + Copy>(lists: &[List<K>]) -> BTreeSet<K> {
    let mut firsts = BTreeSet::new();
    for list in lists.iter().filter(|list| list.weight > 0.0) {
        let best = list.ranked.first().map_or(0.0, |(_, score)| *score);
        let equal: Vec<K> = list
            .ranked
            .iter()
            .take_while(|(_, score)| *score == best)
            .map(|(key, _)| *key)
            .collect();
        if equal.len() <= 2 {
            firsts.extend(equal);
        }
    }
    firsts
}

pub(crate) fn sort<K: Ord + Copy>(fused: &mut [Fused<K>]) {
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.key.cmp(&b.key)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(retriever: &'static str, weight: f64, ranked: &[(char, f64)]) -> List<char> {
        List::new(retriever, weight, ranked.iter().copied())
    }

    // The fixture of sift.
    #[test]
    fn two_lists_fuse_as_known() {
        let fused = fuse(
            &[
                list("words", 1.0, &[('a', 0.9), ('b', 0.8), ('c', 0.7)]),
                list("spelling", 1.0, &[('b', 0.4), ('d', 0.3)]),
            ],
            60.0,
        );
        let most = 2.0 / 61.0;
        let scores: Vec<(char, String)> =
            fused.iter().map(|fused| (fused.key, format!("{:.8}", fused.score * most))).collect();
        let expected =
            [('b', "0.03252247"), ('a', "0.01639344"), ('d', "0.01612903"), ('c', "0.01587302")];
        assert_eq!(scores, expected.map(|(key, score)| (key, score.to_owned())));
        assert_eq!(fused[0].retrievers, ["words", "spelling"]);
    }

    // Sift's D2: no fused score was ever above 0.2, so that every hit was reported as of low
    // relevance.
    #[test]
    fn the_first_of_all_lists_has_the_score_one() {
        let fused = fuse(
            &[
                list("words", 3.0, &[('a', 0.1)]),
                list("notes", 1.0, &[('a', 0.2)]),
                list("values", 1.0, &[]),
            ],
            60.0,
        );
        assert!((fused[0].score - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_first_of_each_list_is_known_unless_many_are() {
        let firsts = firsts(&[
            list("words", 1.0, &[('a', 0.9), ('b', 0.8)]),
            list("spelling", 1.0, &[('c', 0.9), ('d', 0.9), ('e', 0.9)]),
            list("cells", 1.0, &[('f', 0.3), ('g', 0.3), ('a', 0.1)]),
            list("notes", 0.0, &[('h', 0.9)]),
        ]);
        assert_eq!(firsts, BTreeSet::from(['a', 'f', 'g']));
    }

    #[test]
    fn equal_scores_have_one_rank_and_weights_count() {
        let ties = fuse(&[list("words", 1.0, &[('a', 0.5), ('b', 0.5), ('c', 0.1)])], 60.0);
        assert_eq!(ties[0].score, ties[1].score);
        fn keys(words: f64, spelling: f64) -> String {
            let lists =
                [list("words", words, &[('a', 1.0)]), list("spelling", spelling, &[('b', 1.0)])];
            fuse(&lists, 60.0).iter().map(|fused| fused.key).collect::<String>()
        }
        assert_eq!(
            (keys(2.0, 1.0).as_str(), keys(1.0, 2.0).as_str(), keys(0.0, 1.0).as_str()),
            ("ab", "ba", "b")
        );
    }
}
