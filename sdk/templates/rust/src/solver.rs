//! The solver: asks the model for one statement and runs it.

use syrch_plugin::attempt::{
    Chain, Ended, Trials, Written, candidate_id, nothing, too_large, written,
};
use syrch_plugin::brief::{Brief, PromptSize};
use syrch_plugin::prelude::*;

use crate::{{name_pascal}}Plugin;

impl SolverRole for {{name_pascal}}Plugin {
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        // The prompt has the tables, the question, the task, and the rows of the tasks on which
        // this one depends.
        let size = PromptSize {
            catalog_bytes: 48_000,
            parent_rows: 3,
        };
        let request = Brief::new(host, size, problem, catalog, task, parents).request(&[], 0);
        let statement = match written(host.complete(&request)) {
            Written::Statement(statement) => statement,
            // An outcome without a candidate is valid, for example if a provider without a model
            // abstains.
            Written::NoStatement(why) | Written::Abstained(why) => return Ok(nothing(host, &why)),
            Written::TooLarge => return Err(too_large()),
            Written::Failed(failure) => return Err(failure),
        };
        // Checks and runs the statement. More rows than usual count as a sign against it.
        let sql = statement.sql.clone();
        let mut trials = Trials::new(self.settings.most.into());
        trials.run(host, [sql.as_str()])?;
        let Some(trial) = trials.get(&sql) else {
            return Ok(Outcome::default());
        };
        let id = candidate_id(&task.id, 1);
        let candidate = Chain::new(1).candidate(id, "generate", statement, &trial.signals);
        host.propose(&candidate);
        match &trial.ended {
            Ended::Ran(_) => {
                host.keep(&candidate.id, "it ran");
                Ok(Outcome {
                    candidates: vec![candidate],
                    ..Outcome::default()
                })
            }
            Ended::Failed(why) => {
                host.discard(&candidate.id, why);
                Ok(nothing(host, why))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use syrch_plugin::fakes::{FakeHost, FakeRows};

    #[test]
    fn the_statement_of_the_model_is_the_candidate() {
        let mut host = FakeHost::default();
        host.model
            .reply_sql("SELECT count(*) FROM orders", Some(0.9));
        host.database.answer(
            "SELECT count(*) FROM orders",
            FakeRows::new(&["n"], vec![vec![Value::Integer(7)]]),
        );
        let catalog = Catalog { database: "shop".into(), ..Catalog::default() };
        let problem = Problem::new("How many orders?");
        let task = Task::new("A", "How many orders?");
        let plugin = {{name_pascal}}Plugin::new(Settings::default());
        let outcome = plugin.solve(&host, &problem, &catalog, &task, &[]).unwrap();
        assert_eq!(outcome.candidates[0].sql, "SELECT count(*) FROM orders");
        assert_eq!(host.trace.kept("A.1").as_deref(), Some("it ran"));
    }
}
