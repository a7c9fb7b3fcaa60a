// Converts between what an author writes and what the bindings of the engine take, and names the field where a value is wrong. The
// bindings themselves end the component at a wrong type, without a message that an author could use.
//
// A shape has `lower(value, at)`, from the author to the host, `lift(raw)`, from the host to the author, and `same`: whether `lift` returns
// its argument as it is.

/** The error of a value that has another type than the contract says. `at` is the path to it. */
function wrong(at, expected, value) {
  return new TypeError(`${at || "the value"} must be ${expected}, not ${described(value)}`);
}

function described(value) {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return value.length > 40 ? "a text" : JSON.stringify(value);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return "a list";
  if (typeof value?.then === "function") return "a promise";
  return typeof value === "function" ? "a function" : `an object with ${Object.keys(value).slice(0, 5).join(", ") || "no field"}`;
}

// The bindings of StarlingMonkey take 64-bit numbers as BigInt and lists of numbers as typed arrays, and give both; those of QuickJS do neither.
let isStarlingMonkey = false;

/** Converts for the bindings of StarlingMonkey from now on. */
export function useStarlingMonkey() {
  isStarlingMonkey = true;
}

const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const itself = (raw) => raw;

// A lone surrogate has no UTF-8.
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const wellFormed = (text) => (text.isWellFormed?.() ? text : text.replace(LONE, "\ufffd"));

export const text = {
  same: true,
  lift: itself,
  lower(value, at) {
    if (typeof value !== "string") throw wrong(at, "a text", value);
    return wellFormed(value);
  },
};

export const bool = {
  same: true,
  lift: itself,
  lower(value, at) {
    if (typeof value !== "boolean") throw wrong(at, "true or false", value);
    return value;
  },
};

export const number = {
  same: true,
  lift: itself,
  lower(value, at) {
    if (typeof value === "bigint") return Number(value);
    if (typeof value !== "number") throw wrong(at, "a number", value);
    return value;
  },
};

function whole(most, words) {
  return {
    same: true,
    lift: itself,
    lower(value, at) {
      const given = typeof value === "bigint" ? Number(value) : value;
      if (!Number.isInteger(given) || given < 0 || given > most) throw wrong(at, words, value);
      return given;
    },
  };
}

const unsigned = whole(2 ** 32 - 1, "a whole number from 0 to 4294967295");
// The bindings of QuickJS give and take numbers from 2^31 on as negative ones.
export const u32 = { same: false, lift: (raw) => raw >>> 0, lower: (value, at) => unsigned.lower(value, at) | 0 };
const safe = whole(Number.MAX_SAFE_INTEGER, "a whole number from 0 to 9007199254740991");
export const u64 = {
  same: false,
  lift: Number,
  lower: (value, at) => (isStarlingMonkey ? BigInt(safe.lower(value, at)) : safe.lower(value, at)),
};

// The texts of the documents that came from the host, so that one which goes back unchanged keeps its spelling, such as 1.0.
const received = new WeakMap();

// The host sends JSON only; another text stays a text.
function parsed(raw) {
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}

/** A JSON document, which authors see as a value. */
export const json = {
  same: false,
  lift(raw) {
    const value = parsed(raw);
    if (typeof value === "object" && value !== null) received.set(value, { raw, as: JSON.stringify(value) });
    return value;
  },
  lower(value, at) {
    const written = JSON.stringify(value, (_, part) => {
      if (typeof part !== "bigint") return part;
      if (part > Number.MAX_SAFE_INTEGER || part < Number.MIN_SAFE_INTEGER) {
        throw wrong(at, "JSON, where a whole number has at most 53 bits", part);
      }
      return Number(part);
    });
    if (written === undefined) throw wrong(at, "a value that JSON can hold", value);
    const known = isRecord(value) || Array.isArray(value) ? received.get(value) : undefined;
    return wellFormed(known?.as === written ? known.raw : written);
  },
};

/** A value or null; undefined counts as null. */
export function option(shape) {
  // The bindings of QuickJS give null, those of StarlingMonkey undefined: they were chosen before any shape is made.
  const same = shape.same && !isStarlingMonkey;
  return {
    same,
    isOption: true,
    lift: same ? itself : (raw) => (raw === null || raw === undefined ? null : shape.lift(raw)),
    lower: (value, at) => (value === null || value === undefined ? null : shape.lower(value, at)),
  };
}

export function list(shape) {
  return {
    same: shape.same,
    lift: shape.same ? itself : (raw) => raw.map(shape.lift),
    lower(value, at) {
      if (typeof value === "string" || typeof value?.[Symbol.iterator] !== "function") throw wrong(at, "a list", value);
      return Array.from(value, (item, index) => shape.lower(item, `${at}[${index}]`));
    },
  };
}

/** A list of numbers. `Packed` is its typed array. */
function packed(shape, Packed) {
  const plain = list(shape);
  return {
    same: false,
    lift: (raw) => Array.from(raw, shape.lift),
    lower: (value, at) => (isStarlingMonkey ? Packed.from(plain.lower(value, at)) : plain.lower(value, at)),
  };
}

export const doubles = packed(number, Float64Array);
export const tickets = packed(u32, Uint32Array);

/** Two values, as a list of two. */
export function pair(first, second) {
  return {
    same: first.same && second.same,
    lift: first.same && second.same ? itself : ([one, two]) => [first.lift(one), second.lift(two)],
    lower(value, at) {
      if (!Array.isArray(value) || value.length !== 2) throw wrong(at, "a list of two", value);
      return [first.lower(value[0], `${at}[0]`), second.lower(value[1], `${at}[1]`)];
    },
  };
}

/** Values by name, in order. Authors get a Map; a plain object or a list of pairs is taken too. */
export function named(shape) {
  return {
    same: false,
    lift: (raw) => new Map(raw.map(([name, value]) => [name, shape.lift(value)])),
    lower(value, at) {
      const entries = isRecord(value) && typeof value[Symbol.iterator] !== "function" ? Object.entries(value) : value;
      return list(pair(text, shape)).lower(entries, at);
    },
  };
}

/** A field that may be left out: `make` gives its value then. */
export const or = (shape, make) => ({ ...shape, make });

/** A record with these fields. Any other field is an error: it is most likely misspelt, and would have no effect. */
export function record(name, fields) {
  const all = Object.entries(fields);
  const converted = all.filter(([, shape]) => !shape.same);
  return {
    fields,
    same: converted.length === 0,
    lift:
      converted.length === 0
        ? itself
        : (raw) => {
            const value = { ...raw };
            for (const [field, shape] of converted) value[field] = shape.lift(raw[field]);
            return value;
          },
    lower(value, at) {
      if (!isRecord(value)) throw wrong(at, `a ${name}`, value);
      const stray = Object.keys(value).find((field) => !Object.hasOwn(fields, field) && value[field] !== undefined);
      if (stray !== undefined) {
        throw new TypeError(`${at || name} has no field ${JSON.stringify(stray)}: the fields are ${Object.keys(fields).join(", ")}`);
      }
      const raw = {};
      for (const [field, shape] of all) {
        const given = value[field];
        raw[field] = given === undefined && shape.make ? shape.make() : shape.lower(given, at ? `${at}.${field}` : field);
      }
      return raw;
    },
    /** The author's record with all its fields. */
    full(value, at = name) {
      return this.lift(this.lower(value, at));
    },
  };
}

/** One of these words. */
export function word(...words) {
  return {
    same: true,
    lift: itself,
    lower(value, at) {
      if (!words.includes(value)) throw wrong(at, `one of ${words.join(", ")}`, value);
      return value;
    },
  };
}

/** One of these words, or another one for what a later version adds. */
export function openWord(...words) {
  return {
    same: false,
    lift: (raw) => (raw.tag === "other" ? raw.val : raw.tag),
    lower(value, at) {
      if (typeof value !== "string") throw wrong(at, `a word such as ${words[0]}`, value);
      return words.includes(value) ? { tag: value } : { tag: "other", val: wellFormed(value) };
    },
  };
}

const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

/** One of several cases: a word for a case without a value (null in `cases`), else an object with one field. */
export function variant(cases) {
  const tags = new Map(Object.keys(cases).map((tag) => [camel(tag), tag]));
  const shown = [...tags].map(([key, tag]) => (cases[tag] ? `{ ${key}: … }` : `"${tag}"`)).join(", ");
  return {
    same: false,
    lift({ tag, val }) {
      return cases[tag] ? { [camel(tag)]: cases[tag].lift(val) } : tag;
    },
    lower(value, at) {
      if (typeof value === "string" && value in cases && !cases[value]) return { tag: value };
      const keys = isRecord(value) ? Object.keys(value).filter((key) => value[key] !== undefined) : [];
      const tag = keys.length === 1 ? tags.get(keys[0]) : undefined;
      if (!tag || !cases[tag]) throw wrong(at, `one of ${shown}`, value);
      return { tag, val: cases[tag].lower(value[keys[0]], `${at}.${keys[0]}`) };
    },
  };
}

const plain = (value) => (typeof value === "bigint" ? Number(value) : value);

/** A cell: authors see null, booleans, numbers, texts and, for bytes, a Uint8Array. It only comes from the host. */
export const value = { same: false, lift: ({ tag, val }) => (tag === "null" ? null : plain(val)) };

/** A cell with its type in the contract. */
export const typedValue = { same: false, lift: ({ tag, val }) => (tag === "null" ? { type: tag } : { type: tag, value: plain(val) }) };
