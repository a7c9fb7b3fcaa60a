//! The reward: a statement that ran is shown to a model, which answers six questions and says yes
//! or no.
//!
//! 1.0 when both pass, 0.0 when the judge says no, and no verdict when it cannot be read as one. A
//! step is judged against its own operation, since a part of the statement is no wrong answer to
//! the question.

pub(crate) mod verdict;

use serde_json::{Value, json};
use syrch_plugin::failure::llm_words;
use syrch_plugin::prelude::*;
use syrch_plugin::replies::{verdict_reply, verdict_schema};
use syrch_plugin::{prompt, text};

use crate::Progressive;
use crate::class::ErrorClass;
use crate::reward::verdict::{Aspect, read};
use crate::settings::{Settings, model_name};

/// The key of a candidate's extra under which the solver describes the step.
pub(crate) const STEP: &str = "step";

/// The extra that describes a step.
pub(crate) fn step_extra(operation: &str, done: &[String]) -> (String, String) {
    (STEP.to_owned(), json!({ "operation": operation, "done": done }).to_string())
}

impl RewardRole for Progressive {
    /// One verdict for each rival, requested concurrently. A failed call makes its verdict
    /// unavailable, and the role never fails.
    fn judge(
        &self,
        host: &impl RewardHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, Failure> {
        let judge = Judge { host, settings: &self.settings, problem, catalog, task };
        let requests: Vec<Request> = rivals.iter().map(|rival| judge.ask(rival, false)).collect();
        let replies = host.complete_all(&requests);
        Ok(rivals.iter().zip(replies).map(|(rival, reply)| judge.verdict(rival, reply)).collect())
    }
}

struct Judge<'a, H> {
    host: &'a H,
    settings: &'a Settings,
    problem: &'a Problem,
    catalog: &'a Catalog,
    task: &'a Task,
}

impl<H: RewardHost> Judge<'_, H> {
    fn verdict(&self, rival: &Rival, reply: Result<Reply, LlmError>) -> Verdict {
        match reply {
            Ok(reply) => verdict_from_text(&reply),
            // Providers without a model judge by the canonical schema, if at all.
            Err(LlmError::Unsupported(_)) => match self.host.complete(&self.ask(rival, true)) {
                Ok(reply) => verdict_from_document(verdict_reply(&reply)),
                Err(error) => Verdict::Unavailable(llm_words(&error)),
            },
            Err(error) => Verdict::Unavailable(llm_words(&error)),
        }
    }

    fn ask(&self, rival: &Rival, as_document: bool) -> Request {
        let ask = Ask::new(Purpose::Judge)
            .system(instructions(as_document))
            .user(self.user(rival))
            .subjects(vec![rival.candidate.sql.clone()])
            .model(model_name(&self.settings.model_judge))
            .temperature(self.settings.judgment_temperature)
            .max_tokens(self.settings.judgment_max_tokens);
        if as_document { ask.json(&verdict_schema()) } else { ask.text() }
    }

    fn user(&self, rival: &Rival) -> String {
        let profile = rival.results.profile();
        let names: Vec<String> = profile
            .columns
            .iter()
            .take(50)
            .map(|column| text::line(&column.column.name, 60))
            .collect();
        let least = if profile.truncated { "at least " } else { "" };
        format!(
            "Tables of the {} database:\n{}{}\n{}{}\nStatement:\n{}\n\n\
             It ran and gave {least}{} of {}.\n{}",
            self.catalog.syntax.title,
            prompt::catalog(self.catalog, self.settings.catalog_bytes as usize),
            self.relations(&rival.candidate.sql),
            prompt::problem(self.problem),
            self.request(&rival.candidate),
            text::clip(&rival.candidate.sql, 8000),
            text::count(profile.rows, "row"),
            names.join(", "),
            self.rows(rival, profile.rows),
        )
    }

    /// The results of earlier tasks that the statement reads.
    fn relations(&self, sql: &str) -> String {
        let tasks = self.host.check(sql).map(|facts| facts.tasks).unwrap_or_default();
        if tasks.is_empty() {
            return String::new();
        }
        let names: Vec<String> = tasks.iter().take(16).map(|name| text::line(name, 80)).collect();
        format!("Results of earlier parts, which may be read like tables: {}\n", names.join(", "))
    }

    /// Returns the request that the statement is judged against, if that is not the question.
    fn request(&self, candidate: &Candidate) -> String {
        if let Some(step) = step_of(candidate) {
            return step;
        }
        if self.task.text.trim() == self.problem.question.trim() {
            return String::new();
        }
        format!(
            "The question above is the setting. The request is this part of it: {}\n",
            text::line(&self.task.text, 2000)
        )
    }

    fn rows(&self, rival: &Rival, rows: u64) -> String {
        if rows == 0 || self.settings.judged_rows == 0 {
            return String::new();
        }
        match self.host.read(&rival.results, 0, self.settings.judged_rows) {
            Ok(page) if !page.rows.is_empty() => {
                format!("The first rows:\n{}", prompt::rows(&page))
            }
            _ => "The rows may not be shown: judge by the statement and the number of rows.\n"
                .to_owned(),
        }
    }
}

fn step_of(candidate: &Candidate) -> Option<String> {
    let (_, step) = candidate.extra.iter().find(|(key, _)| key == STEP)?;
    let step: Value = serde_json::from_str(step).ok()?;
    // Any solver may fill the extra, and with any text.
    let done = step.get("done")?.as_array()?.iter().filter_map(Value::as_str).take(64);
    let done: Vec<String> = done.map(|operation| text::line(operation, 400)).collect();
    let before = if done.is_empty() {
        String::new()
    } else {
        format!("Done before: {}.\n", done.join("; "))
    };
    Some(format!(
        "The statement is built step by step, and the question above is where it leads. What later \
         steps add is not missing yet.\n\
         {before}The request to judge is this step: {}\n",
        text::line(step.get("operation")?.as_str()?, 400)
    ))
}

fn instructions(as_document: bool) -> String {
    let questions: String = Aspect::ALL
        .iter()
        .map(|aspect| format!("{}: {}\n", aspect.label(), aspect.question()))
        .collect();
    let form = if as_document {
        "Answer with JSON alone: {\"accepted\":true or false,\"score\":1 or 0,\"reason\":\"…, \
         naming what is wrong\"}"
    } else {
        "Answer each on a line of its own that begins with its word, a colon, and YES or NO; after \
         a NO say what is wrong.\n\
         Then one line `CORRECT: YES` when all are YES, else `CORRECT: NO`, with nothing \
         else on it.\n\
         Then `REASONING:` with one or two sentences."
    };
    format!(
        "You judge whether an SQL statement does what was requested. It ran without an error, \
         which says nothing about its meaning. Be strict.\n\
         {questions}{form}"
    )
}

fn verdict_from_text(reply: &Reply) -> Verdict {
    match read(&reply.text, reply.truncated) {
        Err(why) => Verdict::Unavailable(format!("{why}: {}", text::line(&reply.text, 160))),
        Ok(reading) => {
            let checks: Vec<(String, bool)> = reading
                .answers
                .iter()
                .map(|(aspect, passed)| (aspect.check().to_owned(), *passed))
                .collect();
            opinion(reading.is_correct, reading.reasoning, checks)
        }
    }
}

fn verdict_from_document(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Accepted(said) => opinion(true, text::line(&said.reason, 500), said.checks),
        Verdict::Rejected(said) => opinion(false, text::line(&said.reason, 500), said.checks),
        unavailable @ Verdict::Unavailable(_) => unavailable,
    }
}

fn opinion(is_correct: bool, reasoning: String, mut checks: Vec<(String, bool)>) -> Verdict {
    checks.insert(0, ("ran".to_owned(), true));
    if is_correct {
        let reason = if reasoning.is_empty() { "the judge said yes".to_owned() } else { reasoning };
        return Verdict::Accepted(Opinion { score: 1.0, reason, checks });
    }
    let mut opinion = Opinion { score: 0.0, reason: reasoning, checks };
    let reported =
        if opinion.reason.is_empty() { "the judge said no" } else { opinion.reason.as_str() };
    opinion.reason = match ErrorClass::from_opinion(&opinion) {
        Some(class) => {
            let end = if reported.ends_with(['.', '!', '?', '…']) { "" } else { "." };
            format!("{}: {reported}{end} {}", class.name(), class.hint())
        }
        None => reported.to_owned(),
    };
    Verdict::Rejected(opinion)
}
