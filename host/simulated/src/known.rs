//! Questions that are known beforehand, found by their words.

use std::collections::BTreeMap;

use syrch_core::ports::ModelCall;

/// The lowest Dice coefficient at which a known question is named in an error.
const ALIKE: f64 = 0.5;

/// A question that is known beforehand.
pub(crate) trait Known {
    /// The id of the question, unique in its file.
    fn id(&self) -> &str;
    /// The name of its database: the file's stem.
    fn database(&self) -> &str;
    /// The question in words, trimmed.
    fn question(&self) -> &str;
}

/// The places of questions by their text.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByWords(BTreeMap<String, Vec<usize>>);

impl ByWords {
    pub(crate) fn new(known: &[impl Known]) -> Self {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, one) in known.iter().enumerate() {
            places.entry(one.question().to_owned()).or_default().push(place);
        }
        Self(places)
    }

    /// The place of the question with this text. If questions over several databases have this
    /// text, the one over the named database; if a database has several, the first of them.
    pub(crate) fn find(
        &self,
        known: &[impl Known],
        question: &str,
        database: &str,
    ) -> Option<usize> {
        let places = self.0.get(question.trim())?;
        let database_of = |place: &usize| known.get(*place).map(Known::database);
        let first = *places.first()?;
        if places.iter().all(|other| database_of(other) == database_of(&first)) {
            return Some(first);
        }
        places.iter().copied().find(|place| database_of(place) == Some(database))
    }
}

/// The reason why a question is not found, with the nearest known one. `who` is the subject of the
/// message: "the recorded answers have none to this question". The message may quote a known
/// question, so it is not for guests.
pub(crate) fn miss_message(
    who: &str,
    known: &[impl Known],
    question: &str,
    database: &str,
) -> String {
    fn similarity(database: &str, question: &str, one: &dyn Known) -> (f64, bool) {
        (strsim::sorensen_dice(one.question(), question.trim()), one.database() == database)
    }
    let ranked = known.iter().map(|one| (similarity(database, question, one), one));
    let nearest = ranked.reduce(|best, other| if other.0 > best.0 { other } else { best });
    let none = format!("{who} have none to this question over `{database}`");
    match nearest {
        None => format!("{none}: they are empty"),
        Some(((share, _), one)) if share >= ALIKE => {
            format!(
                "{none}; the nearest is `{}` over `{}`: {}",
                one.id(),
                one.database(),
                one.question()
            )
        }
        Some(_) => format!("{none}, nor to one like it"),
    }
}

/// Returns true if the call is for the whole question, and not for a part of it.
pub(crate) fn is_whole(call: &ModelCall) -> bool {
    let part = call.task.as_ref().map(|task| task.text.trim()).filter(|text| !text.is_empty());
    part.is_none_or(|part| part == call.problem.question.trim())
}
