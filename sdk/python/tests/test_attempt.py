"""From a reply to a statement, and from a statement to its result, against a scripted model and database."""

from __future__ import annotations

import unittest

from syrch_plugin import Failure, ModelError, SqlError
from syrch_plugin.ask import Ask
from syrch_plugin.attempt import Abstained, NoStatement, Ran, Statement, TooLarge, Trials, ask_statement, nothing
from syrch_plugin.draws import await_all
from syrch_plugin.fakes import FakeHost, FakeRows

REQUEST = Ask("generate").sql()


def host() -> FakeHost:
    made = FakeHost()
    made.database.answer("SELECT 1", FakeRows(["n"], [[1]]))
    made.database.answer("SELECT nothing", FakeRows(["n"], []))
    made.database.fail_check("SELECT x", SqlError("unknown-column", "no column x", None, ["y"]))
    made.database.fail_run("SELECT 2", SqlError("unavailable", "locked"))
    return made


class Replies(unittest.TestCase):
    def test_a_statement_has_the_tokens_of_its_call(self) -> None:
        fake = FakeHost()
        fake.model.reply_sql("SELECT 1", 0.5)
        self.assertEqual(ask_statement(fake, REQUEST), Statement("SELECT 1", 0.5, None, 10.0))

    def test_what_is_no_statement_is_raised_by_its_meaning(self) -> None:
        expected: list[tuple[ModelError, type[Exception], str]] = [
            (ModelError("malformed", "I cannot"), NoStatement, "the reply held no statement; it began: I cannot"),
            (ModelError("too-large"), TooLarge, ""),
            (ModelError("refused", "no model"), Abstained, "the model provider gave no answer: no model"),
            (ModelError("budget"), Failure, "the model budget is used up"),
        ]
        for error, kind, message in expected:
            fake = FakeHost()
            fake.model.script("generate", error)
            with self.subTest(error.kind), self.assertRaises(kind) as raised:
                ask_statement(fake, REQUEST)
            self.assertEqual(str(raised.exception), message)


class Statements(unittest.TestCase):
    def test_each_text_is_checked_and_run_once(self) -> None:
        fake, trials = host(), Trials()
        trials.run(fake, ["SELECT 1", "SELECT x", "SELECT 1"])
        first = trials.get("SELECT 1")
        trials.run(fake, ["SELECT 1", "SELECT nothing"])
        self.assertIs(trials.get("SELECT 1"), first)
        ended = [trial.ended for sql in ("SELECT 1", "SELECT x", "SELECT nothing") if (trial := trials.get(sql))]
        self.assertEqual(ended[1], "no column x; near: y")
        self.assertEqual([one.doubts for one in ended if isinstance(one, Ran)], [[], ["the result has no rows"]])

    def test_a_database_that_is_gone_stops_all(self) -> None:
        fake, trials = host(), Trials()
        with self.assertRaises(Failure) as raised:
            trials.run(fake, ["SELECT 1", "SELECT 2"])
        self.assertEqual(raised.exception, Failure("locked", "database", retryable=True))
        stopped = [trial.stopped for sql in ("SELECT 1", "SELECT 2") if (trial := trials.get(sql))]
        self.assertEqual(stopped, [None, raised.exception])

    def test_nothing_is_an_empty_outcome_with_a_warning(self) -> None:
        fake = FakeHost()
        self.assertEqual(nothing(fake, "no statement ran").memo, '{"reason":"no statement ran"}')
        self.assertEqual(fake.trace.notes, [("warn", "no statement ran")])

    def test_calls_in_flight_are_waited_for(self) -> None:
        fake = host()
        running = [fake.start_statement(sql) for sql in ("SELECT 1", "SELECT 2")]
        await_all(fake, running)
        self.assertEqual([isinstance(one.take(), SqlError) for one in running], [False, True])
