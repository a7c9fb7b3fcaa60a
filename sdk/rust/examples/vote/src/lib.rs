//! A solver that draws several statements and returns the result on which most of them agree.

use syrch_plugin::attempt::{
    Ended, Ran, Statement, Trials, Written, candidate_id, nothing, too_large, written,
};
use syrch_plugin::brief::{Brief, PromptSize};
use syrch_plugin::draws;
use syrch_plugin::prelude::*;

syrch_plugin::settings! {
    /// The settings of the plugin.
    pub struct Settings {
        /// How many statements are drawn.
        samples: u32 = 3, 1 ..= 16;
        /// The temperature of the model.
        temperature: f64 = 0.7, 0.0 ..= 2.0;
    }
}

syrch_plugin::plugin! {
    /// The plugin.
    pub struct Vote(Settings) = "vote", "returns the result on which most samples agree";
}

/// A statement that was drawn. `number` counts the draws from 1.
struct Draw {
    number: u32,
    statement: Statement,
}

/// Draws that ran and have the same result, by their places; the earliest represents them.
struct Group {
    places: Vec<usize>,
    confidence: f64,
}

impl Vote {
    /// The drawn statements, or why there is none.
    fn draw(&self, host: &impl SolverHost, brief: &Brief<'_>) -> Result<Vec<Draw>, String> {
        let numbers = 1..=self.settings.samples;
        let requests: Vec<Request> = numbers
            .clone()
            .map(|number: u32| draws::request(brief, &[], number, Some(self.settings.temperature)))
            .collect();
        let mut drawn = Vec::new();
        let mut wrong = None;
        for (number, reply) in numbers.zip(host.complete_all(&requests)) {
            let why = match written(reply) {
                Written::Statement(statement) => {
                    drawn.push(Draw { number, statement });
                    continue;
                }
                Written::NoStatement(why) | Written::Abstained(why) => why,
                Written::TooLarge => too_large().message,
                Written::Failed(failure) => failure.message,
            };
            wrong.get_or_insert(why);
        }
        if drawn.is_empty() {
            Err(format!("no statement: {}", wrong.unwrap_or_default()))
        } else {
            Ok(drawn)
        }
    }
}

impl SolverRole for Vote {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let size = PromptSize { catalog_bytes: 48_000, parent_rows: 3 };
        let brief = Brief::new(host, size, problem, catalog, task, parents);
        let drawn = match self.draw(host, &brief) {
            Ok(drawn) => drawn,
            Err(why) => return Ok(nothing(host, &why)),
        };
        let mut trials = Trials::new(u64::MAX);
        trials.run(host, drawn.iter().map(|draw| draw.statement.sql.as_str()))?;
        let results: Vec<&Ended> =
            drawn.iter().filter_map(|draw| Some(&trials.get(&draw.statement.sql)?.ended)).collect();
        let groups = groups(&drawn, &results);
        if groups.is_empty() {
            let wrong = results.iter().find_map(|ended| ended.wrong()).unwrap_or_default();
            report(host, task, &drawn, &results, &groups);
            return Ok(nothing(host, &format!("no statement ran: {wrong}")));
        }
        let candidates = report(host, task, &drawn, &results, &groups);
        let best = groups.iter().map(|group| candidates[group.places[0]].clone()).collect();
        Ok(Outcome { candidates: best, ..Outcome::default() })
    }
}

/// The groups of equal results, best first.
fn groups(drawn: &[Draw], results: &[&Ended]) -> Vec<Group> {
    let ran: Vec<(usize, &Ran)> = results
        .iter()
        .enumerate()
        .filter_map(|(place, ended)| Some((place, ended.ran()?)))
        .collect();
    let fingerprints: Vec<&str> = ran.iter().map(|(_, ran)| ran.fingerprint.as_str()).collect();
    let mut groups: Vec<Group> = draws::groups(&fingerprints)
        .into_iter()
        .map(|members: Vec<usize>| {
            let places: Vec<usize> = members.into_iter().map(|member| ran[member].0).collect();
            let stated = places.iter().filter_map(|place| drawn[*place].statement.confidence);
            Group { confidence: stated.fold(0.0, f64::max), places }
        })
        .collect();
    // The sort is stable, so that equally good groups stay in the order of their earliest members.
    groups.sort_by(|one, other| {
        other.places.len().cmp(&one.places.len()).then(other.confidence.total_cmp(&one.confidence))
    });
    groups
}

/// Reports every draw and what became of it. Returns their candidates.
fn report(
    host: &impl Trace,
    task: &Task,
    drawn: &[Draw],
    results: &[&Ended],
    groups: &[Group],
) -> Vec<Candidate> {
    let samples: usize = groups.iter().map(|group| group.places.len()).sum();
    let group_of = |place: usize| groups.iter().position(|group| group.places.contains(&place));
    let candidate = |(place, draw): (usize, &Draw)| {
        let mut candidate = Candidate {
            id: candidate_id(&task.id, draw.number),
            origin: "generate".to_owned(),
            sql: draw.statement.sql.clone(),
            raw_confidence: draw.statement.confidence,
            ..Candidate::default()
        };
        if let Some(group) = group_of(place) {
            let agreeing = groups[group].places.len();
            candidate.rationale = Some(format!("{agreeing} of {samples} results"));
            candidate.signals.samples = samples as u32;
            candidate.signals.agreeing = agreeing as u32;
        }
        candidate
    };
    let candidates: Vec<Candidate> = drawn.iter().enumerate().map(candidate).collect();
    candidates.iter().for_each(|candidate| host.propose(candidate));
    for (place, candidate) in candidates.iter().enumerate() {
        let reason = candidate.rationale.clone().unwrap_or_default();
        match group_of(place) {
            None => host.discard(&candidate.id, results[place].wrong().unwrap_or_default()),
            Some(group) if groups[group].places[0] != place => {
                let first = &candidates[groups[group].places[0]];
                host.discard(&candidate.id, &format!("the same result as {}", first.id));
            }
            Some(0) => host.keep(&candidate.id, &reason),
            Some(_) => host.discard(&candidate.id, &reason),
        }
    }
    candidates
}

syrch_plugin::export!(Vote: solver);

#[cfg(test)]
mod tests {
    use super::*;
    use syrch_plugin::fakes::{FakeHost, FakeRows, reply};
    use syrch_plugin::serde_json::json;

    fn host(statements: &[(&str, f64)]) -> FakeHost {
        let mut host = FakeHost::default();
        for (sql, confidence) in statements {
            let parsed = json!({ "sql": sql, "confidence": confidence });
            host.model.script(&Purpose::Generate, Ok(reply(sql, Some(&parsed))));
        }
        let rows = |number: i64| FakeRows::new(&["n"], vec![vec![Value::Integer(number)]]);
        host.database
            .answer("SELECT 1", rows(1))
            .answer("SELECT 2", rows(2))
            .answer("SELECT 1 + 1", rows(2));
        host
    }

    fn solve(host: &FakeHost) -> Outcome {
        let catalog = Catalog { database: "shop".into(), ..Catalog::default() };
        let task = Task::new("A", "How many?");
        Vote::new(Settings::default())
            .solve(host, &Problem::new("How many?"), &catalog, &task, &[])
            .unwrap()
    }

    #[test]
    fn the_result_of_most_draws_wins() {
        let host = host(&[("SELECT 1", 0.9), ("SELECT 2", 0.5), ("SELECT 1 + 1", 0.6)]);
        let outcome = solve(&host);
        let found: Vec<(&str, u32)> =
            outcome.candidates.iter().map(|one| (one.sql.as_str(), one.signals.agreeing)).collect();
        assert_eq!(found, [("SELECT 2", 2), ("SELECT 1", 1)]);
        assert_eq!(host.trace.kept("A.2").as_deref(), Some("2 of 3 results"));
        assert_eq!(host.trace.discarded("A.3").as_deref(), Some("the same result as A.2"));
        assert_eq!(host.trace.discarded("A.1").as_deref(), Some("1 of 3 results"));
    }

    #[test]
    fn equally_many_votes_are_decided_by_the_stated_confidence() {
        let outcome = solve(&host(&[("SELECT 1", 0.5), ("SELECT 2", 0.9), ("SELECT 3", 1.0)]));
        assert_eq!(outcome.candidates[0].sql, "SELECT 2");
    }

    #[test]
    fn without_a_statement_there_is_a_warning() {
        let host = host(&[]);
        assert_eq!(solve(&host).candidates, []);
        assert_eq!(
            host.trace.notes(),
            ["no statement: the model provider cannot do this: nothing scripted"]
        );
    }
}
