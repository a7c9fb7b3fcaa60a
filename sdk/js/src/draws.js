// Several statements for one task, with a stop as early as the strategy allows, and their groups of equal results.
//
// A `Drawing` starts model calls concurrently, tests each statement as its reply arrives, and stores the draws in a `Pool` by their numbers,
// not by their arrival. A sampler is the strategy: it writes the prompts and returns how many more draws it needs at least. Draws whose
// results have the same fingerprint agree (self-consistency, Wang et al. 2022).

import { Trials, addErrors, candidateId, judged, nothing, written } from "./attempt.js";
import { LlmError, failureOf } from "./errors.js";
import { candidate, signals } from "./makers.js";
import { line } from "./text.js";

/** The places of equal keys, ascending in each group: the largest group first, and of equally large ones that with the earliest member. */
export function groups(keys) {
  const found = new Map();
  keys.forEach((key, place) => found.set(key, [...(found.get(key) ?? []), place]));
  // The sort is stable, so that equally large groups stay in the order of their earliest members.
  return [...found.values()].sort((one, other) => other.length - one.length);
}

/**
 * The request of a draw: a repair of the statements in `tried`, or, if there are none, a fresh one at that temperature. Among draws that repair,
 * `sample` is the number of the draw, from 0, less the number of statements that the request repairs, so that two draws never share both.
 */
export function drawRequest(brief, tried, number, temperature = null) {
  const request = brief.request(tried, Math.max(0, number - 1));
  if (request.purpose === "repair") request.sample = Math.max(0, request.sample - request.subjects.length);
  else request.temperature = temperature;
  return request;
}

/** Draws that have ended. A draw is `{ number, repairs, sql, confidence, ran, wrong, signals }`. */
export class Pool {
  #draws = [];
  #rejected = new Map();

  /** The draws that have ended, ascending. */
  get draws() {
    return this.#draws;
  }

  /** The draw of that number; undefined before it ended. */
  draw(number) {
    return this.#draws.find((draw) => draw.number === number);
  }

  /** How many draws ran, with or without rows. */
  get ran() {
    return this.#draws.filter((draw) => draw.ran).length;
  }

  /** Excludes a result from the vote, for all draws that have it now or later. */
  reject(fingerprint, reason) {
    this.#rejected.set(fingerprint, reason);
  }

  /**
   * The groups of equal results that were not rejected, `{ fingerprint, members }` each: the largest first, and of equally large ones that with
   * the earliest member. Results without rows are left out unless `empty` says that they count.
   */
  clusters(empty = false) {
    const voting = this.#draws.filter(({ ran }) => ran && (empty || ran.profile.rows > 0) && !this.#rejected.has(ran.fingerprint));
    return groups(voting.map(({ ran }) => ran.fingerprint)).map((places) => ({
      fingerprint: voting[places[0]].ran.fingerprint,
      members: places.map((place) => voting[place].number),
    }));
  }

  /** What was wrong with each draw that cannot win, in order: it failed, was rejected, or, unless `empty`, has no rows. */
  tried(empty = false) {
    return this.#draws.flatMap((draw) => {
      const wrong = this.wrong(draw, empty);
      return wrong === null ? [] : [{ sql: draw.sql, wrong }];
    });
  }

  /**
   * What was wrong with the draws since the last one that can win, in order: what the next draw may repair. A draw that ends a chain of
   * `attempts` statements, the first one and its repairs, is repaired no more.
   */
  triedLately(empty, attempts) {
    const tried = [];
    for (const draw of [...this.#draws].reverse()) {
      const wrong = this.wrong(draw, empty);
      if (wrong === null || this.#chain(draw) >= attempts) break;
      tried.unshift({ sql: draw.sql, wrong });
    }
    return tried;
  }

  #chain(draw) {
    const repaired = draw.repairs === null ? undefined : this.draw(draw.repairs);
    return repaired ? 1 + this.#chain(repaired) : 1;
  }

  /** What was wrong with a draw; null if it can win. */
  wrong({ ran, wrong }, empty) {
    if (!ran) return wrong;
    const reason = this.#rejected.get(ran.fingerprint);
    if (reason !== undefined) return `rejected: ${line(reason, 400)}`;
    return ran.profile.rows === 0 && !empty ? ran.doubts.join("; ") : null;
  }

  /** The candidate of a draw. Its signals count the errors of the draws up to and including this one, out of `most`. */
  candidate(task, draw, most) {
    const counts = { ...draw.signals, attempts: draw.number, maxAttempts: most };
    for (const earlier of this.#draws) if (earlier.number < draw.number) addErrors(counts, earlier.signals);
    return candidate({
      id: candidateId(task.id, draw.number),
      parents: draw.repairs === null ? [] : [candidateId(task.id, draw.repairs)],
      origin: draw.repairs === null ? "generate" : "repair",
      sql: draw.sql,
      rawConfidence: draw.confidence,
      signals: counts,
    });
  }

  insert(draw) {
    const place = this.#draws.findIndex(({ number }) => number > draw.number);
    this.#draws.splice(place < 0 ? this.#draws.length : place, 0, draw);
  }
}

/**
 * The draws in flight and those that ended. A sampler has `request(number, pool)`, `missing(pool)`, the least number of further draws, those in
 * flight included, after which the vote may be decided, and, if it likes, `shorten()` (false if the prompts cannot be shorter), `inRounds` (whether
 * all draws in flight have to end before others start) and `seen(draw)`.
 */
export class Drawing {
  #host;
  #task;
  #most;
  #trials;
  #logged = 0;
  #inFlight = [];
  #again = [];
  #shortened = 0;
  #seen = new Set();
  /** How many draws were started. */
  started = 0;
  /** The draws that ended. */
  pool = new Pool();

  /** A drawing of at most `most` statements. More rows than `overflowRows` are a doubt. */
  constructor(host, task, most, overflowRows = 1000) {
    this.#host = host;
    this.#task = task;
    this.#most = most;
    this.#trials = new Trials(overflowRows);
  }

  /**
   * Draws until the sampler has enough, and returns why it stopped: `{ done: true }`, `{ abstained }`, the reason of a model that gives no more, or
   * `{ failed }`. It can be called again, for example after a result was rejected. A prompt that is too large does not count as a draw: it is made
   * shorter and requested again.
   */
  run(sampler) {
    const stopped = {};
    for (;;) {
      if (Object.keys(stopped).length === 0 && (this.#inFlight.length === 0 || !sampler.inRounds)) {
        const missing = sampler.missing(this.pool);
        if (missing === 0) {
          this.#cancel();
          return { done: true };
        }
        this.#start(sampler, missing);
      }
      if (this.#inFlight.length === 0) {
        this.#cancel();
        return Object.keys(stopped).length === 0 ? { done: true } : stopped;
      }
      const failure = this.#receive(sampler, stopped);
      if (failure) this.#cancel();
      this.#log();
      this.#show(sampler);
      if (failure) return { failed: failure };
    }
  }

  #show(sampler) {
    for (const draw of this.pool.draws) {
      if (this.#seen.has(draw.number)) continue;
      this.#seen.add(draw.number);
      sampler.seen?.(draw);
    }
  }

  #start(sampler, missing) {
    while (this.#inFlight.length < missing) {
      const number = this.#next();
      if (number === null) return;
      const request = sampler.request(number, this.pool);
      const repairs = this.#repaired(request);
      this.#inFlight.push({ number, repairs, shortened: this.#shortened, pending: this.#host.llm.start(request) });
    }
  }

  #next() {
    if (this.#again.length > 0) return this.#again.shift();
    if (this.started >= this.#most) return null;
    this.started += 1;
    return this.started;
  }

  /** The draw whose statement is the last of those that a repair is about. */
  #repaired({ purpose, subjects }) {
    if (purpose !== "repair" || subjects.length === 0) return null;
    const sql = subjects[subjects.length - 1];
    const draws = this.pool.draws.filter((draw) => draw.sql === sql);
    return draws.length === 0 ? null : draws[draws.length - 1].number;
  }

  #cancel() {
    for (const { pending } of this.#inFlight.splice(0)) {
      pending.cancel();
      pending.release();
    }
    this.#again = [];
    this.#log();
  }

  /** Logs each statement after all with smaller numbers have ended, so that the log does not depend on which call was quicker. */
  #log() {
    for (; this.#logged < this.started; this.#logged += 1) {
      const number = this.#logged + 1;
      const draw = this.pool.draw(number);
      if (!draw && (this.#again.includes(number) || this.#inFlight.some((call) => call.number === number))) return;
      if (!draw || draw.sql === "") continue;
      const proposed = this.pool.candidate(this.#task, draw, this.#most);
      this.#host.trace.propose(proposed);
      if (draw.wrong !== null) this.#host.trace.discard(proposed.id, draw.wrong);
    }
  }

  /** The calls that are ready, by number, with their replies. */
  #wait() {
    const ready = new Set(this.#host.wait.any(this.#inFlight.map(({ pending }) => pending)));
    const isReady = ({ pending }) => ready.size === 0 || ready.has(pending);
    const calls = this.#inFlight.filter(isReady);
    this.#inFlight = this.#inFlight.filter((call) => !isReady(call));
    return calls.map((call) => {
      // A call that is ready without a reply counts as cancelled, so that no wait is endless.
      const reply = call.pending.get() ?? { ok: false, error: new LlmError("cancelled") };
      call.pending.release();
      return [call, written(reply)];
    });
  }

  /** Waits for replies and tests their statements together. Returns the failure of the database, or null. */
  #receive(sampler, stopped) {
    const statements = [];
    for (const [call, reply] of this.#wait()) {
      if (reply.statement) statements.push([call, reply.statement]);
      else if (reply.noStatement !== undefined) this.#noStatement(call, reply.noStatement);
      else if (reply.tooLarge && this.#shorten(sampler, call.shortened)) this.#again = [...this.#again, call.number].sort((a, b) => a - b);
      else if (Object.keys(stopped).length === 0) Object.assign(stopped, reply.tooLarge ? { failed: failureOf(new LlmError("too-large")) } : reply);
    }
    const failure = this.#trials.run(this.#host, statements.map(([, { sql }]) => sql));
    for (const [call, statement] of statements) this.#insert(call, statement);
    return failure;
  }

  #shorten(sampler, size) {
    if (size === this.#shortened && sampler.shorten?.()) this.#shortened += 1;
    return size < this.#shortened;
  }

  #noStatement({ number, repairs }, wrong) {
    this.pool.insert({ number, repairs, sql: "", confidence: null, ran: null, wrong, signals: signals({ syntaxErrors: 1 }) });
  }

  #insert({ number, repairs }, { sql, confidence, logprob, tokens }) {
    const { ran, wrong, signals: own } = this.#trials.get(sql);
    this.pool.insert({ number, repairs, sql, confidence, ran, wrong, signals: { ...own, logprob, extra: new Map([["tokens", tokens]]) } });
  }
}

/**
 * Draws, votes, has the reward judge the results, draws again if it rejected one, and returns the outcome with one candidate for each remaining
 * result, best first. A voter is a sampler with `standings(pool)`: the groups that may win, best first, `{ cluster, confidence, reason }` each.
 * Throws what prevented the model or the database from giving even one acceptable statement.
 */
export function elect(host, task, most, overflowRows, voter) {
  const drawing = new Drawing(host, task, most, overflowRows);
  const { pool } = drawing;
  const verdicts = new Map();
  let stopped = drawing.run(voter);
  for (;;) {
    const standings = voter.standings(pool);
    if (standings.length === 0) {
      logVote(host, task, pool, standings);
      if (stopped.failed) throw stopped.failed;
      return nothing(host, stopped.abstained ?? noneDid(pool, drawing.started, most));
    }
    const candidates = standings.map((standing) => standingCandidate(task, pool, most, standing));
    const fresh = standings.flatMap(({ cluster }, place) => (verdicts.has(cluster.fingerprint) ? [] : [place]));
    if (fresh.length > 0) {
      judged(host, task, fresh.map((place) => candidates[place])).forEach((verdict, index) =>
        verdicts.set(standings[fresh[index]].cluster.fingerprint, verdict),
      );
    }
    const rejected = standings.flatMap(({ cluster }) => {
      const opinion = verdicts.get(cluster.fingerprint)?.rejected;
      return opinion ? [[cluster.fingerprint, opinion.reason]] : [];
    });
    if (rejected.length === 0) {
      // That a model has no more statements is nothing to warn of.
      const why = stopped.abstained ?? stopped.failed?.message;
      if (why !== undefined) host.trace.note(stopped.failed ? "warn" : "info", `${task.id}: going on with what there is: ${why}`);
      logVote(host, task, pool, standings);
      standings.forEach(({ cluster }, place) => accept(candidates[place], verdicts.get(cluster.fingerprint)?.accepted));
      return { candidates, subtasks: [], ask: null, memo: null };
    }
    for (const [fingerprint, reason] of rejected) pool.reject(fingerprint, reason);
    if (stopped.done) stopped = drawing.run(voter);
  }
}

function accept(chosen, opinion) {
  if (!opinion) return;
  chosen.score = opinion.score;
  chosen.signals.reward = opinion.score;
}

function standingCandidate(task, pool, most, { cluster, confidence, reason }) {
  const chosen = pool.candidate(task, pool.draw(cluster.members[0]), most);
  Object.assign(chosen, { rawConfidence: confidence, rationale: reason });
  Object.assign(chosen.signals, { samples: pool.ran, agreeing: cluster.members.length });
  return chosen;
}

function noneDid(pool, started, most) {
  const tried = pool.tried();
  const last = tried.length === 0 ? "the model gave no statement" : tried[tried.length - 1].wrong;
  return `no statement did after ${started} of ${most} attempts: ${last}`;
}

/** Logs why each statement that ran was chosen or not; what was wrong with the others was logged when they failed. */
function logVote(host, task, pool, standings) {
  const id = (number) => candidateId(task.id, number);
  for (const draw of pool.draws.filter(({ ran }) => ran)) {
    const place = standings.findIndex(({ cluster }) => cluster.members.includes(draw.number));
    const own = standings[place];
    if (!own) host.trace.discard(id(draw.number), pool.wrong(draw, false) ?? "it has no vote");
    else if (own.cluster.members[0] !== draw.number) host.trace.discard(id(draw.number), `the same result as ${id(own.cluster.members[0])}`);
    else if (place === 0) host.trace.keep(id(draw.number), own.reason);
    else host.trace.discard(id(draw.number), `${own.reason}, where ${id(standings[0].cluster.members[0])} has ${standings[0].reason}`);
  }
}
