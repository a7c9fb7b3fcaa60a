// The roles: what each is called with, and what it returns.

import { ROLES } from "./contract.js";

export { ROLES };

/** The function of a planner that has none of its own. */
ROLES.planner.next.otherwise = ({ graph }) => ({ edits: [], memo: graph.memo });

/** A claim has a name for each of its two parts. */
const { claims } = ROLES.calibrator.calibrate.takes;
ROLES.calibrator.calibrate.takes.claims = {
  same: false,
  lift: (raw) => claims.lift(raw).map(([claimed, signals]) => ({ claimed, signals })),
};

/** The shape of what a role gives, with the function's own name in messages. */
export function checkedResult({ gives }, name, value) {
  if (typeof value?.then === "function") throw new TypeError(`${name} must be a plain function: it returned a promise`);
  if (value === undefined && !gives.isOption) throw new TypeError(`${name} returned nothing`);
  return gives.lower(value, name);
}
