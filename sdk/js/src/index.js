// The package's entry: everything that an author imports from "syrch-plugin".

export { ask } from "./ask.js";
export {
  Chain, Trials, addErrors, candidateId, doubts, failed, judged, nothing, settle, statementCandidate, words, written,
} from "./attempt.js";
export { Brief, feedback } from "./brief.js";
export { dialectName, dialectRules, literal } from "./dialect.js";
export { Dice, fnv1a } from "./dice.js";
export { discountWeights, discounted } from "./discount.js";
export { Drawing, Pool, drawRequest, elect, groups } from "./draws.js";
export { Failure, LlmError, PortError, SqlError, failureOf } from "./errors.js";
export { ResultSet } from "./handles.js";
export {
  accepted, candidate, catalog, failedWith, hit, observation, problem, rejected, signals, single, sureness, task, unavailable,
} from "./makers.js";
export { findTable, fromName, quote, quoteIfOdd, shown, tableNames, tablePlace } from "./names.js";
export { plugin } from "./plugin.js";
export { catalogText, cellText, problemText, rowsText, tableName } from "./prompt.js";
export { joinContext, joinHow, joinKeysOf, planContext, planOf, planReply, planSchema, sqlReply, verdictReply, verdictSchema } from "./replies.js";
export { ambiguity, ambiguityOf, ambiguityWeights, isEmpty } from "./score.js";
export { schemaOf, setting, solverSettings } from "./settings.js";
export { clamp01, clip, count, digits, line } from "./text.js";
export { runTries } from "./tries.js";
