//! Reading a judge's reply. Nothing here leans to yes: what cannot be read as one plain verdict is
//! no verdict.
//!
//! A verdict is a line `CORRECT: YES` or `CORRECT: NO`. The last one counts; a NO or a hedge (`YES,
//! but`, `YES if`) behind the label anywhere else, also within a sentence, takes a YES its worth,
//! since a judge that said both contradicts itself. So do a NO or a hedge in answer to one of the
//! questions, and words such as "is not correct". Passages between thinking tags are not read. A
//! reply without any such line counts when a plain YES or NO is all that it says, on one line.

mod line;

use syrch_plugin::text;

use crate::class::ErrorClass;
use line::{Answer, answer, mentions, objects, plain, ruling};

/// The aspects that the judge is asked about, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aspect {
    Tables,
    Columns,
    Filters,
    Joins,
    Aggregations,
    Sense,
}

impl Aspect {
    /// All aspects, in the order in which a judge is asked about them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Tables, Self::Columns, Self::Filters, Self::Joins, Self::Aggregations, Self::Sense];

    /// The word with which its answer begins.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Tables => "TABLES",
            Self::Columns => "COLUMNS",
            Self::Filters => "FILTERS",
            Self::Joins => "JOINS",
            Self::Aggregations => "AGGREGATIONS",
            Self::Sense => "RESULT",
        }
    }

    /// The question to the judge, in lower case.
    pub(crate) fn question(self) -> &'static str {
        match self {
            Self::Tables => "does it read the tables that the request is about?",
            Self::Columns => {
                "are the columns the right ones, none missing and none that nobody asked for?"
            }
            Self::Filters => "do its conditions say exactly what the request says?",
            Self::Joins => {
                "are tables joined on the right columns, so that no row is lost or doubled? YES \
                 without a join."
            }
            Self::Aggregations => {
                "are counts, sums, groups and limits as the request means them? YES where \
                 none is needed."
            }
            Self::Sense => "do the rows look like what the request would give?",
        }
    }

    /// The name of its check.
    pub(crate) fn check(self) -> &'static str {
        match self {
            Self::Tables => "right tables",
            Self::Columns => "right columns",
            Self::Filters => "right filters",
            Self::Joins => "right joins",
            Self::Aggregations => "right aggregations",
            Self::Sense => "a result that makes sense",
        }
    }

    /// The class of errors when its answer is NO.
    pub(crate) fn class(self) -> Option<ErrorClass> {
        match self {
            Self::Tables => Some(ErrorClass::WrongTable),
            Self::Columns => Some(ErrorClass::WrongColumn),
            Self::Filters => Some(ErrorClass::WrongFilter),
            Self::Joins => Some(ErrorClass::WrongJoin),
            Self::Aggregations => Some(ErrorClass::WrongAggregation),
            Self::Sense => None,
        }
    }
}

/// The ruling of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reading {
    /// True if the judge considers the statement right.
    pub(crate) is_correct: bool,
    /// The reasoning on one line; empty if the judge stated none.
    pub(crate) reasoning: String,
    /// The plain answers to the questions.
    pub(crate) answers: Vec<(Aspect, bool)>,
}

/// Reads a reply; the error says why it holds no verdict. `truncated`: the last line is not whole,
/// and not read.
pub(crate) fn read(reply: &str, truncated: bool) -> Result<Reading, &'static str> {
    let text = without_thinking(reply);
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if truncated {
        lines.pop();
    }
    let is_correct = verdict(&lines)?;
    let answers: Vec<(Aspect, bool)> =
        Aspect::ALL.into_iter().filter_map(|aspect| read_answer(&lines, aspect)).collect();
    if is_correct {
        // Also the beginning of a cut line may take a verdict back.
        check_for_doubt(&text)?;
    }
    Ok(Reading { is_correct, reasoning: reasoning(&lines), answers })
}

fn verdict(lines: &[&str]) -> Result<bool, &'static str> {
    let labelled: Vec<Answer> = lines.iter().filter_map(|line| answer(line, "CORRECT")).collect();
    let last = match labelled.last() {
        Some(last) => *last,
        None => alone(lines),
    };
    match last {
        Answer::No => Ok(false),
        Answer::Yes => Ok(true),
        Answer::Hedged | Answer::Unclear if labelled.is_empty() => Err("the judge gave no verdict"),
        Answer::Hedged | Answer::Unclear => Err("the judge hedged its verdict"),
    }
}

/// An unlabelled verdict: what else is said could take it back in any words, and so nothing else
/// may be.
fn alone(lines: &[&str]) -> Answer {
    let reported: Vec<String> =
        lines.iter().map(|line| plain(line)).filter(|line| !line.is_empty()).collect();
    if let [line] = reported.as_slice() { ruling(line) } else { Answer::Unclear }
}

/// The error says what speaks against a YES in the same reply.
fn check_for_doubt(text: &str) -> Result<(), &'static str> {
    fn is_doubt(answer: &Answer) -> bool {
        matches!(answer, Answer::No | Answer::Hedged)
    }
    if mentions(text, "CORRECT").iter().any(is_doubt) || objects(text) {
        return Err("the judge said both yes and no");
    }
    if Aspect::ALL.into_iter().any(|aspect| mentions(text, aspect.label()).iter().any(is_doubt)) {
        return Err("the judge said yes and named an error");
    }
    Ok(())
}

fn read_answer(lines: &[&str], aspect: Aspect) -> Option<(Aspect, bool)> {
    match lines.iter().rev().find_map(|line| answer(line, aspect.label()))? {
        Answer::Yes => Some((aspect, true)),
        Answer::No => Some((aspect, false)),
        Answer::Hedged | Answer::Unclear => None,
    }
}

/// Returns the text after `REASONING:`; without it, the lines that are no answers.
fn reasoning(lines: &[&str]) -> String {
    let reported =
        match lines.iter().position(|line: &&str| line.to_ascii_uppercase().contains("REASONING:"))
        {
            Some(at) => {
                let first = lines[at];
                let from = first
                    .to_ascii_uppercase()
                    .find("REASONING:")
                    .map_or(0, |found| found + "REASONING:".len());
                std::iter::once(&first[from..])
                    .chain(lines[at + 1..].iter().copied())
                    .collect::<Vec<_>>()
            }
            None => {
                let labels = || Aspect::ALL.into_iter().map(Aspect::label).chain(["CORRECT"]);
                lines
                    .iter()
                    .copied()
                    .filter(|line| labels().all(|label| answer(line, label).is_none()))
                    .collect()
            }
        };
    text::line(&reported.join(" "), 500)
}

const THINKING: [&str; 3] = ["think", "thinking", "reasoning"];

/// The text without what the model thought aloud. A passage that never ends leaves nothing, since
/// the reply is not finished; one whose beginning is missing began with the text.
fn without_thinking(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut rest = String::new();
    let mut from = 0;
    while let Some((at, name, is_closing)) = next_tag(&lower, from) {
        if is_closing {
            rest.clear();
            from = at + name.len() + 3;
            continue;
        }
        rest.push_str(&text[from..at]);
        let end = format!("</{name}>");
        let Some(offset) = lower[at..].find(&end) else { return String::new() };
        from = at + offset + end.len();
    }
    rest + &text[from..]
}

fn next_tag(lower: &str, from: usize) -> Option<(usize, &'static str, bool)> {
    lower[from..].match_indices('<').find_map(|(offset, _)| {
        let inner = &lower[from + offset + 1..];
        let (inner, is_closing) =
            inner.strip_prefix('/').map_or((inner, false), |rest| (rest, true));
        let name = THINKING
            .into_iter()
            .find(|name| inner.strip_prefix(name).is_some_and(|rest| rest.starts_with('>')))?;
        Some((from + offset, name, is_closing))
    })
}

#[cfg(test)]
mod tests;
