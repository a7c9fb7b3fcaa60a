// The habits `parallel` and `cancel`: calls in flight.

import { Failure, ask, groups, sqlReply } from "syrch-plugin";
import { named, only } from "./echo.js";

/** A request whose only message is the question. */
export const asked = (problem) => ask("generate").user(problem.question);

export function parallel(host, { size }, problem) {
  const calls = Array.from({ length: size }, (_, sample) => host.llm.start(asked(problem).sample(sample).sql()));
  waitForAll(host, calls);
  const drawn = calls.flatMap((call, sample) => {
    const { ok, value } = call.get();
    const reply = ok ? sqlReply(value) : null;
    return reply ? [{ sample, ...reply, running: host.sql.start(reply.sql) }] : [];
  });
  waitForAll(host, drawn.map(({ running }) => running));
  const ended = drawn.flatMap((draw) => {
    const outcome = draw.running.take();
    return outcome?.ok ? [{ ...draw, fingerprint: outcome.value.fingerprint("bag") }] : [];
  });
  const agreeing = new Map(groups(ended.map(({ fingerprint }) => fingerprint)).map((places) => [ended[places[0]].fingerprint, places.length]));
  const candidates = ended.map(({ sample, sql, confidence, fingerprint }) => ({
    ...named(`s${sample}`, sql),
    rawConfidence: confidence,
    signals: { samples: size, agreeing: agreeing.get(fingerprint) },
  }));
  return { candidates };
}

/** The first of two calls; the second is cancelled at once. */
export function cancelled(host, problem) {
  const [first, second] = [0, 1].map((sample) => host.llm.start(asked(problem).sample(sample).sql()));
  second.cancel();
  waitForAll(host, [first]);
  const { ok, value, error } = first.get();
  if (!ok) throw error;
  const reply = sqlReply(value);
  if (!reply) throw new Failure("model", "the reply held no statement");
  return { candidates: [{ ...only(reply.sql), rawConfidence: reply.confidence }] };
}

function waitForAll(host, calls) {
  let missing = calls;
  while (missing.length > 0) {
    const ready = host.wait.any(missing);
    missing = missing.filter((call) => !ready.includes(call));
  }
}
