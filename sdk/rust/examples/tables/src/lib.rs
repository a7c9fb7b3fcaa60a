//! A planner that may look at each table of the question by itself first.

use syrch_plugin::prelude::*;

syrch_plugin::settings! {
    /// The settings of the plugin.
    pub struct Settings {
        /// Whether each table that the question names gets a task of its own.
        per_table: bool = false;
    }
}

syrch_plugin::plugin! {
    /// The plugin.
    pub struct Tables(Settings) = "tables", "plans one task, or one for each table of the question";
}

impl PlannerRole for Tables {
    fn plan(
        &self,
        _: &impl PlannerHost,
        problem: &Problem,
        catalog: &Catalog,
    ) -> Result<Graph, Failure> {
        let question = problem.question.to_lowercase();
        let named =
            catalog.tables.iter().filter(|table| question.contains(&table.name.to_lowercase()));
        let mut tasks: Vec<Task> = Vec::new();
        if self.settings.per_table {
            tasks.extend(named.enumerate().map(|(place, table): (usize, &Table)| {
                Task::new(
                    format!("T{}", place + 1),
                    format!("{} (table {})", problem.question, table.name),
                )
            }));
        }
        let depends_on: Vec<String> = tasks.iter().map(|task| task.id.clone()).collect();
        let tolerant = !depends_on.is_empty();
        tasks.push(Task { depends_on, tolerant, ..Task::new("A", &problem.question) });
        Ok(Graph { tasks, answer: "A".to_owned(), memo: None })
    }
}

syrch_plugin::export!(Tables: planner);

#[cfg(test)]
mod tests {
    use super::*;
    use syrch_plugin::fakes::FakeHost;

    fn graph(per_table: bool) -> Graph {
        let table = |name: &str| Table { name: name.into(), ..Table::default() };
        let tables = vec![table("customers"), table("Orders"), table("notes")];
        let catalog = Catalog { database: "shop".into(), tables, ..Catalog::default() };
        let problem = Problem::new("Which customers have no orders?");
        Tables::new(Settings { per_table }).plan(&FakeHost::default(), &problem, &catalog).unwrap()
    }

    #[test]
    fn each_table_of_the_question_has_a_task() {
        assert_eq!(graph(false), Graph::single(Task::new("A", "Which customers have no orders?")));
        let graph = graph(true);
        let texts: Vec<&str> = graph.tasks.iter().map(|task| task.text.as_str()).collect();
        assert_eq!(
            texts[..2],
            [
                "Which customers have no orders? (table customers)",
                "Which customers have no orders? (table Orders)"
            ]
        );
        assert_eq!(graph.tasks[2].depends_on, ["T1", "T2"]);
        assert!(graph.tasks[2].tolerant && graph.answer == "A");
    }
}
