// Whole records from the fields that matter. Roles may also return objects with these fields alone: what is left out gets the same defaults.

import * as contract from "./contract.js";

/** A verdict that accepts the candidate, with a score from 0 to 1. `checks` are pairs of a name and whether it passed. */
export const accepted = (score, reason = "", checks = []) => ({ accepted: { score, reason, checks } });

/** A verdict that rejects the candidate, with a score from 0 to 1. */
export const rejected = (score, reason = "", checks = []) => ({ rejected: { score, reason, checks } });

/** The verdict of a judge that cannot judge, which counts as neither acceptance nor rejection. */
export const unavailable = (reason) => ({ unavailable: reason });

export const task = (fields) => contract.task.full(fields);
export const candidate = (fields) => contract.candidate.full(fields);
export const signals = (fields = {}) => contract.signals.full(fields);
export const catalog = (fields = {}) => contract.catalog.full(fields);
export const problem = (question, fields = {}) => contract.problem.full({ ...fields, question });
export const hit = (fields) => contract.hit.full(fields);
export const observation = (fields) => contract.observation.full(fields);

/** A graph of one task, which gives the answer. */
export const single = (only) => ({ tasks: [task(only)], answer: only.id, memo: null });

/** How sure one may be of a candidate: the calibrated confidence, else what the model stated, else 0. */
export function sureness({ confidence, rawConfidence }) {
  const known = confidence ?? rawConfidence;
  return Number.isFinite(known) ? known : 0;
}

/** Why a task failed; null if it ended in another way. */
export const failedWith = ({ ending }) => ending.failed ?? null;
