//! The planner: first a task for each table that the question names, then the question itself.

use syrch_plugin::prelude::*;

use crate::{{name_pascal}}Plugin;

impl PlannerRole for {{name_pascal}}Plugin {
    fn plan(
        &self,
        _host: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Graph, Failure> {
        let question = problem.question.to_lowercase();
        let named = catalog
            .tables
            .iter()
            .filter(|table| question.contains(&table.name.to_lowercase()));
        let task = |(place, table): (usize, &Table)| {
            Task::new(
                format!("T{}", place + 1),
                format!("{} (table {})", problem.question, table.name),
            )
        };
        let mut tasks: Vec<Task> = named
            .take(self.settings.most as usize)
            .enumerate()
            .map(task)
            .collect();
        let depends_on = tasks.iter().map(|task| task.id.clone()).collect();
        // A tolerant task runs although a dependency failed.
        tasks.push(Task {
            depends_on,
            tolerant: true,
            ..Task::new("A", &problem.question)
        });
        Ok(Graph {
            tasks,
            answer: "A".to_owned(),
            memo: None,
        })
    }

    // `next` is called after each observation and may change the graph. Without it the graph stays
    // as it is.
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use syrch_plugin::fakes::FakeHost;

    #[test]
    fn the_question_comes_last() {
        let tables = vec![Table {
            name: "orders".into(),
            ..Table::default()
        }];
        let catalog = Catalog { database: "shop".into(), tables, ..Catalog::default() };
        let plugin = {{name_pascal}}Plugin::new(Settings::default());
        let graph = plugin
            .plan(
                &FakeHost::default(),
                &Problem::new("How many orders?"),
                &catalog,
            )
            .unwrap();
        assert_eq!(graph.tasks[0].text, "How many orders? (table orders)");
        assert_eq!(
            (graph.answer.as_str(), graph.tasks[1].depends_on.as_slice()),
            ("A", &["T1".to_owned()][..])
        );
    }
}
