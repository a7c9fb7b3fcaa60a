"""Plugin classes, their roles, and what `export` does outside of a component."""

from __future__ import annotations

import unittest

from syrch_plugin import Calibrator, Planner, Plugin, Settings, Signals, Step, export, setting
from syrch_plugin.errors import Failure, PortError, SqlError
from syrch_plugin.export import roles_of
from syrch_plugin.fakes import FakeHost, FakeRows
from syrch_plugin.types import Catalog, Graph, Problem, Task


class Half(Settings):
    share: float = setting(0.5, "A share.", least=0, most=1)


class Both(Calibrator, Planner):
    name = "both"
    settings: Half

    def calibrate(self, claims: list[tuple[float, Signals]]) -> list[float]:
        return [claimed * self.settings.share for claimed, _ in claims]

    def plan(self, host: object, problem: Problem, catalog: Catalog) -> Graph:
        return Graph([Task("A", problem.question)])


class Untyped(Plugin):
    def judge(self, host, problem, catalog, task, rivals):  # type: ignore[no-untyped-def]
        return []


class Roles(unittest.TestCase):
    def test_a_class_has_the_roles_whose_methods_it_defines(self) -> None:
        self.assertEqual(roles_of(Both), ["planner", "calibrator"])
        self.assertEqual(roles_of(Untyped), ["reward"])
        self.assertEqual(roles_of(Planner), [])

    def test_settings_have_their_defaults_without_a_host(self) -> None:
        self.assertEqual(Both().calibrate([(1.0, Signals())]), [0.5])
        self.assertEqual(Both(Half(share=0.25)).calibrate([(1.0, Signals())]), [0.25])

    def test_a_planner_without_next_leaves_the_graph_as_it_is(self) -> None:
        graph = Graph([Task("A", "x")], memo="7")
        self.assertEqual(Both().next(FakeHost(), Problem("x"), Catalog(), graph, [], 0), Step(memo="7"))

    def test_export_does_nothing_outside_of_a_component(self) -> None:
        before = set(globals())
        export(Both)
        self.assertEqual(set(globals()), before)

    def test_export_says_what_it_cannot_export(self) -> None:
        for wrong in ([], [object], [Planner], [Untyped]):
            with self.subTest(wrong), self.assertRaises(TypeError):
                export(*wrong)


class Values(unittest.TestCase):
    def test_a_graph_is_answered_by_its_last_task(self) -> None:
        graph = Graph([Task("A", "x"), Task("B", "y", depends_on=["A"])])
        self.assertEqual(graph.answer, "B")
        self.assertEqual(graph.task("A"), Task("A", "x"))

    def test_errors_of_ports_have_the_failure_of_the_same_meaning(self) -> None:
        self.assertEqual(SqlError("budget", "spent").failure(), Failure("spent", "budget"))
        self.assertEqual(PortError("denied", "no grant").failure(), Failure("denied: no grant", "unsupported"))
        self.assertEqual(str(PortError("unknown-name", "x")), "unknown name `x`")


class Fakes(unittest.TestCase):
    def test_reading_stops_at_the_grant(self) -> None:
        host, rows = FakeHost(), FakeRows(["n"], [[1], [2], [3], [4], [5]])
        page = host.read(rows, 1, 10)
        self.assertEqual((page.rows, page.clipped), ([[2], [3]], True))
        self.assertFalse(host.read(rows, 0, 2).clipped)
        host.database.granted_rows = None
        with self.assertRaises(PortError):
            host.read(rows, 0, 1)

    def test_fingerprints_follow_the_equality(self) -> None:
        one, other = FakeRows(["n"], [[1], [2], [2]]), FakeRows(["m"], [[2], [1], [2]])
        self.assertEqual(one.fingerprint("bag"), other.fingerprint("bag"))
        self.assertNotEqual(one.fingerprint("ordered"), other.fingerprint("ordered"))
        self.assertEqual(one.fingerprint("set"), FakeRows(["n"], [[1], [2]]).fingerprint("set"))
        self.assertIsNone(one.fingerprint("other"))

    def test_a_block_closes_the_handle(self) -> None:
        host, rows = FakeHost(), FakeRows(["n"], [[1]])
        host.database.answer("SELECT 1", rows)
        with host.run("SELECT 1") as results:
            self.assertEqual(results.profile().rows, 1)
        self.assertTrue(rows.is_closed)

    def test_what_nobody_scripted_is_an_error(self) -> None:
        with self.assertRaises(SqlError):
            FakeHost().check("SELECT 1")
        with self.assertRaises(PortError):
            FakeHost().column_stats("t", [])
