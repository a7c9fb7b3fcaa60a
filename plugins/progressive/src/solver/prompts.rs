//! The prompt of a step.

use syrch_plugin::brief::{Tried, feedback};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{clip, count, line};

use super::{Goal, Solve};
use crate::settings::{Accumulation, model_name};
use crate::solver::branch::{Branch, Status};

const STEPWISE: &str = "\nThe statement is built step by step. Write the whole statement as it \
                        stands after your step: extend the statement so far, keep what it does, \
                        and add your step alone. It must run as it is, also where later steps \
                        will add to it.";

// Bytes of the statement so far in a prompt.
const STATEMENT: usize = 8000;

impl<H: SolverHost> Solve<'_, H> {
    /// The request for a statement. Once one was tried, it is a repair that carries all earlier
    /// ones, what was wrong and what would mend it.
    pub(super) fn request(
        &self,
        branch: &Branch,
        goal: Goal,
        tried: &[Tried],
        sample: u32,
    ) -> Request {
        let subjects: Vec<String> =
            tried.iter().map(|tried| tried.sql.clone()).filter(|sql| !sql.is_empty()).collect();
        let purpose = if subjects.is_empty() { Purpose::Generate } else { Purpose::Repair };
        let more = format!("{}{}", self.step_text(branch, goal), feedback(tried));
        // Whole statements are no examples of a step.
        let ask = match goal {
            Goal::Step(_) if !self.is_whole(goal) => {
                let system = self.brief.instructions() + STEPWISE;
                Ask::new(purpose).system(system).user(self.brief.setting() + &more)
            }
            _ => self.brief.ask(purpose, self.brief.instructions(), &more),
        };
        ask.subjects(subjects)
            .model(model_name(&self.settings.model_sql))
            .max_tokens(self.settings.sql_max_tokens)
            .sample(sample)
            .sql()
    }

    /// Returns true if a statement for the goal is one for the task, as that of an only sub-task
    /// is.
    pub(super) fn is_whole(&self, goal: Goal) -> bool {
        goal == Goal::Whole || self.subtasks.len() == 1
    }

    /// Operations done in a branch, oldest first.
    pub(super) fn operations_done(branch: &Branch) -> Vec<String> {
        branch.context.done.iter().map(|(operation, _)| operation.clone()).collect()
    }

    fn step_text(&self, branch: &Branch, goal: Goal) -> String {
        let mut out = self.progress(branch);
        match goal {
            Goal::Whole if out.is_empty() => {}
            Goal::Whole => out += "Write the statement that answers the whole question.\n",
            Goal::Step(place) if !self.is_whole(goal) => {
                let subtask = &self.subtasks[place];
                let why = if subtask.reasoning.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", subtask.reasoning)
                };
                out += &format!("Your step now, {}: {}{why}\n", subtask.kind, subtask.operation);
                out += &self.later(branch, place);
            }
            Goal::Step(_) => {}
        }
        out
    }

    /// Returns the context that the branch has accumulated; empty at its beginning.
    pub(super) fn progress(&self, branch: &Branch) -> String {
        let context = &branch.context;
        let mut out = String::new();
        let shown = match self.settings.context {
            Accumulation::All => 0,
            Accumulation::Latest => context.done.len().saturating_sub(1),
        };
        for (place, (operation, rows)) in context.done.iter().enumerate().skip(shown) {
            out += &format!("Done, step {}: {operation} ({})\n", place + 1, count(*rows, "row"));
        }
        if let Some(made) = &branch.last {
            out += &format!("The statement so far:\n{}\n", clip(&made.candidate.sql, STATEMENT));
        }
        if self.settings.context == Accumulation::All {
            let lists = [
                ("It reads the tables", &context.tables),
                ("Its columns", &context.columns),
                ("Its filters", &context.filters),
                ("Keys between its tables", &context.joins),
            ];
            for (title, names) in lists.into_iter().filter(|(_, names)| !names.is_empty()) {
                out += &format!("{title}: {}\n", names.join(", "));
            }
        }
        if !context.missing.is_empty() {
            out += &format!("Not in it, since no attempt did: {}\n", context.missing.join("; "));
        }
        if out.is_empty() { out } else { format!("\n{out}") }
    }

    fn later(&self, branch: &Branch, place: usize) -> String {
        let later: Vec<String> = (0..self.subtasks.len())
            .filter(|at: &usize| *at != place && branch.states[*at].status == Status::Waiting)
            .map(|at| line(&self.subtasks[at].operation, 200))
            .collect();
        if later.is_empty() {
            return "It is the last step: afterwards the statement answers the whole question.\n"
                .to_owned();
        }
        format!("Later steps, not yours: {}\n", later.join("; "))
    }
}
