// Several tries at a task, each a statement and its repairs, in rounds.

import { Chain, Trials, candidateId, written } from "./attempt.js";

/**
 * Makes `number` tries of at most `attempts` statements each. The requests of a round are made concurrently, and its statements run together. A
 * request that failed in a way that the prompts can be adapted to is made again in its round.
 *
 * `tries` is what a strategy decides about them; they are named by their places, from 0: `isOpen(place, chain)`, whether a try has another attempt in
 * the next round; `request(place, chain)`; `read(replies, chains)`, the statements of a round's replies, `[place, statement]` each, where a reply
 * without a statement has to end its try or count in its chain; `settled(place, candidate, trial, chain)`, called once for each statement after it ran
 * or failed and was logged; and, if it likes, `adapt(error)` (false if it is no use to make a request again), `origin(place, chain)` and
 * `finishRound(chains)`.
 */
export function runTries(host, task, number, attempts, overflowRows, tries) {
  const chains = Array.from({ length: number }, () => new Chain(attempts));
  const trials = new Trials(overflowRows);
  let proposed = 0;
  for (;;) {
    const open = chains.flatMap((chain, place) => (tries.isOpen(place, chain) ? [place] : []));
    if (open.length === 0) return;
    const replies = ask(host, open, chains, tries).map((reply, at) => [open[at], written(reply)]);
    const statements = tries.read(replies, chains);
    // What stopped the database is in the trials, too.
    trials.run(host, statements.map(([, { sql }]) => sql));
    for (const [place, statement] of statements) {
      const [chain, trial] = [chains[place], trials.get(statement.sql)];
      proposed += 1;
      chain.signals.attempts += 1;
      const candidate = chain.candidate(
        candidateId(task.id, proposed), tries.origin?.(place, chain) ?? chain.origin, statement, trial.signals,
      );
      host.trace.propose(candidate);
      if (!trial.ran) {
        host.trace.discard(candidate.id, trial.wrong);
        chain.fail(candidate.sql, trial.wrong);
      }
      tries.settled(place, candidate, trial, chain);
    }
    tries.finishRound?.(chains);
  }
}

function ask(host, open, chains, tries) {
  const replies = open.map(() => null);
  let again = open.map((_, at) => at);
  for (;;) {
    const made = host.llm.completeAll(again.map((at) => tries.request(open[at], chains[open[at]])));
    again.forEach((at, index) => (replies[at] = made[index]));
    // The prompts are adapted once to each kind of error.
    const errors = new Map();
    for (const { ok, error } of replies) if (!ok && !errors.has(error.kind)) errors.set(error.kind, error);
    const adapted = [...errors.values()].find((error) => tries.adapt?.(error));
    if (!adapted) return replies;
    again = replies.flatMap(({ ok, error }, at) => (!ok && error.kind === adapted.kind ? [at] : []));
  }
}
