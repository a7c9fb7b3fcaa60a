// A solver that draws several statements and returns the result on which most of them agree.

import {
  Brief, Trials, candidate, candidateId, drawRequest, groups, nothing, plugin, setting, written,
  type Candidate, type Ran, type SolverHost, type Statement, type Task,
} from "syrch-plugin";

/** A statement that was drawn, and its result or what was wrong with it. */
interface Draw {
  candidate: Candidate;
  ran: Ran | null;
  wrong: string;
}

export default plugin({
  name: "vote",
  version: "1.0.0",
  summary: "returns the result on which most samples agree",
  settings: {
    samples: setting.integer(3, "How many statements are drawn.", { least: 1, most: 16 }),
    temperature: setting.number(0.7, "The temperature of the model.", { least: 0, most: 2 }),
  },
  solver: {
    solve({ host, settings, problem, catalog, task, parents }) {
      const brief = new Brief(host, {}, { problem, catalog, task, parents });
      const { statements, wrong } = drawn(host, brief, settings.samples, settings.temperature);
      if (statements.size === 0) return nothing(host, `no statement: ${wrong}`);
      const draws = run(host, task, statements);
      const voted = ranked(draws);
      report(host, draws, voted);
      if (voted.length === 0) return nothing(host, `no statement ran: ${draws[0].wrong}`);
      return { candidates: voted.map(([first]) => first.candidate) };
    },
  },
});

/** The drawn statements by their numbers, and the first reason why one is missing. */
function drawn(host: SolverHost, brief: Brief, samples: number, temperature: number) {
  const numbers = Array.from({ length: samples }, (_, index) => index + 1);
  const outcomes = host.llm.completeAll(numbers.map((number) => drawRequest(brief, [], number, temperature)));
  const statements = new Map<number, Statement>();
  let wrong = "";
  outcomes.forEach((outcome, index) => {
    const { statement, noStatement } = written(outcome);
    if (statement) statements.set(numbers[index], statement);
    else wrong ||= noStatement ?? outcome.error?.message ?? "";
  });
  return { statements, wrong };
}

function run(host: SolverHost, task: Task, statements: Map<number, Statement>): Draw[] {
  const trials = new Trials(Number.MAX_SAFE_INTEGER);
  const failure = trials.run(host, [...statements.values()].map(({ sql }) => sql));
  if (failure) throw failure;
  return [...statements].map(([number, { sql, confidence }]) => {
    const trial = trials.get(sql);
    const drawn = candidate({ id: candidateId(task.id, number), origin: "generate", sql, rawConfidence: confidence });
    return { candidate: drawn, ran: trial?.ran ?? null, wrong: trial?.wrong ?? "" };
  });
}

/** The groups of draws with equal results: more votes first, then a higher stated confidence, then the first drawn. */
function ranked(draws: Draw[]): Draw[][] {
  const ran = draws.filter((draw) => draw.ran);
  const voted = groups(ran.map((draw) => draw.ran?.fingerprint)).map((places) => places.map((place) => ran[place]));
  for (const group of voted) {
    for (const { candidate } of group) {
      candidate.rationale = `${group.length} of ${ran.length} results`;
      Object.assign(candidate.signals, { samples: ran.length, agreeing: group.length });
    }
  }
  const stated = (group: Draw[]) => Math.max(...group.map(({ candidate }) => candidate.rawConfidence ?? 0));
  return voted.sort((one, other) => other.length - one.length || stated(other) - stated(one));
}

/** Reports every draw and what became of it. */
function report({ trace }: SolverHost, draws: Draw[], voted: Draw[][]) {
  for (const { candidate } of draws) trace.propose(candidate);
  for (const draw of draws) {
    const { id, rationale } = draw.candidate;
    const group = voted.find((members) => members.includes(draw));
    if (!group) trace.discard(id, draw.wrong);
    else if (group[0] !== draw) trace.discard(id, `the same result as ${group[0].candidate.id}`);
    else if (group === voted[0]) trace.keep(id, rationale ?? "");
    else trace.discard(id, rationale ?? "");
  }
}
