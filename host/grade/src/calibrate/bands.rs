//! Confidence bands, which an answer's footer quotes: the share of right answers at about its
//! confidence.

use std::collections::BTreeMap;

pub use syrch_suites::bands::{Band, Bands, LEAST_OF_DATABASE};

use crate::stats::reliability;

/// Bands from 0 to 1.
const BANDS: u32 = 10;
/// Databases that have bands of their own at most, those with the most answers: a strategy file has
/// to hold them, and its size is bounded.
const MOST_DATABASES: usize = 100;

/// Counts answers, each its database, its confidence and whether it was right, in bands of a tenth.
#[must_use]
pub fn bands<'a>(answers: impl IntoIterator<Item = (&'a str, f64, bool)>) -> Bands {
    let mut scored: BTreeMap<&str, Vec<(f64, bool)>> = BTreeMap::new();
    for (database, confidence, right) in answers {
        scored.entry(database).or_default().push((confidence, right));
    }
    let all: Vec<(f64, bool)> = scored.values().flatten().copied().collect();
    let own = |(database, scored): (&&str, &Vec<(f64, bool)>)| {
        let enough: Vec<Band> = count_bands(scored)
            .into_iter()
            .filter(|band| band.answers >= LEAST_OF_DATABASE)
            .collect();
        (!enough.is_empty()).then(|| ((*database).to_owned(), enough))
    };
    let mut largest: Vec<(&&str, &Vec<(f64, bool)>)> = scored.iter().collect();
    largest.sort_by_key(|(_, scored)| std::cmp::Reverse(scored.len()));
    let by_database = largest.into_iter().take(MOST_DATABASES).filter_map(own).collect();
    Bands { databases: scored.len() as u64, all: count_bands(&all), by_database }
}

fn count_bands(scored: &[(f64, bool)]) -> Vec<Band> {
    let bins = reliability(scored, BANDS).into_iter();
    bins.map(|bin| Band { low: bin.low, high: bin.high, answers: bin.answers, right: bin.right })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_has_bands_of_its_own_when_it_has_enough_answers() {
        let shop = (0..47).map(|at| ("shop", 0.85, at < 41));
        let flights = (0..4).map(|at| ("flights", 0.82, at < 2));
        let found = bands(shop.chain(flights).chain([("shop", 0.3, false)]));
        fn band(answers: u64, right: u64) -> Band {
            Band { low: 0.8, high: 0.9, answers, right }
        }
        assert_eq!(found.databases, 2);
        assert_eq!(found.all.last(), Some(&band(51, 43)));
        assert_eq!(found.all.len(), 2);
        assert_eq!(found.by_database, [("shop".to_owned(), vec![band(47, 41)])].into());
        assert_eq!(bands([]), Bands::default());
    }

    #[test]
    fn of_very_many_databases_the_largest_have_bands_of_their_own() {
        let names: Vec<String> = (0..130).map(|at| format!("db{at:03}")).collect();
        fn answers(at: usize) -> Vec<f64> {
            (0..10 + at).map(|_| 0.5).collect::<Vec<f64>>()
        }
        let all: Vec<(usize, f64)> =
            (0..130).flat_map(|at| answers(at).into_iter().map(move |sure| (at, sure))).collect();
        let found = bands(all.iter().map(|(at, sure)| (names[*at].as_str(), *sure, true)));
        assert_eq!((found.databases, found.by_database.len()), (130, 100));
        assert_eq!(found.by_database.keys().next(), Some(&names[30]));
    }
}
