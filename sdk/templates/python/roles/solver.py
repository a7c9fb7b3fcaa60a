"""Finds a statement that solves a task."""

from identity import Identity
from syrch_plugin import Catalog, Outcome, Parent, Problem, Solver, SolverHost, SolverSettings, Task
from syrch_plugin.attempt import Abstained, Chain, NoStatement, Ran, Trials, ask_statement, candidate_id, nothing
from syrch_plugin.brief import Brief


class {{name_pascal}}Solver(Identity, Solver):
    settings: SolverSettings

    def solve(self, host: SolverHost, problem: Problem, catalog: Catalog, task: Task, parents: list[Parent]) -> Outcome:
        """Asks the model for one statement and runs it."""
        # The prompt has the tables, the question, the task, and the rows of the tasks on which this one depends.
        request = Brief(host, self.settings, problem, catalog, task, parents).request()
        try:
            statement = ask_statement(host, request)
        except (NoStatement, Abstained) as why:
            # An outcome without a candidate is valid, for example if a provider without a model abstains.
            return nothing(host, str(why))
        trials = Trials(self.settings.overflow_rows)
        trials.run(host, [statement.sql])
        trial = trials.get(statement.sql)
        if trial is None:
            return Outcome()
        candidate = Chain(1).candidate(candidate_id(task.id, 1), "generate", statement, trial.signals)
        host.propose(candidate)
        return Outcome([candidate]) if isinstance(trial.ended, Ran) else nothing(host, trial.ended)
