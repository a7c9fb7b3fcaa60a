//! The question in words.

use serde_json::Value as JsonValue;
use syrch_plugin::prelude::*;
use syrch_plugin::score::is_empty;
use syrch_plugin::{prompt, text};

const CATALOG: usize = 16_000;

/// One question of the model's; `None` if it has none to give.
pub(crate) fn by_model(
    host: &impl ClarifierHost,
    problem: &Problem,
    catalog: &Catalog,
    reported: &str,
    worst: &Observation,
) -> Option<String> {
    let mut user =
        format!("Tables:\n{}\n{}", prompt::catalog(catalog, CATALOG), prompt::problem(problem));
    user += &format!(
        "The unclear part: {}\nWhat happened: {}\n",
        text::line(reported, 600),
        describe_ending(worst)
    );
    for candidate in worst.candidates.iter().take(3) {
        user +=
            &format!("Tried ({:.2}): {}\n", candidate.sureness(), text::line(&candidate.sql, 600));
    }
    let instructions = "A search over a database could not tell what the user means. Ask the user \
                        one short question, in the user's language, whose answer would settle it. \
                        Write the question alone.";
    let request = Ask::new(Purpose::Clarify).system(instructions).user(user).max_tokens(200).text();
    let reply = host.complete(&request).ok()?;
    let question = text::line(&reply.text, 400);
    (!question.is_empty() && is_question(&reply.text)).then_some(question)
}

/// Returns false for a reply that a user cannot answer: one with a statement, a block of code, a
/// document, or the marks of a model's thinking.
fn is_question(reply: &str) -> bool {
    let lower = reply.to_lowercase();
    let begins_otherwise = lower.trim_start().starts_with(['{', '[']);
    let is_marked = lower.contains(['<', '◁']) || lower.contains("```") || lower.contains("~~~");
    let is_statement = lower.contains("select ") && lower.contains("from ");
    !begins_otherwise && !is_marked && !is_statement
}

/// A question by rule: it names what was not understood, and offers near names to choose from.
pub(crate) fn by_rule(
    reported: &str,
    catalog: &Catalog,
    worst: &Observation,
) -> (String, Vec<String>) {
    let reported = text::line(reported, 200);
    let reason = reason(worst);
    if let Some((term, choices)) =
        reason.as_deref().and_then(|reason| choice(reason, "no measure for: "))
    {
        return (format!("By what is \"{term}\" measured?"), choices);
    }
    if let Some((term, choices)) =
        reason.as_deref().and_then(|reason| choice(reason, "several tables have the name: "))
    {
        return (format!("Which \"{term}\" do you mean? Several tables have that name."), choices);
    }
    if let Some(name) = reason.as_deref().and_then(|reason| unknown_name(reason, catalog)) {
        let mut choices = near_names(&name, catalog);
        let count = choices.len();
        // The word itself would be asked about again.
        choices.retain(|choice| !choice.eq_ignore_ascii_case(&name));
        let is_name = choices.len() < count;
        if is_name && choices.is_empty() {
            let text = format!(
                "I do not understand \"{name}\" in \"{reported}\", which is a name of the \
                 database. Can you say it in other words?"
            );
            return (text, Vec::new());
        }
        let known = match (choices.is_empty(), is_name) {
            (true, _) => "The database has nothing of that name.",
            (false, true) => "The database has that name, and these near it.",
            (false, false) => "The nearest names of the database are these.",
        };
        return (format!("What do you mean by \"{name}\" in \"{reported}\"? {known}"), choices);
    }
    let text = match reason {
        Some(reason) => format!(
            "I could not answer \"{reported}\" ({reason}). Can you say it in other words, or name \
             the tables and columns that you mean?"
        ),
        None if is_empty(worst) => {
            format!("Nothing fits \"{reported}\". Are all of its conditions as you mean them?")
        }
        None => format!("I am not sure what \"{reported}\" asks for. Can you say it more exactly?"),
    };
    (text, Vec::new())
}

fn describe_ending(worst: &Observation) -> String {
    reason(worst).unwrap_or_else(|| {
        if is_empty(worst) {
            "the result has no rows".to_owned()
        } else {
            "no statement could be trusted".to_owned()
        }
    })
}

/// Returns the reason why the task failed: the one that the solver left in its memo, else the
/// failure's own message.
fn reason(worst: &Observation) -> Option<String> {
    let memo = || -> Option<String> {
        let memo: JsonValue = serde_json::from_str(worst.memo.as_deref()?).ok()?;
        memo.get("reason")?.as_str().map(str::to_owned)
    };
    let words = match &worst.ending {
        Ending::Failed(failure) => memo().or_else(|| Some(failure.message.clone())),
        Ending::Solved | Ending::Empty => None,
        _ => memo(),
    };
    words.map(|words| text::line(&words, 300)).filter(|words| !words.is_empty())
}

/// Returns the words that a provider without a model says it did not understand, else the first
/// name in back quotes that the catalog lacks.
fn unknown_name(reason: &str, catalog: &Catalog) -> Option<String> {
    if let Some((_, words)) = reason.split_once("not understood: ") {
        let words = words.split(';').next().unwrap_or_default().trim();
        return (!words.is_empty()).then(|| words.to_owned());
    }
    // What a plan requires is named in back quotes, too, and is no name that the user wrote.
    if reason.contains("it lacks ") {
        return None;
    }
    let quoted = reason.split('`').skip(1).step_by(2);
    quoted
        .filter(|name: &&str| !name.is_empty() && name.len() <= 64)
        .find(|name| !is_known(name, catalog))
        .map(str::to_owned)
}

/// Returns the ambiguous words that a provider without a model names after `beginning`, and the
/// things that they may mean.
fn choice(reason: &str, beginning: &str) -> Option<(String, Vec<String>)> {
    let (_, rest) = reason.split_once(beginning)?;
    let (term, choices) = rest.split_once(" (")?;
    let choices = choices.split(')').next().unwrap_or_default();
    Some((
        term.to_owned(),
        choices.split(", ").filter(|choice| !choice.is_empty()).map(str::to_owned).collect(),
    ))
}

fn is_known(name: &str, catalog: &Catalog) -> bool {
    catalog.table(name).is_some() || names(catalog).any(|known| known.eq_ignore_ascii_case(name))
}

fn names(catalog: &Catalog) -> impl Iterator<Item = &str> {
    catalog.tables.iter().flat_map(|table| {
        std::iter::once(table.name.as_str())
            .chain(table.columns.iter().map(|column| column.name.as_str()))
    })
}

/// At most five names of the catalog that share a word with the wanted one, letter case and a
/// plural's end aside.
fn near_names(wanted: &str, catalog: &Catalog) -> Vec<String> {
    let wanted = stems(wanted);
    let mut found: Vec<String> = Vec::new();
    for name in names(catalog) {
        if found.len() < 5
            && !found.iter().any(|known| known == name)
            && stems(name).iter().any(|stem| wanted.contains(stem))
        {
            found.push(name.to_owned());
        }
    }
    found
}

fn stems(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words
        .map(|word| word.trim_end_matches('s').to_owned())
        .filter(|word| word.chars().count() > 2)
        .collect()
}
