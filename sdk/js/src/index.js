// The package's entry: everything that an author imports from "syrch-plugin".

export { ask } from "./ask.js";
export {
  Chain, Trials, candidateId, doubts, failed, nothing, settle, statementCandidate, words, written,
} from "./attempt.js";
export { Brief, feedback } from "./brief.js";
export { drawRequest, groups } from "./draws.js";
export { Failure, LlmError, PortError, SqlError, failureOf } from "./errors.js";
export { ResultSet } from "./handles.js";
export {
  accepted, candidate, catalog, failedWith, hit, observation, problem, rejected, signals, single, sureness, task, unavailable,
} from "./makers.js";
export { findTable, fromName, literal, quote, quoteIfOdd, shown, tableNames, tablePlace } from "./names.js";
export { plugin } from "./plugin.js";
export { catalogText, cellText, problemText, rowsText, tableName } from "./prompt.js";
export { joinContext, joinHow, joinKeysOf, planContext, planOf, planReply, planSchema, sqlReply, verdictReply, verdictSchema } from "./replies.js";
export { schemaOf, setting, solverSettings } from "./settings.js";
export { clamp01, clip, count, digits, fnv1a, line } from "./text.js";
