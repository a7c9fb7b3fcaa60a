// A planner and a solver in JavaScript: one task with the problem's question, one statement for it.

import run from "syrch:plugin/run@0.1.0";
import sql from "syrch:plugin/sql@0.1.0";
import trace from "syrch:plugin/trace@0.1.0";

const NAME = "toolchain-qjs";
const STATEMENT = "SELECT 1 AS n";

export const about = {
  describe() {
    return {
      name: NAME,
      version: "0.1.0",
      summary: "one task and one statement, from JavaScript",
      configSchema: '{"type":"object","additionalProperties":false}',
    };
  },
  configure(_config) {},
};

export const planner = {
  plan(problem, _catalog) {
    const task = {
      id: "answer",
      parent: null,
      text: problem.question,
      operation: { tag: "solve" },
      dependsOn: [],
      join: { tag: "all-of" },
      tolerant: false,
      priority: 1,
      confidence: null,
      expected: null,
      database: null,
      context: null,
    };
    return { tasks: [task], answer: task.id, memo: null };
  },
  next(_problem, _catalog, graph, _seen, _fresh) {
    return { edits: [], memo: graph.memo };
  },
};

export const solver = {
  solve(_problem, _catalog, _task, _parents) {
    const candidate = {
      id: "qjs-1",
      parents: [],
      origin: NAME,
      sql: STATEMENT,
      rawConfidence: 0.5,
      confidence: null,
      score: null,
      rationale: "always the same statement",
      signals: signals(profileOf(STATEMENT), run.currentPolicy().maxAttempts),
      extra: [],
    };
    trace.propose(candidate);
    return { candidates: [candidate], subtasks: [], ask: null, memo: null };
  },
};

function profileOf(statement) {
  let results;
  try {
    results = sql.run(statement);
  } catch (error) {
    // What a port throws is an Error with the WIT error as its payload; anything else is a defect and goes on as it is.
    if (error?.payload === undefined) throw error;
    throw { kind: { tag: "database" }, message: `${statement}: ${error.payload.message}`, retryable: false };
  }
  try {
    return results.profile();
  } finally {
    // The collector might drop the handle too late.
    results[Symbol.dispose]();
  }
}

/** What happened: one attempt, which ran. */
function signals(profile, maxAttempts) {
  return {
    attempts: 1,
    maxAttempts,
    syntaxErrors: 0,
    schemaErrors: 0,
    executionErrors: 0,
    emptyResult: profile.rows === 0,
    nullColumns: profile.columns.filter((column) => profile.rows > 0 && column.nulls === profile.rows).length,
    overflow: profile.truncated,
    samples: 0,
    agreeing: 0,
    logprob: null,
    reward: null,
    extra: [],
  };
}
