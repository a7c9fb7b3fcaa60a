//! The clarifier: asks about the tasks that failed.

use syrch_plugin::prelude::*;

use crate::{{name_pascal}}Plugin;

impl ClarifierRole for {{name_pascal}}Plugin {
    fn assess(
        &self,
        _host: &impl ClarifierHost,
        _problem: &Problem,
        _catalog: &Catalog,
        graph: &Graph,
        seen: &[Observation],
    ) -> Result<Vec<Question>, Failure> {
        Ok(seen
            .iter()
            .filter_map(|seen: &Observation| {
                let Ending::Failed(failure) = &seen.ending else {
                    return None;
                };
                let text = graph.task(&seen.task).map_or(&seen.task, |task| &task.text);
                Some(Question {
                    text: format!(
                        "\"{text}\" failed: {}. How else can it be said?",
                        failure.message
                    ),
                    choices: Vec::new(), // any answer
                    ambiguity: 0.5,
                })
            })
            .take(self.settings.most as usize)
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use syrch_plugin::fakes::FakeHost;

    #[test]
    fn failures_are_asked_about() {
        let catalog = Catalog { database: "shop".into(), ..Catalog::default() };
        let graph = Graph::single(Task::new("A", "the sums"));
        let seen = [Observation::ended(
            "A",
            Ending::Failed(failure(FailureKind::Model, "no idea")),
        )];
        let plugin = {{name_pascal}}Plugin::new(Settings::default());
        let questions = plugin
            .assess(
                &FakeHost::default(),
                &Problem::new("Sums?"),
                &catalog,
                &graph,
                &seen,
            )
            .unwrap();
        assert_eq!(
            questions[0].text,
            "\"the sums\" failed: no idea. How else can it be said?"
        );
    }
}
