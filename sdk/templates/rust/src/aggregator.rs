//! The aggregator: makes the answer from the task that the graph names.

use syrch_plugin::prelude::*;
use syrch_plugin::text::count;

use crate::{{name_pascal}}Plugin;

impl AggregatorRole for {{name_pascal}}Plugin {
    fn aggregate(
        &self,
        _host: &impl AggregatorHost,
        _problem: &Problem,
        graph: &Graph,
        finished: &[Finished],
        _seen: &[Observation],
    ) -> Result<Option<Answer>, Failure> {
        // Nothing here answers the question.
        let Some(last) = finished
            .iter()
            .find(|finished| finished.task.id == graph.answer)
        else {
            return Ok(None);
        };
        let rows = last.results.profile().rows;
        let is_long = rows > u64::from(self.settings.most);
        Ok(Some(Answer {
            text: count(rows, "row"),
            task: last.task.id.clone(),
            candidate: Some(last.candidate.id.clone()),
            sql: None, // or a statement that names finished tasks in FROM, as `finished.name`
            confidence: last.candidate.sureness(),
            basis: finished
                .iter()
                .map(|finished| finished.task.text.clone())
                .collect(),
            caveats: is_long
                .then(|| "the result is long".to_owned())
                .into_iter()
                .collect(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use syrch_plugin::fakes::{FakeHost, FakeRows};

    #[test]
    fn a_long_result_has_a_caveat() {
        let task = Task::new("A", "Who?");
        let finished = Finished {
            name: "t_A".to_owned(),
            task: task.clone(),
            candidate: Candidate {
                confidence: Some(0.75),
                ..Candidate::default()
            },
            others: Vec::new(),
            results: FakeRows::new(&["n"], Vec::new()).counted(3).handle(),
        };
        let plugin = {{name_pascal}}Plugin::new(Settings { most: 2 });
        let host = FakeHost::default();
        let graph = Graph::single(task);
        let answer = plugin
            .aggregate(&host, &Problem::new("Who?"), &graph, &[finished], &[])
            .unwrap()
            .unwrap();
        assert_eq!((answer.text.as_str(), answer.confidence), ("3 rows", 0.75));
        assert_eq!(answer.caveats, ["the result is long"]);
    }
}
