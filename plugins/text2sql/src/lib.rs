//! The solver `text2sql`: schema, one statement, and repairs by the error, as PocketFlow's text-to-SQL workflow has it; with the judge,
//! the majority vote and the self-healing of its neighbours for those who turn them on.
//!
//! `schema` writes the tables, `ask` the prompts, `work` runs the tries, `judge` asks whether a statement answers the question, `vote`
//! chooses among the tries.

mod ask;
mod judge;
mod schema;
#[cfg(test)]
mod tests;
mod vote;
mod work;

use syrch_plugin::prelude::*;

use crate::ask::Prompts;
use crate::work::Work;

syrch_plugin::settings! {
    /// How often it tries, and what it looks at.
    pub struct Habits {
        /// Statements that one try executes at most, as far as the policy's attempts allow: 3 executions are 2 repairs.
        max_debug_attempts: u32 = 3, 1 ..= 20;
        /// Whether a repair is shown all earlier statements of its try, and not the last alone.
        self_healing: bool = false;
        /// Tries, of which the most common result wins; a try that fails is dropped.
        votes: u32 = 1, 1 ..= 50;
        /// Whether a judge looks at a statement that ran, and one that it does not pass is written anew. Where it cannot judge, which is
        /// neither a yes nor a no, the statement stands with a warning.
        judge: bool = false;
        /// Statements of one try that the judge looks at; when none of them passes, the try has failed.
        judge_attempts: u32 = 3, 1 ..= 10;
        /// The judge's score, of 10, from which on a statement passes whatever the verdict.
        pass_score: f64 = 7.0, 0.0 ..= 10.0;
        /// The confidence of a single try without rows.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// The confidence of a single try with rows.
        unstated_with_rows: f64 = 0.85, 0.0 ..= 1.0;
        /// Rows above this number count as more than a good answer has.
        overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
        /// Rows of a result that the judge sees, and of each finished dependency that stand in the prompt, as far as they are granted.
        shown_rows: u32 = 3, 0 ..= 50;
        /// Bytes of a prompt that the schema may fill.
        schema_bytes: u32 = 48_000, 500 ..= 200_000;
    }
}

/// The solver.
pub struct Text2Sql {
    habits: Habits,
}

impl Plugin for Text2Sql {
    const NAME: &'static str = "text2sql";
    const SUMMARY: &'static str = "writes one statement from the schema, executes it, and repairs it by the error";
    type Settings = Habits;

    fn new(habits: Habits) -> Self {
        Self { habits }
    }
}

impl SolverRole for Text2Sql {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let prompts = Prompts::new(host, &self.habits, problem, catalog, task, parents);
        let done = Work::new(host, &self.habits, task, prompts).run();
        vote::outcome(host, &self.habits, task, done)
    }
}

syrch_plugin::export!(Text2Sql: solver);
