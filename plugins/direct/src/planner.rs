//! Makes the graph of one task.

use syrch_plugin::prelude::*;

use crate::Direct;

impl PlannerRole for Direct {
    fn plan(
        &self,
        _host: &impl PlannerHost,
        problem: &Problem,
        _catalog: &Catalog,
    ) -> Result<Graph, Failure> {
        Ok(Graph::single(Task::new("A", problem.question.trim())))
    }
}
