"""Makes a graph of tasks from a question."""

from identity import Identity
from syrch_plugin import Catalog, Graph, Observation, Planner, PlannerHost, Problem, Step, Task


class {{name_pascal}}Planner(Identity, Planner):
    def plan(self, host: PlannerHost, problem: Problem, catalog: Catalog) -> Graph:
        """One task with the question. Further tasks name those that they need: `Task("B", "…", depends_on=["A"])`."""
        return Graph([Task("A", problem.question)])

    def next(
        self, host: PlannerHost, problem: Problem, catalog: Catalog, graph: Graph, seen: list[Observation], fresh: int
    ) -> Step:
        """Called after each observation; `seen[fresh:]` are new. The graph stays as it is."""
        return Step(memo=graph.memo)
