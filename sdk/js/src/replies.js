// The canonical replies: one schema for each purpose that the providers without a model know too, and its reader. A schema's `title` is the
// mark by which those providers know it.

import { accepted, rejected, unavailable } from "./makers.js";
import { clamp01, trim } from "./text.js";

const string = { type: "string" };

/** The reply to `plan`: subtasks with their dependencies, and how their results join. */
export const planSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "syrch-plan",
  type: "object",
  properties: {
    subtasks: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: {
          id: string,
          description: string,
          depends_on: { type: "array", items: string },
          is_atomic: { type: "boolean" },
          expected_output: string,
          join_keys: {
            type: "array",
            items: {
              type: "object",
              properties: {
                left: string,
                left_col: string,
                right: string,
                right_col: string,
                how: { type: "string", enum: ["inner", "left", "right", "outer"] },
              },
              required: ["left", "left_col", "right", "right_col"],
            },
          },
        },
        required: ["id", "description"],
      },
    },
  },
  required: ["subtasks"],
};

/** The reply to `judge`: whether a statement answers its task, how well, and why. */
export const verdictSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "syrch-verdict",
  type: "object",
  properties: {
    accepted: { type: "boolean" },
    score: { type: "number", minimum: 0, maximum: 1 },
    reason: string,
  },
  required: ["accepted", "score"],
};

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const listOf = (value) => (Array.isArray(value) ? value : []);

/** The text of a field without white space around it; null if it is empty or no text. */
function textOf(value, key) {
  const found = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return typeof found === "string" ? trim(found) || null : null;
}

const HOW = { left: "left", right: "right", outer: "outer", full: "outer", "full outer": "outer" };

/** The kind of a join of that name; `inner` for a name that is none. */
export const joinHow = (name) => HOW[trim(name).replace(/[A-Z]/g, (letter) => letter.toLowerCase())] ?? "inner";

function joinKey(value) {
  const [left, leftCol, right, rightCol] = ["left", "left_col", "right", "right_col"].map((key) => textOf(value, key));
  if (left === null || leftCol === null || right === null || rightCol === null) return [];
  return [{ left, leftCol, right, rightCol, how: joinHow(textOf(value, "how") ?? "inner") }];
}

/** A task's context that carries join keys; null when there are none. */
export function joinContext(keys) {
  const written = ({ left, leftCol, right, rightCol, how = "inner" }) => ({ left, left_col: leftCol, right, right_col: rightCol, how });
  return keys.length === 0 ? null : { join_keys: keys.map(written) };
}

/** The join keys in a task's context; none in a context of another kind. */
export const joinKeysOf = (task) => (isObject(task.context) ? listOf(task.context.join_keys).flatMap(joinKey) : []);

/** A task's context that carries the steps of a plan for its statement; null when there are none. */
export const planContext = (steps) => (steps.length === 0 ? null : { plan: steps });

/** The steps of the plan in a task's context; none in a context of another kind. */
export const planOf = (task) => (isObject(task.context) ? listOf(task.context.plan).filter((step) => typeof step === "string") : []);

/** Reads the reply to `plan`. Null when there is no subtask with an id and a description. */
export function planReply(reply) {
  if (!isObject(reply.parsed)) return null;
  const subtasks = listOf(reply.parsed.subtasks).flatMap(subtask);
  return subtasks.length === 0 ? null : subtasks;
}

function subtask(value) {
  const [id, description] = [textOf(value, "id"), textOf(value, "description")];
  if (id === null || description === null) return [];
  const named = listOf(value.depends_on).filter((one) => typeof one === "string").map(trim);
  const dependsOn = [...new Set(named)].filter((one) => one !== "");
  const isAtomic = typeof value.is_atomic === "boolean" ? value.is_atomic : true;
  return [{ id, description, dependsOn, isAtomic, expectedOutput: textOf(value, "expected_output"), joinKeys: listOf(value.join_keys).flatMap(joinKey) }];
}

/** Reads the reply to `generate` or `repair`: the statement, and what the model claimed. Null when it holds no statement. */
export function sqlReply(reply) {
  const sql = textOf(reply.parsed, "sql");
  if (sql === null) return null;
  const { confidence } = reply.parsed;
  return { sql, confidence: typeof confidence === "number" ? clamp01(confidence) : null };
}

/** Reads the reply to `judge`; `unavailable` when it says neither yes nor no. */
export function verdictReply(reply) {
  const { accepted: isAccepted, score, reason } = isObject(reply.parsed) ? reply.parsed : {};
  if (typeof isAccepted !== "boolean") return unavailable("the judge said neither yes nor no");
  const given = typeof score === "number" ? clamp01(score) : isAccepted ? 1 : 0;
  return (isAccepted ? accepted : rejected)(given, typeof reason === "string" ? reason : "");
}
