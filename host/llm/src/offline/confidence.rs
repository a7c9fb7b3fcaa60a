//! How sure an interpretation is: by how much of the question it accounts for and how much it had to guess.

use super::draft::Draft;
use super::items::{Reading, What};
use super::lexicon;
use super::query::Query;
use super::resolve::Resolver;
use super::values::is_stop;
use super::words::Kind;

/// The confidence, 0 to 1.
pub(crate) fn of(reading: &Reading, resolver: &Resolver<'_>, draft: &Draft, query: &Query) -> f64 {
    let meant = reading.tokens.iter().filter(|token| token.kind != Kind::Break && !is_stop(token)).count().max(1);
    let coverage = 1.0 - (reading.unknown.len() + draft.loose.len()) as f64 / meant as f64;
    let names =
        reading.items.iter().filter(|item| matches!(item.what, What::Table(_) | What::Column(_) | What::Cell(_)));
    let fit = mean(names.map(|item| item.score));
    let open = (0..reading.items.len()).filter(|at| matches!(reading.items[*at].what, What::Column(_) | What::Cell(_)));
    let margin = mean(open.map(|at| (resolver.margin(at) / 0.3).min(1.0)));
    let tables = query.all_tables().len();
    let parts = draft.filters.len()
        + draft.keys.len()
        + usize::from(draft.best.is_some())
        + usize::from(draft.having.is_some());
    let length = reading.tokens.len();
    let simple =
        1.0 / (1.0 + 0.25 * (tables.max(1) - 1) as f64 + 0.08 * parts as f64 + 0.03 * length.saturating_sub(10) as f64);
    let guessed = draft.asked.iter().any(|asked| !asked.head) || (query.select.len() > 3);
    let score = coverage.powf(1.5) * (0.5 + 0.5 * fit) * (0.7 + 0.3 * margin) * simple.powf(0.7);
    // What the rules cannot express is not answered by what they can.
    let beyond = reading.unknown.iter().any(|at| lexicon::BEYOND.contains(&reading.tokens[*at].lower.as_str()));
    let score = if beyond { score * 0.5 } else { score };
    (if guessed { score * 0.85 } else { score }).clamp(0.01, 0.99)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { 1.0 } else { sum / f64::from(count) }
}
