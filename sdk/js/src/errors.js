// What a role throws on purpose, what ports throw, and the failures that these become.

import { line } from "./text.js";

/** Why a role could not do its work. Thrown by a role, it reaches the user with this kind and message. */
export class Failure extends Error {
  constructor(kind, message, { retryable = false, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Failure";
    this.kind = kind;
    this.retryable = retryable;
  }
}

/** An error of the port `llm`. `detail` is the host's text; empty for kinds without one. */
export class LlmError extends Error {
  constructor(kind, detail = "") {
    super(llmWords(kind, detail));
    this.name = "LlmError";
    this.kind = kind;
    this.detail = detail;
  }
}

/** An error of a statement. */
export class SqlError extends Error {
  constructor(kind, message, { position = null, suggestions = [] } = {}) {
    super(message);
    this.name = "SqlError";
    this.kind = kind;
    this.position = position;
    this.suggestions = suggestions;
  }
}

/** An error of the ports `rows`, `cells`, `retrieval`, `inspect` and `evaluate`. */
export class PortError extends Error {
  constructor(kind, detail = "") {
    super(portWords(kind, detail));
    this.name = "PortError";
    this.kind = kind;
    this.detail = detail;
  }
}

function llmWords(kind, detail) {
  switch (kind) {
    case "budget": return "the model budget is used up";
    case "denied": return `the model call was denied: ${detail}`;
    case "refused": return `the model provider gave no answer: ${detail}`;
    case "too-large": return "the prompt or the reply is over the limit";
    case "malformed": return `the model's reply has another shape than asked for: ${line(detail, 120)}`;
    case "unsupported": return `the model provider cannot do this: ${detail}`;
    case "cancelled": return "the model call was cancelled";
    case "unavailable": return `the model cannot be reached: ${detail}`;
    default: return detail;
  }
}

function portWords(kind, detail) {
  switch (kind) {
    case "denied": return `denied: ${detail}`;
    case "unsupported": return "not supported here";
    case "unknown-name": return `unknown name \`${detail}\``;
    case "budget": return "the budget is used up";
    default: return detail;
  }
}

const KINDS = {
  llm: { budget: "budget", cancelled: "cancelled", unsupported: "unsupported" },
  sql: { budget: "budget", cancelled: "cancelled" },
  port: { denied: "unsupported", unsupported: "unsupported", "unknown-name": "input", budget: "budget", unavailable: "database" },
};

/** The failure of a role that cannot continue after this error, which may be any value that was thrown. */
export function failureOf(error) {
  if (error instanceof Failure) return error;
  const cause = error;
  if (error instanceof LlmError) {
    return new Failure(KINDS.llm[error.kind] ?? "model", error.message, { retryable: error.kind === "unavailable", cause });
  }
  if (error instanceof SqlError) {
    return new Failure(KINDS.sql[error.kind] ?? "database", error.message, { retryable: error.kind === "unavailable", cause });
  }
  if (error instanceof PortError) return new Failure(KINDS.port[error.kind] ?? "internal", error.message, { cause });
  if (!(error instanceof Error)) return new Failure("internal", String(error), { cause });
  const isPlain = error.name === "Error" && error.message !== "";
  return new Failure("internal", isPlain ? error.message : `${error.name}: ${error.message}`, { cause });
}
