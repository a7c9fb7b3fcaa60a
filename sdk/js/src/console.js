// `console` in a component: lines of the trace. QuickJS has none of its own, and that of StarlingMonkey writes to a terminal that is not there.

const LEVELS = { debug: "debug", trace: "debug", log: "info", info: "info", warn: "warn", error: "warn" };
const MOST = 100;

// Lines that were written while no trace was there, such as while the plugin was loaded.
const waiting = [];
let sink = null;

/** Sends lines to `note(level, message)` from now on; null if there is no trace. */
export function lead(note) {
  sink = note;
  if (sink) for (const [level, message] of waiting.splice(0)) sink(level, message);
}

function write(level, values) {
  const message = values.map(shown).join(" ");
  if (sink) sink(level, message);
  else if (waiting.length < MOST) waiting.push([level, message]);
}

function shown(value) {
  if (typeof value === "string") return value;
  if (value instanceof Error) return value.stack ? `${value.name}: ${value.message}\n${value.stack}` : String(value);
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? `${value}n` : String(value);
  try {
    return JSON.stringify(value, (_, part) => {
      if (typeof part === "bigint") return `${part}n`;
      return part instanceof Map ? Object.fromEntries(part) : part;
    });
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** Makes `console`, if the engine has none or its own is to go. */
export function install(replaces = false) {
  if (!replaces && typeof globalThis.console !== "undefined") return;
  globalThis.console = Object.fromEntries(Object.entries(LEVELS).map(([name, level]) => [name, (...values) => write(level, values)]));
}
