//! The readings of a text whose words may mean several things, for the user to choose among.

use chrono::NaiveDate;

use super::follow_up::follow;
use super::{Cell, Understood, Unread, read};
use crate::{Request, Semantics};

/// The limit on the readings of a text.
const READINGS: usize = 12;
/// The limit on the phrases of a text that have several meanings.
const PHRASES: usize = 3;

/// The readings of a text with an ambiguous phrase.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    /// The first words that may mean several things.
    pub phrase: String,
    /// The readings, at least two.
    pub list: Vec<Choice>,
}

/// A reading of an ambiguous text.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The metrics or dimensions that the words mean, with commas between them.
    pub name: String,
    /// The reading.
    pub understood: Understood,
}

/// Reads a text whose words may mean several things once for each meaning. `previous` is the
/// request that the text may change. Returns `None` if the text has one meaning, is not understood,
/// or fewer than two of its readings are.
#[must_use]
pub fn read_choices(
    semantics: &Semantics,
    previous: Option<&Request>,
    text: &str,
    cells: &[Cell],
    today: NaiveDate,
) -> Option<Choices> {
    let mut phrase = None;
    let mut list: Vec<Choice> = Vec::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    let mut tries = 0;
    while let Some(chosen) = open.pop() {
        tries += 1;
        if tries > READINGS * PHRASES {
            return None;
        }
        let outcome = match previous {
            Some(previous) => follow(semantics, previous, text, cells, today, &chosen),
            None => read(semantics, text, cells, today, &chosen),
        };
        match outcome {
            Ok(_) if chosen.is_empty() => return None,
            Ok(understood) => {
                let is_known =
                    list.iter().any(|known| known.understood.request == understood.request);
                if !is_known {
                    list.push(Choice { name: chosen.join(", "), understood });
                }
            }
            Err(Unread::Ambiguous { phrase: words, choices }) if chosen.len() < PHRASES => {
                phrase.get_or_insert(words);
                // The first choice is read first.
                for name in choices.into_iter().rev().filter(|name| !chosen.contains(name)) {
                    open.push(chosen.iter().cloned().chain([name]).collect());
                }
            }
            Err(_) => {}
        }
    }
    let is_choice = (2..=READINGS).contains(&list.len());
    phrase.filter(|_| is_choice).map(|phrase| Choices { phrase, list })
}
