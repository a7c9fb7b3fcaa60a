//! A planner and a solver in Rust: one task with the problem's question, one statement for it.

use syrch_plugin::prelude::*;

const STATEMENT: &str = "SELECT 1 AS n";

struct Both;

impl Plugin for Both {
    const NAME: &'static str = "toolchain-rust";
    const SUMMARY: &'static str = "one task and one statement, from Rust";
    type Settings = NoSettings;

    fn new(_: NoSettings) -> Self {
        Self
    }
}

impl PlannerRole for Both {
    fn plan(&self, _: &impl PlannerHost, problem: &Problem, _: &Catalog) -> Result<Graph, Failure> {
        Ok(Graph::single(Task::new("answer", &problem.question)))
    }
}

impl SolverRole for Both {
    fn solve(
        &self, host: &impl SolverHost, _: &Problem, _: &Catalog, _: &Task, _: &[Parent],
    ) -> Result<Outcome, Failure> {
        let results = host.run(STATEMENT).map_err(|error| Failure {
            kind: FailureKind::Database,
            message: format!("{STATEMENT}: {}", error.message),
            retryable: false,
        })?;
        let profile = results.profile();
        let all_null = |column: &&ColumnProfile| profile.rows > 0 && column.nulls == profile.rows;
        let signals = Signals {
            attempts: 1,
            max_attempts: host.policy().max_attempts,
            empty_result: profile.rows == 0,
            null_columns: profile.columns.iter().filter(all_null).count() as u32,
            overflow: profile.truncated,
            ..Signals::default()
        };
        let candidate = Candidate {
            id: "rust-1".to_owned(),
            parents: Vec::new(),
            origin: Self::NAME.to_owned(),
            sql: STATEMENT.to_owned(),
            raw_confidence: Some(0.5),
            confidence: None,
            score: None,
            rationale: Some("always the same statement".to_owned()),
            signals,
            extra: Vec::new(),
        };
        host.propose(&candidate);
        Ok(Outcome { candidates: vec![candidate], subtasks: Vec::new(), ask: None, memo: None })
    }
}

syrch_plugin::export!(Both: planner, solver);
