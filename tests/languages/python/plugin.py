"""The plugin of the conformance cases: it answers what its case says, in all eight roles and in the same way in every language."""

from collections import Counter
from dataclasses import replace
from typing import Any, Callable, Literal, Optional, Union

from syrch_plugin import (
    Accepted,
    AddTask,
    Aggregator,
    AggregatorHost,
    Answer,
    AnswerBy,
    Attempt,
    Calibrator,
    CancelTask,
    Cancelled,
    Candidate,
    Catalog,
    Clarifier,
    ClarifierHost,
    Edit,
    Empty,
    Failed,
    Failure,
    Finish,
    Finished,
    Graph,
    Hits,
    Linked,
    Linker,
    LinkerHost,
    ModelError,
    Observation,
    Outcome,
    Parent,
    Plan,
    Planner,
    PlannerHost,
    PortError,
    Problem,
    Proposal,
    Question,
    Rejected,
    Relation,
    Relevant,
    Reply,
    ResultSet,
    RetrievalQuery,
    Reward,
    RewardHost,
    Rewriter,
    RewriterHost,
    Rival,
    Settings,
    Signals,
    Skipped,
    Solved,
    Solver,
    SolverHost,
    SqlError,
    Step,
    Task,
    Trial,
    Unavailable,
    UpdateTask,
    Verdict,
    export,
    json_text,
    setting,
)
from syrch_plugin.ask import Ask
from syrch_plugin.draws import await_all
from syrch_plugin.replies import SqlReply, sql_reply
from syrch_plugin.text import clamp01, real

Habit = Literal["echo", "raise", "fail", "loop", "large", "wrong", "ports", "parallel", "cancel"]


class Habits(Settings):
    """The settings of a case."""

    habit: Habit = setting("echo", "The behaviour of the roles.")
    size: int = setting(3, "A number of things, by habit.", least=0, most=1_000_000)
    text: str = setting("", "A text, by habit.")
    share: float = setting(0.5, "A confidence, score or ambiguity.", least=0.0, most=1.0)
    flag: bool = setting(False, "A switch, by habit.")


class Conformance(Linker, Planner, Solver, Calibrator, Reward, Clarifier, Aggregator, Rewriter):
    name = "conformance"
    version = "1.0.0"
    summary = "answers what its case says"
    settings: Habits

    def ends(self) -> None:
        """The habits with which no role returns."""
        if self.settings.habit == "raise":
            raise RuntimeError(self.settings.text)
        if self.settings.habit == "fail":
            raise Failure(self.settings.text, "unsupported", retryable=self.settings.flag)
        while self.settings.habit == "loop":
            pass

    @property
    def large(self) -> str:
        return "x" * (self.settings.size * 1024)

    def link(self, host: LinkerHost, problem: Problem, catalog: Catalog) -> Linked:
        self.ends()
        tables = [
            Relevant(table.name, [column.name for column in table.columns], self.settings.share, table.comment or "")
            for table in catalog.tables
        ]
        for relevant in tables:
            if self.settings.habit == "large":
                relevant.reason = self.large
            if self.settings.habit == "wrong":
                relevant.score = 2.0
        return Linked(tables, problem.hints)

    def plan(self, host: PlannerHost, problem: Problem, catalog: Catalog) -> Graph:
        self.ends()
        tasks: list[Task] = []
        for number, (id, text) in enumerate(problem.answers):
            depends_on = [tasks[-1].id] if tasks else []
            tasks.append(Task(id, text, depends_on, join="all-of", context=json_text({"n": number})))
        tasks = tasks or [Task("A", problem.question)]
        if self.settings.habit == "large":
            tasks = [replace(task, text=self.large) for task in tasks]
        if self.settings.habit == "wrong":
            tasks = [Task("a b", problem.question)]
        return Graph(tasks, memo=json_text({"question": problem.question}))

    def next(
        self, host: PlannerHost, problem: Problem, catalog: Catalog, graph: Graph, seen: list[Observation], fresh: int
    ) -> Step:
        self.ends()
        return Step([edit for observation in seen[fresh:] for edit in self.edits(graph, observation)], graph.memo)

    def edits(self, graph: Graph, observation: Observation) -> list[Edit]:
        match observation.ending:
            case Solved():
                return [Finish()]
            case Failed(failure):
                return [AddTask(Task(f"{observation.task}-again", failure.message))]
            case Empty():
                return [AnswerBy(observation.task)]
            case Skipped():
                return [CancelTask(observation.task)]
            case Cancelled():
                task = graph.task(observation.task)
                return [UpdateTask(replace(task, priority=2.0))] if task else []
            case _:
                return []

    def solve(self, host: SolverHost, problem: Problem, catalog: Catalog, task: Task, parents: list[Parent]) -> Outcome:
        self.ends()
        match self.settings.habit:
            case "ports":
                memo = Ports(host, self.settings, problem, catalog, task).called()
                outcome = Outcome([named("only", task.text)], memo=json_text(memo))
            case "parallel":
                outcome = Outcome(self.parallel(host, problem))
            case "cancel":
                outcome = Outcome([self.cancelled(host, problem)])
            case _:
                outcome = self.echoed(task, parents)
        for candidate in outcome.candidates:
            if self.settings.habit == "large":
                candidate.rationale = self.large
            is_wrong, is_typed = self.settings.habit == "wrong", self.settings.text != "another type"
            if is_wrong and is_typed:
                candidate.id = ""
            host.propose(candidate)
            if is_wrong and not is_typed:
                candidate.sql = 7  # type: ignore[assignment]
        return outcome

    def echoed(self, task: Task, parents: list[Parent]) -> Outcome:
        candidates = [candidate for parent in parents for candidate in self.candidate(parent)]
        if not parents:
            candidates.append(named("only", "SELECT 1", self.settings.share))
        text = self.settings.text
        ask = Question(text, ["yes", "no"], self.settings.share) if text else None
        return Outcome(candidates, ask=ask, memo=json_text({"task": task.id}))

    def candidate(self, parent: Parent) -> list[Candidate]:
        match parent.output:
            case Relation(name, candidate, results):
                candidate.origin = candidate.origin or "conformance"
                candidate.rationale = f"{name}: {results.profile().rows} rows"
                return [candidate]
            case Hits(hits):
                return [named(f"hits-{len(hits)}", f"SELECT {len(hits)}")]
            case Failed(failure):
                candidate = named("failed", "SELECT 0")
                candidate.rationale = failure.message
                return [candidate]
            case _:
                return []

    def parallel(self, host: SolverHost, problem: Problem) -> list[Candidate]:
        """Model calls side by side, then their statements side by side."""
        calls = [host.start_reply(asked(problem).sample(sample).sql()) for sample in range(self.settings.size)]
        await_all(host, calls)
        replies = [(sample, statement_of(call.get())) for sample, call in enumerate(calls)]
        samples = [(sample, reply, host.start_statement(reply.sql)) for sample, reply in replies if reply is not None]
        await_all(host, [running for *_, running in samples])
        ended = [(sample, reply, running.take()) for sample, reply, running in samples]
        found = [(sample, reply, results.fingerprint("bag")) for sample, reply, results in ended if isinstance(results, ResultSet)]
        votes = Counter(fingerprint for *_, fingerprint in found)
        return [
            Candidate(
                f"s{sample}",
                reply.sql,
                "conformance",
                raw_confidence=reply.confidence,
                signals=Signals(samples=self.settings.size, agreeing=votes[fingerprint]),
            )
            for sample, reply, fingerprint in found
        ]

    def cancelled(self, host: SolverHost, problem: Problem) -> Candidate:
        """The first of two calls; the second is cancelled at once."""
        first = host.start_reply(asked(problem).sample(0).sql())
        second = host.start_reply(asked(problem).sample(1).sql())
        second.cancel()
        await_all(host, [first])
        ended = first.get()
        if isinstance(ended, ModelError):
            raise ended
        reply = statement_of(ended)
        if reply is None:
            raise Failure("the reply held no statement", "model")
        return named("only", reply.sql, reply.confidence)

    def calibrate(self, claims: list[tuple[float, Signals]]) -> list[float]:
        self.ends()
        if self.settings.habit == "large":
            return [0.5] * self.settings.size
        if self.settings.habit == "wrong":
            return [2.0 for _ in claims]
        return [clamp01(claimed * self.settings.share + signals.attempts / 1000) for claimed, signals in claims]

    def judge(self, host: RewardHost, problem: Problem, catalog: Catalog, task: Task, rivals: list[Rival]) -> list[Verdict]:
        self.ends()
        verdicts = [self.verdict(rival) for rival in rivals]
        if self.settings.habit == "large":
            verdicts = [Accepted(self.settings.share, self.large) for _ in verdicts]
        if self.settings.habit == "wrong":
            verdicts.append(Rejected(0.0, "one too many"))
        return verdicts

    def verdict(self, rival: Rival) -> Verdict:
        profile = rival.results.profile()
        if profile.rows == 0:
            return Rejected(0.0, "no rows")
        if profile.truncated:
            return Unavailable("truncated")
        reason = f"{profile.rows} rows of {len(profile.columns)} columns"
        checks = [(column.column.name, column.nulls == 0) for column in profile.columns]
        return Accepted(self.settings.share, reason, checks)

    def assess(
        self, host: ClarifierHost, problem: Problem, catalog: Catalog, graph: Graph, seen: list[Observation]
    ) -> list[Question]:
        self.ends()
        questions = [
            Question(observation.ending.failure.message, [one.origin for one in observation.candidates], self.settings.share)
            for observation in seen
            if isinstance(observation.ending, Failed)
        ]
        if self.settings.habit == "large":
            questions = [replace(question, text=self.large) for question in questions]
        if self.settings.habit == "wrong":
            questions = [replace(question, ambiguity=2.0) for question in questions]
        return questions

    def aggregate(
        self, host: AggregatorHost, problem: Problem, graph: Graph, finished: list[Finished], seen: list[Observation]
    ) -> Optional[Answer]:
        self.ends()
        last = next((one for one in finished if one.task.id == graph.answer), None)
        if last is None:
            return None
        return Answer(
            text=self.large if self.settings.habit == "large" else last.candidate.sql,
            task=last.task.id,
            candidate=last.candidate.id,
            sql=f"SELECT * FROM {last.name}" if self.settings.flag else None,
            confidence=2.0 if self.settings.habit == "wrong" else last.candidate.confidence or 0.0,
            basis=[one.task.text for one in finished],
            caveats=[observation.task for observation in seen if isinstance(observation.ending, Skipped)],
        )

    def rewrite(
        self, host: RewriterHost, original: str, best: str, plan: Plan, catalog: Catalog, history: list[Attempt]
    ) -> Optional[Proposal]:
        self.ends()
        if self.settings.habit == "large":
            return Proposal(best, "large", self.large)
        if self.settings.habit == "wrong":
            return Proposal(best, "in to exists", "a family with a space")
        number = len(history)
        if number >= self.settings.size:
            return None
        return Proposal(f"{best} -- {number}", f"f{number}", trial_words(history[-1].trial) if history else "first")


def trial_words(trial: Trial) -> str:
    if trial.speed is not None:
        return f"{trial.case} {trial.speed:.1f}"
    return trial.case if trial.text is None else f"{trial.case}: {trial.text}"


def asked(problem: Problem) -> Ask:
    """A request whose only message is the question."""
    return Ask("generate").user(problem.question)


def named(id: str, sql: str, confidence: Optional[float] = None) -> Candidate:
    return Candidate(id, sql, "conformance", raw_confidence=confidence)


def statement_of(ended: Union[Reply, ModelError, None]) -> Optional[SqlReply]:
    """The statement of a call that has ended well."""
    return sql_reply(ended) if isinstance(ended, Reply) else None


class Ports:
    """Calls every port once and notes what it gave: the value as text, or the word of the error."""

    def __init__(self, host: SolverHost, settings: Habits, problem: Problem, catalog: Catalog, task: Task) -> None:
        self.host, self.settings, self.problem, self.task = host, settings, problem, task
        self.table = catalog.tables[0].name if catalog.tables else ""
        self.columns = [column.name for column in catalog.tables[0].columns] if catalog.tables else []
        self.notes: list[tuple[str, str]] = []

    def called(self) -> list[tuple[str, str]]:
        host, text, question = self.host, self.task.text, self.problem.question
        request = asked(self.problem).temperature(0.5).sample(7).sql()
        self.note("run.current-policy", lambda: host.policy().max_attempts)
        given = host.setting(self.settings.text)
        self.note("run.setting", lambda: "none" if given is None else json_text(given))
        self.note("run.remaining", lambda: host.remaining().llm_calls)
        self.note("llm.models", lambda: ",".join(host.models()))
        self.note("llm.complete", lambda: host.complete(request).text)
        self.note("inspect.check", lambda: host.check(text).normalized)
        self.note("inspect.explain", lambda: host.explain(text).format)
        self.note("inspect.column-stats-of", lambda: len(host.column_stats(self.table, self.columns)))
        self.note("inspect.compile-metric", lambda: host.compile_metric({}).sql)
        self.run()
        self.note("cells.samples", lambda: len(host.samples(self.table, self.columns, 2)))
        self.note("cells.find", lambda: sum(map(len, host.find([question], "ngram", 3))))
        self.note("retrieval.find", lambda: ",".join(hit.id for hit in host.retrieve(RetrievalQuery(question, limit=5))))
        self.note("evaluate.calibrate", lambda: ",".join(map(real, host.calibrate([(self.settings.share, Signals())]))))
        self.note("evaluate.reward", lambda: ",".join(map(case_of, host.reward([named("only", text)]))))
        host.note("info", self.settings.text)
        host.event(None, "ports", {"n": self.settings.size})
        return self.notes

    def run(self) -> None:
        """Runs the statement, reads its rows, and runs it again: its result is equal."""
        try:
            with self.host.run(self.task.text) as results:
                rows = self.tried(lambda: cells_of(self.host.read(results, 0, self.settings.size).rows))
                self.note("sql.run", lambda: f"{results.profile().rows} {json_text(self.is_again(results))}")
                self.notes.append(("rows.read", rows))
        except SqlError as error:
            self.notes += [("sql.run", error.kind), ("rows.read", "skipped")]

    def is_again(self, results: ResultSet) -> bool:
        with self.host.run(self.task.text) as again:
            return again.fingerprint("bag") == results.fingerprint("bag")

    def note(self, name: str, call: Callable[[], object]) -> None:
        self.notes.append((name, self.tried(call)))

    def tried(self, call: Callable[[], object]) -> str:
        try:
            return str(call())
        except (ModelError, PortError, SqlError) as error:
            return error.kind


def case_of(verdict: Verdict) -> str:
    return type(verdict).__name__.lower()


def cells_of(rows: list[list[Any]]) -> str:
    return json_text([[cell.hex() if isinstance(cell, bytes) else cell for cell in row] for row in rows])


export(Conformance)
