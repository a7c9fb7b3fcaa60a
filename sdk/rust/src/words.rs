//! The stems of words in texts and names, so far alike that `Song_release_years` names a release.

use std::collections::BTreeSet;

/// Words that name nothing, sorted.
const PARTICLES: &[&str] = &[
    "a", "an", "and", "are", "at", "be", "by", "did", "do", "does", "for", "from", "had", "has",
    "have", "in", "is", "no", "not", "of", "on", "or", "the", "to", "was", "were", "with",
];

/// The stems of a text's words: letters only, split where a small letter meets a capital one.
#[must_use]
pub fn stems(text: &str) -> BTreeSet<String> {
    words(text).iter().map(|word| stem(word)).collect()
}

/// The stems of a text's words that may name something.
#[must_use]
pub fn naming_stems(text: &str) -> BTreeSet<String> {
    words(text)
        .iter()
        .filter(|word: &&String| word.chars().count() > 1 && !PARTICLES.contains(&word.as_str()))
        .map(|word| stem(word))
        .collect()
}

fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_small = false;
    for c in text.chars() {
        if !word.is_empty() && (!c.is_alphabetic() || (was_small && c.is_uppercase())) {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphabetic() {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Takes off the plural, then `ing` or `ed`, then a last `e`, as far as enough is left.
fn stem(word: &str) -> String {
    let mut stem = singular(word);
    for ending in ["ing", "ed"] {
        if let Some(left) = stem.strip_suffix(ending).filter(|left| left.chars().count() >= 3) {
            stem = left.to_owned();
            break;
        }
    }
    match stem.strip_suffix('e') {
        Some(left) if left.chars().count() >= 3 => left.to_owned(),
        _ => stem,
    }
}

fn singular(word: &str) -> String {
    let length = word.chars().count();
    if let Some(left) = word.strip_suffix("ies").filter(|_| length > 4) {
        return format!("{left}y");
    }
    if length > 4
        && ["sses", "shes", "ches", "xes", "zes"].iter().any(|ending| word.ends_with(ending))
    {
        return word.strip_suffix("es").unwrap_or(word).to_owned();
    }
    match word.strip_suffix('s') {
        Some(left) if length > 3 && !left.ends_with('s') => left.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_questions_meet_in_their_stems() {
        let of = |text: &str| stems(text).into_iter().collect::<Vec<_>>();
        assert_eq!(of("Song_release_year"), ["releas", "song", "year"]);
        assert_eq!(of("CarMakers 18_49"), ["car", "maker"]);
        assert_eq!(stem("countries"), stem("country"));
        assert_eq!(stem("names"), stem("name"));
        assert_eq!(stem("ratings"), stem("rated"));
        assert_eq!(stem("matches"), stem("match"));
        assert_eq!(
            (stem("class").as_str(), stem("bus").as_str(), stem("gas").as_str()),
            ("class", "bus", "gas")
        );
        assert_eq!(of("Größen-Maß"), ["größen", "maß"]);
    }

    #[test]
    fn particles_name_nothing() {
        let naming: Vec<String> =
            naming_stems("What is the name of a singer with 3 songs?").into_iter().collect();
        assert_eq!(naming, ["nam", "singer", "song", "what"]);
    }

    #[test]
    fn particles_are_sorted_for_the_reader() {
        assert!(PARTICLES.is_sorted());
    }
}
