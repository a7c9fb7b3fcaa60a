//! The tournament between groups of equal results.
//!
//! As CHASE-SQL counts: each pair of candidates gives a point. Two of equal results give it to the
//! earlier one, two of different results to the one that the model prefers. The model is asked for
//! one pair of each two groups, and its word holds for all their pairs; a pair for which it was not
//! asked, or had no word, gives half a point to both.

use serde_json::json;
use syrch_plugin::dice::Dice;
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;

use crate::compare::{Matter, Shown, first_wins};
use syrch_plugin::text::count32;

/// A group of equal results, by the candidate that stands for it.
pub(crate) struct Entrant<'a> {
    pub(crate) id: &'a str,
    pub(crate) shown: Shown<'a>,
    /// The number of candidates in it.
    pub(crate) size: u32,
}

/// The record of an entrant.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Standing {
    pub(crate) points: f64,
    pub(crate) won: u32,
    pub(crate) lost: u32,
}

impl Standing {
    /// The share of decided comparisons that were won; `None` if none was decided.
    pub(crate) fn share(&self) -> Option<f64> {
        let decided = self.won + self.lost;
        (decided > 0).then(|| f64::from(self.won) / f64::from(decided))
    }
}

/// A pair of entrants by their places, the better seeded first, and which of them the model
/// preferred.
struct Pair {
    places: (usize, usize),
    /// True if the second is shown first.
    is_swapped: bool,
    winner: Option<usize>,
}

/// Lets entrants, which stand in the order of their seeding, compete in at most that many
/// comparisons.
pub(crate) fn compete(
    host: &(impl Run + Llm + Inspect + Rows + Trace),
    matter: &Matter,
    entrants: &[Entrant],
    comparisons: u32,
) -> Vec<Standing> {
    let mut pairs = pairs(entrants.len(), comparisons.min(host.remaining().llm_calls), host.seed());
    decide(host, matter, entrants, &mut pairs);
    (0..entrants.len())
        .map(|place: usize| {
            let won = pairs.iter().filter(|pair| pair.winner == Some(place)).count();
            let lost = pairs
                .iter()
                .filter(|pair: &&Pair| {
                    pair.winner.is_some() && (pair.places.0 == place || pair.places.1 == place)
                })
                .count()
                - won;
            Standing {
                points: points(entrants, &pairs, place),
                won: count32(won),
                lost: count32(lost),
            }
        })
        .collect()
}

/// The first pairs among the leaders: 1–2, 1–3, 2–3, 1–4 and so on. A coin for each, so that no
/// place in the prompt is an advantage.
fn pairs(entrants: usize, most: u32, seed: u64) -> Vec<Pair> {
    let mut dice = Dice::new(seed);
    let all = (1..entrants).flat_map(|second| (0..second).map(move |first| (first, second)));
    all.take(most as usize)
        .map(|places| Pair { places, is_swapped: dice.coin(), winner: None })
        .collect()
}

/// Requests all comparisons concurrently, and logs each result.
fn decide(
    host: &(impl Llm + Inspect + Rows + Trace),
    matter: &Matter,
    entrants: &[Entrant],
    pairs: &mut [Pair],
) {
    let requests: Vec<Request> = pairs
        .iter()
        .map(|pair: &Pair| {
            let (first, second) = pair.order();
            matter.request(host, entrants[first].shown, entrants[second].shown)
        })
        .collect();
    let replies = if requests.is_empty() { Vec::new() } else { host.complete_all(&requests) };
    let mut silent: Option<String> = None;
    for (pair, reply) in pairs.iter_mut().zip(replies) {
        let (first, second) = pair.order();
        let why = match &reply {
            Ok(reply) => match first_wins(reply) {
                Some(first_wins) => {
                    pair.winner = Some(if first_wins { first } else { second });
                    None
                }
                None => Some("it named neither".to_owned()),
            },
            Err(error) => Some(llm_words(error)),
        };
        let won = pair.winner.map(|place| entrants[place].id);
        let with = [entrants[first].id, entrants[second].id];
        host.event(
            Some(entrants[pair.places.0].id),
            "comparison",
            &json!({ "shown": with, "won": won, "why": why }),
        );
        silent = silent.or(why);
    }
    if let Some(why) = silent {
        host.note(Level::Info, &format!("{}: a comparison came to nothing: {why}", matter.task.id));
    }
}

impl Pair {
    fn order(&self) -> (usize, usize) {
        let (first, second) = self.places;
        if self.is_swapped { (second, first) } else { (first, second) }
    }
}

fn points(entrants: &[Entrant], pairs: &[Pair], place: usize) -> f64 {
    entrants
        .iter()
        .enumerate()
        .map(|(other, entrant): (usize, &Entrant)| {
            let places = (place.min(other), place.max(other));
            let winner =
                pairs.iter().find(|pair| pair.places == places).and_then(|pair| pair.winner);
            let share = match winner {
                _ if other == place => return f64::from(entrant.size.saturating_sub(1)),
                Some(winner) if winner == place => 1.0,
                Some(_) => 0.0,
                None => 0.5,
            };
            share * f64::from(entrant.size)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_meet_first_and_a_coin_decides_who_is_shown_first() {
        fn places(most: u32) -> Vec<(usize, usize)> {
            pairs(4, most, 7).iter().map(|pair| pair.places).collect::<Vec<_>>()
        }
        assert_eq!(places(4), [(0, 1), (0, 2), (1, 2), (0, 3)]);
        assert_eq!(places(50).len(), 6);
        assert!(pairs(1, 9, 7).is_empty());
        let swapped =
            |seed| pairs(46, 1000, seed).iter().map(|pair| pair.is_swapped).collect::<Vec<_>>();
        let number = swapped(3).into_iter().filter(|is_swapped| *is_swapped).count();
        assert!((400..600).contains(&number), "{number}");
        assert_ne!(swapped(3), swapped(4));
        // The coins of a run stay what they were when pairs had them by their numbers.
        assert_eq!(swapped(0)[..8], [true, false, true, false, true, false, true, false]);
    }
}
