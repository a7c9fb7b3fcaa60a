// The plugin `conformance` in JavaScript: all eight roles, each of which does what the case's setting `habit` says. The plugins of the other
// languages do the same, and all are tested with the cases of tests/languages/cases.

import { Failure, accepted, plugin, rejected, setting } from "syrch-plugin";
import { cancelled, parallel } from "./concurrent.js";
import * as echo from "./echo.js";
import { ports } from "./ports.js";

// With this text the habit `wrong` gives a value that no type checker would let pass.
const ANOTHER_TYPE = "another type";
const HABITS = ["echo", "raise", "fail", "loop", "large", "wrong", "ports", "parallel", "cancel"];

/** Ends the call where the habit says so. */
function begin({ habit, text, flag }) {
  if (habit === "raise") throw new Error(text);
  if (habit === "fail") throw new Failure("unsupported", text, { retryable: flag });
  while (habit === "loop");
}

const letters = ({ size }) => "x".repeat(size * 1024);

/** Calls `each` for the habit that changes all values of a list. */
function change(values, { habit }, each) {
  if (each[habit]) values.forEach(each[habit]);
  return values;
}

export default plugin({
  name: "conformance",
  version: "1.0.0",
  summary: "answers what its case says",
  settings: {
    habit: setting.word(HABITS, "echo", "The behaviour of the roles."),
    size: setting.integer(3, "A number of things, by habit.", { least: 0, most: 1_000_000 }),
    text: setting.text("", "A text, by habit."),
    share: setting.number(0.5, "A confidence, score or ambiguity.", { least: 0, most: 1 }),
    flag: setting.boolean(false, "A switch, by habit."),
  },

  linker: {
    link({ settings, problem, catalog }) {
      begin(settings);
      const linked = echo.linked(settings, problem, catalog);
      change(linked.tables, settings, {
        large: (table) => (table.reason = letters(settings)),
        wrong: (table) => (table.score = 2),
      });
      return linked;
    },
  },

  planner: {
    plan({ settings, problem }) {
      begin(settings);
      const graph = echo.graph(problem);
      change(graph.tasks, settings, { large: (task) => (task.text = letters(settings)) });
      if (settings.habit !== "wrong") return graph;
      return { tasks: [{ id: "a b", text: problem.question }], answer: "a b" };
    },
    next({ settings, graph, seen, fresh }) {
      begin(settings);
      return { edits: seen.slice(fresh).flatMap((observation) => echo.edits(graph, observation)), memo: graph.memo };
    },
  },

  solver: {
    solve({ host, settings, problem, catalog, task, parents }) {
      begin(settings);
      const outcome = solved(host, settings, problem, catalog, task, parents);
      change(outcome.candidates, settings, {
        large: (candidate) => (candidate.rationale = letters(settings)),
        wrong: (candidate) => (candidate.id = settings.text === ANOTHER_TYPE ? candidate.id : ""),
      });
      outcome.candidates.forEach((candidate) => host.trace.propose(candidate));
      change(outcome.candidates, settings, {
        wrong: (candidate) => (candidate.sql = settings.text === ANOTHER_TYPE ? 7 : candidate.sql),
      });
      return outcome;
    },
  },

  calibrator: {
    calibrate({ settings, claims }) {
      begin(settings);
      if (settings.habit === "large") return Array(settings.size).fill(0.5);
      return claims.map((claim) => (settings.habit === "wrong" ? 2 : echo.probability(settings, claim)));
    },
  },

  reward: {
    judge({ settings, rivals }) {
      begin(settings);
      if (settings.habit === "large") return rivals.map(() => accepted(settings.share, letters(settings)));
      const verdicts = rivals.map((rival) => echo.verdict(settings, rival));
      return settings.habit === "wrong" ? [...verdicts, rejected(0, "one too many")] : verdicts;
    },
  },

  clarifier: {
    assess({ settings, seen }) {
      begin(settings);
      return change(seen.flatMap((observation) => echo.questions(settings, observation)), settings, {
        large: (question) => (question.text = letters(settings)),
        wrong: (question) => (question.ambiguity = 2),
      });
    },
  },

  aggregator: {
    aggregate({ settings, graph, finished, seen }) {
      begin(settings);
      const answer = echo.answer(settings, graph, finished, seen);
      if (answer && settings.habit === "large") answer.text = letters(settings);
      if (answer && settings.habit === "wrong") answer.confidence = 2;
      return answer;
    },
  },

  rewriter: {
    rewrite({ settings, best, history }) {
      begin(settings);
      if (settings.habit === "large") return { sql: best, family: "large", reason: letters(settings) };
      if (settings.habit === "wrong") return { sql: best, family: "in to exists", reason: "a family with a space" };
      return echo.proposal(settings, best, history);
    },
  },
});

function solved(host, settings, problem, catalog, task, parents) {
  switch (settings.habit) {
    case "ports": return ports(host, settings, problem, catalog, task);
    case "parallel": return parallel(host, settings, problem);
    case "cancel": return cancelled(host, problem);
    default: return echo.outcome(settings, task, parents);
  }
}
