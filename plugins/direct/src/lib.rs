//! The planner `direct`: the whole question is one task. No model is called.

use syrch_plugin::prelude::*;

/// The planner.
pub struct Direct;

impl Plugin for Direct {
    const NAME: &'static str = "direct";
    const SUMMARY: &'static str = "takes the whole question as one task, without a model";
    type Settings = NoSettings;

    fn new(_: NoSettings) -> Self {
        Self
    }
}

impl PlannerRole for Direct {
    fn plan(&self, _host: &impl PlannerHost, problem: &Problem, _catalog: &Catalog) -> Result<Graph, Failure> {
        Ok(Graph::single(Task::new("A", problem.question.trim())))
    }
}

syrch_plugin::export!(Direct: planner);

#[cfg(test)]
mod tests {
    use super::*;
    use syrch_plugin::fakes::FakeHost;

    #[test]
    fn the_question_is_the_only_task_and_no_model_is_called() {
        let host = FakeHost::default();
        let problem = Problem::new(" How many orders? ");
        let catalog = Catalog { database: "shop".into(), dialect: Dialect::Sqlite, tables: Vec::new() };
        let graph = Direct::new(NoSettings::default()).plan(&host, &problem, &catalog).unwrap();
        assert_eq!((graph.tasks.len(), graph.answer.as_str()), (1, "A"));
        assert_eq!(graph.tasks[0].text, "How many orders?");
        assert_eq!(graph.tasks[0].operation, Operation::Solve);
        assert!(graph.tasks[0].depends_on.is_empty());
        assert!(host.model.requests().is_empty());
    }
}
