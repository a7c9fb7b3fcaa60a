//! The word between two conditions of a question, and how the statement connects them: by OR where
//! the question says `and`, or the other way round.

use syrch_core::ports::Comparison;
use syrch_core::{Doubt, DoubtKind};
use syrch_words::stem;

use super::Asked;
use super::question::words;

/// Words between two conditions that are both to be met.
const BOTH: &[&str] = &["and", "but"];
/// Words with which a question asks for one of several conditions.
const EITHER: &[&str] = &[
    "alternatively",
    "any",
    "either",
    "neither",
    "nor",
    "or",
    "respectively",
    "unless",
    "whether",
];
/// Words with which two kinds of things are asked for, each with its own condition.
const KINDS: &[&str] = &["also", "each", "every", "ones", "per", "those"];
/// Words behind the *or* of a bound: `4 stars or better`.
const BOUNDS: &[&str] = &["above", "below", "equal", "less", "more", "not", "over", "so", "under"];
/// Parts of statements that may take what meets one of two conditions.
const ALTERNATIVES: &[&str] = &["OR ", "IN (", "UNION", "CASE", "BETWEEN"];

impl Asked<'_> {
    /// The doubt about conditions that are connected otherwise than in the question.
    pub(super) fn other_connective(&self) -> Option<Doubt> {
        self.either_for_both().or_else(|| self.both_for_either()).or_else(|| self.loose_or())
    }

    /// OR between two conditions with `and` between them. Of one column, things that have several
    /// values can meet both.
    fn either_for_both(&self) -> Option<Doubt> {
        if self.question.has_any(EITHER) || !self.lacks("HAVING") {
            return None;
        }
        let any_of = self.outline.any_of.iter().filter(|any| is_of_several(any));
        let (one, other) = any_of.flat_map(|any| list_pairs(any)).find(|(one, other)| {
            let is_met = one.column != other.column || self.has_several(&one.column.table);
            let between = self.find_words_between(one, other).unwrap_or_default();
            is_met && has_any(&between, BOTH) && !has_any(&between, KINDS)
        })?;
        let text = format!(
            "the question says `and` between {} and {}, and the statement takes what meets one of \
             both",
            one.literal, other.literal
        );
        Some(Doubt { kind: DoubtKind::OtherConnective, text })
    }

    /// AND between two conditions with `or` between them.
    fn both_for_either(&self) -> Option<Doubt> {
        if ALTERNATIVES.iter().any(|part| !self.lacks(part)) {
            return None;
        }
        let (one, other) = list_pairs(&self.outline.all_of).into_iter().find(|(one, other)| {
            let between = self.find_words_between(one, other).unwrap_or_default();
            let Some(or) = between.iter().position(|word| *word == "or") else { return false };
            let is_bound = between
                .get(or + 1)
                .is_some_and(|next| BOUNDS.contains(next) || next.ends_with("er"));
            let has_other = between
                .iter()
                .any(|word| BOTH.contains(word) || self.question.is_name(&stem(word)));
            one.column != other.column && !is_bound && !has_other
        })?;
        let text = format!(
            "the question says `or` between {} and {}, and the statement takes what meets both",
            one.literal, other.literal
        );
        Some(Doubt { kind: DoubtKind::OtherConnective, text })
    }

    /// Two values of which either is asked for, where an AND takes the first for itself.
    fn loose_or(&self) -> Option<Doubt> {
        let [one, other] = self.outline.loose.as_ref()?;
        let between = self.find_words_between(one, other)?;
        if !matches!(between.as_slice(), [] | ["or" | "and"]) {
            return None;
        }
        let text = format!(
            "AND binds closer than OR, so that {1} counts without the conditions beside {0}: put \
             both in parentheses",
            one.literal, other.literal
        );
        Some(Doubt { kind: DoubtKind::OtherConnective, text })
    }

    /// The words of the question between the literals of two comparisons; `None` if it does not
    /// name both, each in its own place.
    fn find_words_between(&self, one: &Comparison, other: &Comparison) -> Option<Vec<&str>> {
        let [one, other] = [self.find_place(&one.literal)?, self.find_place(&other.literal)?];
        let (first, second) = if one.0 < other.0 { (one, other) } else { (other, one) };
        let between = second.0.checked_sub(first.1)?;
        Some(self.question.words().skip(first.1).take(between).collect())
    }

    /// The place of a literal in the question: that of its first word, and the one behind its last.
    pub(super) fn find_place(&self, literal: &str) -> Option<(usize, usize)> {
        let own: Vec<String> = words(literal).iter().map(|word| stem(word)).collect();
        let asked: Vec<String> = self.question.words().map(stem).collect();
        let at = asked.windows(own.len().max(1)).position(|window| window == own.as_slice())?;
        Some((at, at + own.len()))
    }
}

/// Returns true if no literal is compared with several columns, as in a search of one text in all
/// of them.
fn is_of_several(any: &[Comparison]) -> bool {
    any.iter().all(|one| {
        any.iter().all(|other| one.literal != other.literal || one.column == other.column)
    })
}

fn list_pairs(all: &[Comparison]) -> Vec<(&Comparison, &Comparison)> {
    let pairs = all.iter().enumerate();
    pairs.flat_map(|(at, one)| all[at + 1..].iter().map(move |other| (one, other))).collect()
}

fn has_any(words: &[&str], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(word))
}
