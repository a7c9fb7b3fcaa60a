//! The planner with fake ports.

use syrch_plugin::fakes::FakeHost;
use syrch_plugin::prelude::*;

use crate::Direct;

#[test]
fn the_question_is_the_only_task_and_no_model_is_called() {
    let host = FakeHost::default();
    let problem = Problem::new(" How many orders? ");
    let catalog = Catalog {
        database: "shop".into(),
        dialect: Dialect::Sqlite,
        tables: Vec::new(),
        ..Catalog::default()
    };
    let graph = Direct::new(NoSettings::default()).plan(&host, &problem, &catalog).unwrap();
    assert_eq!((graph.tasks.len(), graph.answer.as_str()), (1, "A"));
    assert_eq!(graph.tasks[0].text, "How many orders?");
    assert_eq!(graph.tasks[0].operation, Operation::Solve);
    assert!(graph.tasks[0].depends_on.is_empty());
    assert!(host.model.requests().is_empty());
}
