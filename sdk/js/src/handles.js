// Results and calls in flight. They live in the host; what is open at the end of a role call is released then, since the garbage collector
// might release it too late or never.

import { u32 } from "./codec.js";
import * as contract from "./contract.js";

// Neither engine has it; the bindings of StarlingMonkey look for this symbol in its place.
Symbol.dispose ??= Symbol.for("dispose");

// The handles of the role call in progress.
let open = new Set();

/** Calls `body` and releases all handles that were opened in it. */
export function scoped(body) {
  const outer = open;
  open = new Set();
  try {
    return body();
  } finally {
    for (const handle of open) handle[Symbol.dispose]();
    open = outer;
  }
}

class Handle {
  #raw;
  constructor(raw) {
    this.#raw = raw;
    open.add(this);
  }
  /** The binding's own handle. */
  get raw() {
    if (!this.#raw) throw new Error(`the ${this.constructor.what} was released`);
    return this.#raw;
  }
  [Symbol.dispose]() {
    this.#raw?.[Symbol.dispose]?.();
    this.#raw = null;
    open.delete(this);
  }
  /** Releases the handle now; `using` does it at the end of its block, and the end of the role call does it at the latest. */
  release() {
    this[Symbol.dispose]();
  }
}

/** The result of a statement. Its rows stay in the host. */
export class ResultSet extends Handle {
  static what = "result";
  #profile;
  /** The number of rows and the columns. */
  get profile() {
    return (this.#profile ??= contract.profile.lift(this.raw.profile()));
  }
  /** A text that is equal for equal results of the same run; null for an equality that the host does not know. */
  fingerprint(under = "bag") {
    return this.raw.fingerprint(contract.equality.lower(under, "fingerprint.under")) ?? null;
  }
}

/** A result as a field of a record. */
export const results = { same: false, lift: (raw) => (raw instanceof ResultSet ? raw : new ResultSet(raw)), lower: (value) => value };

class Call extends Handle {
  static what = "call in flight";
  #settle;
  constructor(raw, settle) {
    super(raw);
    this.#settle = settle;
    this.ticket = u32.lift(raw.ticket());
  }
  /** Cancels it now. */
  cancel() {
    this.raw.cancel();
  }
  settled(raw) {
    return raw === null || raw === undefined ? null : this.#settle(raw);
  }
}

/** A model call or a judgement in flight. */
export class Pending extends Call {
  /** Null while it is in flight; afterwards the same outcome each time. */
  get() {
    return this.settled(this.raw.get());
  }
}

/** A statement in flight. */
export class Running extends Call {
  /** The outcome, once. Null while it is in flight, and after the outcome was taken. */
  take() {
    return this.settled(this.raw.take());
  }
}
