//! The doubts about an answer: ambiguity, and the penalties of syrch's heuristics, over the tasks
//! that the answer rests on.

use syrch_plugin::prelude::*;
use syrch_plugin::score::{AmbiguityWeights, ambiguity_of};
use syrch_plugin::text::{count, line};

use crate::Settings;
use crate::aggregator::task_title;

/// A task that the answer rests on, and what became of it.
struct Step<'a> {
    task: &'a Task,
    seen: Option<&'a Observation>,
    done: Option<&'a Finished>,
}

impl Step<'_> {
    fn rows(&self) -> Option<u64> {
        let seen = self.seen.and_then(|seen| seen.profile.as_ref()).map(|profile| profile.rows);
        seen.or_else(|| self.done.map(|done| done.results.profile().rows))
    }

    fn is_empty(&self) -> bool {
        matches!(self.seen.map(|seen| &seen.ending), Some(Ending::Empty)) || self.rows() == Some(0)
    }

    fn trouble(&self) -> Option<String> {
        match &self.seen?.ending {
            Ending::Failed(failure) => {
                Some(format!("{} failed: {}", self.task.id, line(&failure.message, 300)))
            }
            Ending::Skipped(why) => {
                Some(format!("{} was skipped: {}", self.task.id, line(why, 300)))
            }
            Ending::Cancelled => Some(format!("{} was cancelled", self.task.id)),
            Ending::Solved | Ending::Empty | Ending::Other(_) => None,
        }
    }
}

/// The tasks that the answer rests on, in the graph's order; tasks that only choose are not steps
/// of their own.
pub(crate) struct Support<'a>(Vec<Step<'a>>);

impl<'a> Support<'a> {
    pub(crate) fn new(graph: &'a Graph, finished: &'a [Finished], seen: &'a [Observation]) -> Self {
        let needed = ancestry(graph);
        Self(
            graph
                .tasks
                .iter()
                .filter(|task: &&Task| {
                    needed.contains(&task.id.as_str()) && task.operation == Operation::Solve
                })
                .map(|task: &'a Task| Step {
                    task,
                    seen: seen.iter().rfind(|seen| seen.task == task.id),
                    done: finished.iter().find(|done| done.task.id == task.id),
                })
                .collect(),
        )
    }

    /// One line for each task: what it was, and what it found.
    pub(crate) fn steps(&self) -> Vec<String> {
        self.0.iter().map(|step| format!("{} — {}", task_title(step.task), outcome(step))).collect()
    }
}

fn outcome(step: &Step<'_>) -> String {
    if let Some(trouble) = step.trouble() {
        return trouble;
    }
    let rows = step.rows().map_or("no result".to_owned(), |rows| count(rows, "row"));
    match step.done {
        Some(done) => {
            format!("{rows}, confidence {:.2} ({})", done.candidate.sureness(), done.candidate.id)
        }
        None => rows,
    }
}

/// The answering task and all that it depends on, directly or not.
fn ancestry(graph: &Graph) -> Vec<&str> {
    let mut needed: Vec<&str> = vec![graph.answer.as_str()];
    let mut next = 0;
    while let Some(id) = needed.get(next).copied() {
        next += 1;
        let Some(task) = graph.task(id) else { continue };
        for dependency in &task.depends_on {
            if !needed.contains(&dependency.as_str()) {
                needed.push(dependency);
            }
        }
    }
    needed
}

/// The deductions from the confidence, with their reasons in words.
pub(crate) struct Doubts {
    /// 0 to the cap.
    pub(crate) penalty: f64,
    /// The highest of all tasks, 0 to 1.
    pub(crate) ambiguity: f64,
    pub(crate) caveats: Vec<String>,
}

impl Settings {
    pub(crate) fn doubts(
        &self,
        problem: &Problem,
        support: &Support<'_>,
        answer: &Profile,
        best: &str,
    ) -> Doubts {
        let mut penalty = 0.0;
        let mut caveats = Vec::new();
        let mut doubt = |weight: f64, caveat: String| {
            penalty += weight;
            caveats.push(caveat);
        };
        for step in &support.0 {
            if let Some(trouble) = step.trouble() {
                doubt(self.error, trouble);
            } else if step.is_empty() {
                doubt(self.empty, format!("{} has no rows", step.task.id));
            }
            let is_answer = step.task.id == best;
            let asked = top_n(&step.task.text)
                .or_else(|| if is_answer { top_n(&problem.question) } else { None });
            let rows = if is_answer { Some(answer.rows) } else { step.rows() };
            if let (Some(asked), Some(rows)) = (asked, rows)
                && asked != rows
            {
                doubt(
                    self.top_n,
                    format!(
                        "{} asks for {asked}, and the result has {}",
                        step.task.id,
                        count(rows, "row")
                    ),
                );
            }
        }
        if lacks_year(&problem.question, answer) {
            doubt(
                self.by_year,
                "the question says \"by year\", and the answer has no column for it".to_owned(),
            );
        }
        if answer.truncated {
            caveats.push(format!("the result was cut at {}", count(answer.rows, "row")));
        }
        caveats.extend(answer.warnings.iter().map(|warning| line(warning, 300)));
        Doubts { penalty: penalty.min(self.cap), ambiguity: ambiguity(support), caveats }
    }
}

fn ambiguity(support: &Support<'_>) -> f64 {
    let weights = AmbiguityWeights::default();
    let scores = support.0.iter().filter_map(|step| ambiguity_of(&weights, step.seen?));
    scores.fold(0.0, f64::max)
}

/// N of the first `top N` or `bottom N` in a text. A share such as `top 10%` is no number of rows,
/// and neither is N in each of several groups.
fn top_n(text: &str) -> Option<u64> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    if words.iter().any(|word| matches!(*word, "each" | "every" | "per")) {
        return None;
    }
    words.windows(2).enumerate().find_map(|(index, pair)| {
        let word = pair[0].trim_matches(|c: char| !c.is_alphanumeric());
        let number = pair[1].trim_end_matches(['.', ',', ';', ':', '?', '!', ')', '"', '\'']);
        let is_share = words
            .get(index + 2)
            .is_some_and(|next| next.starts_with("percent") || next.starts_with('%'));
        if is_share || !matches!(word, "top" | "bottom") { None } else { number.parse().ok() }
    })
}

fn lacks_year(question: &str, answer: &Profile) -> bool {
    question.to_lowercase().contains("by year")
        && !answer
            .columns
            .iter()
            .any(|column: &ColumnProfile| column.column.name.to_lowercase().contains("year"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_n_is_a_number_of_rows() {
        assert_eq!(top_n("Top 5 customers"), Some(5));
        assert_eq!(top_n("the (bottom 12) of them?"), Some(12));
        assert_eq!(top_n("list the top 3."), Some(3));
        for text in [
            "top 10% of customers",
            "top 10 percent",
            "top customers",
            "stop 5",
            "laptop 5",
            "",
            "top 2 products in each category",
            "Top 2 products per country by revenue",
            "for every year the bottom 3 months",
        ] {
            assert_eq!(top_n(text), None, "{text}");
        }
    }
}
