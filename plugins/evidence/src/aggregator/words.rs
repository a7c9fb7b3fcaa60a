//! The answer in a sentence, from the rows that may be read.

use syrch_plugin::prelude::*;
use syrch_plugin::{prompt, text};

/// A sentence about a result: the model's when that is wanted and works, else one by rule.
pub(crate) fn text(
    host: &impl AggregatorHost,
    problem: &Problem,
    results: &ResultSet,
    told_rows: u32,
    summarise: bool,
) -> String {
    let profile = results.profile();
    let page = if profile.rows == 0 { None } else { host.read(results, 0, told_rows).ok() };
    let page = page.filter(|page| !page.rows.is_empty());
    if summarise
        && let Some(reported) =
            page.as_ref().and_then(|page| by_model(host, problem, &profile, page))
    {
        return reported;
    }
    by_rule(&profile, page.as_ref())
}

fn by_model(
    host: &impl AggregatorHost,
    problem: &Problem,
    profile: &Profile,
    page: &Page,
) -> Option<String> {
    let user = format!(
        "{}The result has {}; these are the first:\n{}",
        prompt::problem(problem),
        text::count(profile.rows, "row"),
        prompt::rows(page)
    );
    let instructions = "Answer the question in one or two plain sentences, in its language, from the rows alone. Add nothing else.";
    let request =
        Ask::new(Purpose::Summarise).system(instructions).user(user).max_tokens(300).text();
    let reply = host.complete(&request).ok()?;
    let reported = text::line(&reply.text, 1000);
    (!reported.is_empty()).then_some(reported)
}

fn by_rule(profile: &Profile, page: Option<&Page>) -> String {
    let names: Vec<String> =
        profile.columns.iter().map(|column| text::line(&column.column.name, 60)).collect();
    if profile.rows == 0 {
        return "The result has no rows: nothing fits the question.".to_owned();
    }
    let Some(page) = page else {
        return format!(
            "The result has {} of {}.",
            text::count(profile.rows, "row"),
            names.join(", ")
        );
    };
    match (profile.rows, page.rows.as_slice()) {
        (1, [row]) if row.len() == 1 => match &row[0] {
            Value::Null => "There is no value (NULL).".to_owned(),
            value => format!("The answer is {}.", prompt::cell(value)),
        },
        (1, [row]) => {
            let reported = names
                .iter()
                .zip(row)
                .map(|(name, value)| format!("{name} {}", prompt::cell(value)));
            format!("The answer is one row: {}.", reported.collect::<Vec<_>>().join(", "))
        }
        (rows, shown) => {
            let list: Vec<String> = shown
                .iter()
                .map(|row: &Vec<Value>| row.iter().map(prompt::cell).collect::<Vec<_>>().join(", "))
                .collect();
            let lead = if (shown.len() as u64) < rows { "the first are" } else { "they are" };
            format!("There are {rows} rows of {}; {lead} {}.", names.join(", "), list.join("; "))
        }
    }
}
