"""A planner that may look at each table of the question by itself first."""

from syrch_plugin import Catalog, Graph, Planner, PlannerHost, Problem, Settings, Task, export, setting


class TablesSettings(Settings):
    """What the user may set."""

    per_table: bool = setting(False, "Whether each table that the question names gets a task of its own.")


class Tables(Planner):
    name = "tables"
    summary = "plans one task, or one for each table of the question"
    settings: TablesSettings

    def plan(self, host: PlannerHost, problem: Problem, catalog: Catalog) -> Graph:
        tasks = self.table_tasks(problem, catalog) if self.settings.per_table else []
        answer = Task("A", problem.question, depends_on=[task.id for task in tasks], tolerant=bool(tasks))
        return Graph([*tasks, answer])

    def table_tasks(self, problem: Problem, catalog: Catalog) -> list[Task]:
        question = problem.question.lower()
        named = [table.name for table in catalog.tables if table.name.lower() in question]
        return [Task(f"T{number}", f"{problem.question} (table {name})") for number, name in enumerate(named, 1)]


export(Tables)
