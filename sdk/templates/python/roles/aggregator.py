"""Makes the answer from the finished tasks."""

from typing import Optional

from identity import Identity
from syrch_plugin import Aggregator, AggregatorHost, Answer, Finished, Graph, Observation, Problem
from syrch_plugin.text import count


class {{name_pascal}}Aggregator(Identity, Aggregator):
    def aggregate(
        self, host: AggregatorHost, problem: Problem, graph: Graph, finished: list[Finished], seen: list[Observation]
    ) -> Optional[Answer]:
        """The result of the task that answers the question; none if it has none."""
        last = next((one for one in finished if one.task.id == graph.answer), None)
        if last is None:
            return None
        text = f"The result has {count(last.results.profile().rows, 'row')}."
        return Answer(text, last.task.id, last.candidate.id, confidence=last.candidate.sureness)
