// A plugin's settings: one declaration gives the JSON Schema, the defaults and the reader. Authors write camelCase; users write the same
// names in snake_case.

import { Failure } from "./errors.js";

const numeric = (type, fits) => (initial, description, { least, most } = {}) => ({
  schema: { type, description, default: initial, ...(least !== undefined && { minimum: least }), ...(most !== undefined && { maximum: most }) },
  fits,
});

/** What a setting may be. The first argument is the default. */
export const setting = {
  integer: numeric("integer", Number.isSafeInteger),
  number: numeric("number", (value) => typeof value === "number"),
  boolean: (initial, description) => ({
    schema: { type: "boolean", description, default: initial },
    fits: (value) => typeof value === "boolean",
  }),
  text: (initial, description) => ({
    schema: { type: "string", description, default: initial },
    fits: (value) => typeof value === "string",
  }),
  /** One of several words. */
  word: (words, initial, description) => ({
    schema: { type: "string", description, default: initial, enum: words },
    fits: (value) => words.includes(value),
  }),
  /** Pairs of numbers. */
  pairs: (initial, description) => ({
    schema: { type: "array", description, default: initial, items: { type: "array", items: { type: "number" }, minItems: 2, maxItems: 2 } },
    fits: (value) => Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "number")),
  }),
  /** Any JSON, which the host checks by the schema. */
  json: (schema, initial, description) => ({ schema: { ...schema, description, default: initial }, fits: () => true }),
};

/** The settings that solvers share: what a prompt of `Brief` holds, and when a result is too long. */
export const solverSettings = {
  overflowRows: setting.integer(1000, "Rows above this number count as more than a good answer has.", { least: 1, most: 1_000_000_000 }),
  parentRows: setting.integer(3, "Rows of each finished dependency that stand in the prompt, as far as they are granted.", { least: 0, most: 50 }),
  catalogBytes: setting.integer(48_000, "Bytes of a prompt that the catalog may fill.", { least: 500, most: 200_000 }),
};

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The JSON Schema of the declared settings. */
export function schemaOf(declared) {
  const properties = Object.fromEntries(Object.entries(declared).map(([name, { schema }]) => [snake(name), schema]));
  return { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", properties, additionalProperties: false };
}

/** The settings of the user, read from JSON; what is not given has its default. */
export function readSettings(declared, config) {
  const given = parsed(config);
  const known = Object.keys(declared).map(snake);
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Failure("input", `unknown setting \`${unknown}\`${known.length ? `; known are ${known.join(", ")}` : ": there are none"}`);
  }
  const value = ([name, one]) => [name, snake(name) in given ? checked(snake(name), one, given[snake(name)]) : structured(one.schema.default)];
  return Object.fromEntries(Object.entries(declared).map(value));
}

// A copy, so that a role cannot change the default.
const structured = (value) => (typeof value === "object" ? JSON.parse(JSON.stringify(value)) : value);

function parsed(config) {
  if (config.trim() === "") return {};
  let given;
  try {
    given = JSON.parse(config);
  } catch (error) {
    throw new Failure("input", `settings are not JSON: ${error.message}`);
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw new Failure("input", "settings must be a JSON object");
  return given;
}

function checked(name, { schema, fits }, value) {
  if (!fits(value)) {
    const expected = schema.enum ? `one of ${schema.enum.join(", ")}` : `of type ${schema.type}`;
    throw new Failure("input", `\`${name}\` must be ${expected}, not ${JSON.stringify(value)}`);
  }
  const { minimum = -Infinity, maximum = Infinity } = schema;
  if (typeof value === "number" && (value < minimum || value > maximum)) {
    throw new Failure("input", `\`${name}\` must be from ${minimum} to ${maximum}, not ${value}`);
  }
  return value;
}
