"""Decides what to ask the user."""

from identity import Identity
from syrch_plugin import Catalog, Clarifier, ClarifierHost, Graph, Observation, Problem, Question


class {{name_pascal}}Clarifier(Identity, Clarifier):
    def assess(
        self, host: ClarifierHost, problem: Problem, catalog: Catalog, graph: Graph, seen: list[Observation]
    ) -> list[Question]:
        """Asks which table is meant, if no task has a result."""
        if any(observation.is_success for observation in seen) or len(catalog.tables) < 2:
            return []
        return [Question("Which table is the question about?", catalog.table_names()[:5], ambiguity=0.8)]
