//! The recorded request that is most similar to one that has no recording, and the first difference
//! between them.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use syrch_core::ports::Request;

use super::request::{fields, speaker};

/// Characters of a line that are shown.
const SHOWN: usize = 80;
/// Characters that are shown before the first difference.
const BEFORE: usize = 24;

/// The recorded request that is most similar to a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Nearest {
    /// Its place in the recording, from 0.
    pub(super) place: usize,
    /// The Dice coefficient of their words, 0 to 1.
    pub(super) alike: f64,
    /// The first difference in words, for a message.
    pub(super) difference: String,
}

/// The recorded request with the highest Dice coefficient over words with their counts; of several,
/// the first with the same purpose. `None` if nothing is recorded.
pub(super) fn nearest<'a>(
    asked: &Request,
    recorded: impl Iterator<Item = &'a Request>,
) -> Option<Nearest> {
    let hasher = RandomState::new();
    let wanted = words(asked, &hasher);
    let mut best: Option<((f64, bool), usize, &Request)> = None;
    for (place, request) in recorded.enumerate() {
        let rank = (share(&wanted, &words(request, &hasher)), request.purpose == asked.purpose);
        if best.is_none_or(|(known, ..)| rank > known) {
            best = Some((rank, place, request));
        }
    }
    best.map(|((alike, _), place, request)| Nearest {
        place,
        alike,
        difference: difference(asked, request),
    })
}

/// The words of a request's messages as sorted hashes.
fn words(request: &Request, hasher: &RandomState) -> Vec<u64> {
    let texts = request.messages.iter().flat_map(|message| message.text.split_whitespace());
    let mut words: Vec<u64> = texts.map(|word| hasher.hash_one(word)).collect();
    words.sort_unstable();
    words
}

/// The Dice coefficient of two sorted lists: twice the number of common elements over the sum of
/// their lengths; 1 for two empty lists.
fn share(one: &[u64], other: &[u64]) -> f64 {
    let mut a = 0;
    let mut b = 0;
    let mut common = 0_usize;
    while let (Some(left), Some(right)) = (one.get(a), other.get(b)) {
        common += usize::from(left == right);
        a += usize::from(left <= right);
        b += usize::from(left >= right);
    }
    let all = one.len() + other.len();
    if all == 0 { 1.0 } else { 2.0 * common as f64 / all as f64 }
}

/// A description of the first line that differs, or else of the first field.
fn difference(asked: &Request, recorded: &Request) -> String {
    let most = asked.messages.len().max(recorded.messages.len());
    for number in 0..most {
        let now = asked.messages.get(number);
        let then = recorded.messages.get(number);
        if now == then {
            continue;
        }
        let Some((now, then)) = now.zip(then) else {
            return format!(
                "it has {} messages and this call {}",
                recorded.messages.len(),
                asked.messages.len()
            );
        };
        if now.speaker != then.speaker {
            let now = speaker(now);
            let then = speaker(then);
            return format!("its message {} is the {then}'s, and here the {now}'s", number + 1);
        }
        let (line, then, now) = first_line(&then.text, &now.text);
        return format!(
            "line {line} of its message {} ({}) is {then}, and here {now}",
            number + 1,
            speaker(&asked.messages[number])
        );
    }
    let differing = fields(recorded).into_iter().zip(fields(asked)).find(|(then, now)| then != now);
    match differing {
        Some(((name, then), (_, now))) => {
            let (then, now) = show_difference(&then, &now);
            format!("its {name} is {then}, and here {now}")
        }
        None => "they differ in nothing that is shown".to_owned(),
    }
}

/// The number of the first line that differs, from 1, and what it is in each text.
fn first_line(then: &str, now: &str) -> (usize, String, String) {
    let mut thens = then.split('\n');
    let mut nows = now.split('\n');
    let mut number = 0;
    loop {
        number += 1;
        match (thens.next(), nows.next()) {
            (Some(then), Some(now)) if then == now => {}
            (Some(then), Some(now)) => {
                let (then, now) = show_difference(then, now);
                return (number, then, now);
            }
            (then, now) => {
                fn show(line: Option<&str>) -> String {
                    line.map_or_else(|| "missing".to_owned(), |line| excerpt(line, 0))
                }
                return (number, show(then), show(now));
            }
        }
    }
}

/// Both texts around the first character that differs.
fn show_difference(one: &str, other: &str) -> (String, String) {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(BEFORE);
    (excerpt(one, from), excerpt(other, from))
}

/// A part of a line from that character on, in backticks. Dots stand for what is left out, and
/// spaces for control characters.
fn excerpt(line: &str, from: usize) -> String {
    let shown: String =
        line.chars().skip(from).take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let before = if from > 0 { "…" } else { "" };
    let after = if line.chars().nth(from + SHOWN).is_some() { "…" } else { "" };
    format!("`{before}{shown}{after}`")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syrch_core::ports::Purpose;

    use super::super::request::fixture::request;
    use super::*;

    fn find_nearest(asked: &Request, recorded: &[Request]) -> Nearest {
        nearest(asked, recorded.iter()).unwrap()
    }

    #[test]
    fn the_most_alike_is_found_and_where_it_parts() {
        let schema: String = (0..500).map(|n| format!("Table {n} has column c{n}.\n")).collect();
        let prompt = |question: &str| format!("{schema}Question: {question}\nAnswer with SQL.");
        let recorded = [
            request(Purpose::Plan, ["Plan it.", &prompt("How many customers are there?")]),
            request(Purpose::Generate, ["Write SQL.", &prompt("How many orders are there?")]),
            request(Purpose::Generate, ["Write SQL.", "Something else."]),
        ];
        let asked =
            request(Purpose::Generate, ["Write SQL.", &prompt("How many products are there?")]);
        let nearest = find_nearest(&asked, &recorded);
        assert_eq!(nearest.place, 1);
        assert!(nearest.alike > 0.99 && nearest.alike < 1.0, "{}", nearest.alike);
        let expected = "line 501 of its message 2 (user) is `Question: How many orders are \
                        there?`, and here `Question: How many products are there?`";
        assert_eq!(nearest.difference, expected);
    }

    #[test]
    fn of_equal_words_the_same_purpose_is_nearer() {
        let recorded = [Purpose::Plan, Purpose::Judge, Purpose::Judge]
            .map(|purpose| request(purpose, ["Say."]));
        let mut asked = request(Purpose::Judge, ["Say."]);
        asked.max_tokens = Some(5);
        let nearest = find_nearest(&asked, &recorded);
        let expected = Nearest {
            place: 1,
            alike: 1.0,
            difference: "its max-tokens is `unset`, and here `5`".to_owned(),
        };
        assert_eq!(nearest, expected);
        assert_eq!(super::nearest(&asked, std::iter::empty()), None);
    }

    #[test]
    fn long_lines_are_shown_around_the_difference() {
        fn line(tail: &str) -> String {
            format!("{}{tail}{}", "x".repeat(1_000), "y".repeat(1_000))
        }
        let nearest = find_nearest(
            &request(Purpose::Plan, [&line("one")]),
            &[request(Purpose::Plan, [&line("two")])],
        );
        assert!(
            nearest.difference.contains(&format!("`…{}twoyyy", "x".repeat(BEFORE))),
            "{}",
            nearest.difference
        );
        assert!(nearest.difference.len() < 400, "{}", nearest.difference);
        let nearest =
            find_nearest(&request(Purpose::Plan, ["a\nb"]), &[request(Purpose::Plan, ["a"])]);
        assert_eq!(nearest.difference, "line 2 of its message 1 (system) is missing, and here `b`");
        let nearest =
            find_nearest(&request(Purpose::Plan, ["a"]), &[request(Purpose::Plan, ["a", "b"])]);
        assert_eq!(nearest.difference, "it has 2 messages and this call 1");
    }

    proptest! {
        #[test]
        fn a_share_is_one_for_equal_words_and_never_more(
            one in "[a-d ]{0,40}", other in "[a-d\\n ]{0,40}"
        ) {
            let one = request(Purpose::Plan, [&one]);
            let other = request(Purpose::Plan, [&other]);
            let hasher = RandomState::new();
            let a = words(&one, &hasher);
            let b = words(&other, &hasher);
            let alike = share(&a, &b);
            prop_assert!((0.0..=1.0).contains(&alike));
            prop_assert_eq!(alike == 1.0, a == b);
            prop_assert_eq!(alike, share(&b, &a));
            prop_assert!(!difference(&one, &other).is_empty());
        }
    }
}
