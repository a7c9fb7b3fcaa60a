// The roles: what each is called with, and what it returns. One row for each function of wit/roles.wit.

import * as contract from "./contract.js";
import { list, option, text, u32 } from "./contract.js";
import { record, variant } from "./codec.js";
import { results } from "./handles.js";

const rival = record("rival", { candidate: contract.candidate, results });
const relation = record("relation", { name: text, candidate: contract.candidate, results });
const output = variant({ relation, hits: list(contract.hit), failed: contract.failure, other: text });
const parent = record("parent", { task: contract.task, output, memo: option(contract.json) });
const finished = record("finished task", {
  name: text, task: contract.task, candidate: contract.candidate, others: list(contract.candidate), results,
});
const claims = { same: false, lift: (raw) => raw.map(([claimed, signals]) => ({ claimed, signals: contract.signals.lift(signals) })) };

const question = { problem: contract.problem, catalog: contract.catalog };
const seen = list(contract.observation);

/** `takes`: the arguments in order. `gives`: the shape of the result. `cannotFail`: the role has no failure. `otherwise`: the function of a
 * plugin that has none of its own. */
export const ROLES = {
  linker: { link: { takes: question, gives: contract.linked } },
  planner: {
    plan: { takes: question, gives: contract.graph },
    next: {
      takes: { ...question, graph: contract.graph, seen, fresh: u32 },
      gives: contract.step,
      otherwise: ({ graph }) => ({ edits: [], memo: graph.memo }),
    },
  },
  solver: { solve: { takes: { ...question, task: contract.task, parents: list(parent) }, gives: contract.outcome } },
  calibrator: { calibrate: { takes: { claims }, gives: contract.doubles, cannotFail: true } },
  reward: { judge: { takes: { ...question, task: contract.task, rivals: list(rival) }, gives: list(contract.verdict) } },
  clarifier: { assess: { takes: { ...question, graph: contract.graph, seen }, gives: list(contract.question) } },
  aggregator: {
    aggregate: {
      takes: { problem: contract.problem, graph: contract.graph, finished: list(finished), seen },
      gives: option(contract.answer),
    },
  },
  rewriter: {
    rewrite: {
      takes: { original: text, best: text, plan: contract.plan, catalog: contract.catalog, history: list(contract.attempt) },
      gives: option(contract.proposal),
    },
  },
};

/** The shape of what a role gives, with the function's own name in messages. */
export function checkedResult({ gives }, name, value) {
  if (typeof value?.then === "function") throw new TypeError(`${name} must be a plain function: it returned a promise`);
  if (value === undefined && gives !== ROLES.aggregator.aggregate.gives && gives !== ROLES.rewriter.rewrite.gives) {
    throw new TypeError(`${name} returned nothing`);
  }
  return gives.lower(value, name);
}
