// The habit `ports`: one call of each port, and what came of it.

import { LlmError, PortError, SqlError, digits } from "syrch-plugin";
import { asked } from "./concurrent.js";
import { only } from "./echo.js";

export function ports(host, { text, size, share }, problem, catalog, task) {
  const { name: table = "", columns = [] } = catalog.tables[0] ?? {};
  const names = columns.map(({ name }) => name);
  const candidate = only(task.text);
  const request = asked(problem).temperature(0.5).sample(7).sql();
  const query = { corpus: "tables", retriever: "lexical", text: problem.question, limit: 5 };
  const found = [
    ["run.current-policy", String(host.run.policy().maxAttempts)],
    ["run.setting", settingText(host.run.setting(text))],
    ["run.remaining", String(host.run.remaining().llmCalls)],
    ["llm.models", host.llm.models().join(",")],
    ["llm.complete", said(() => host.llm.complete(request).text)],
    ["inspect.check", said(() => host.inspect.check(task.text).normalized)],
    ["inspect.explain", said(() => host.inspect.explain(task.text).format)],
    ["inspect.column-stats-of", said(() => String(host.inspect.columnStats(table, names).length))],
    ["inspect.compile-metric", said(() => host.inspect.compileMetric("{}").sql)],
  ];
  let results = null;
  const ran = said(() => {
    results = host.sql.run(task.text);
    return "";
  });
  const read = results ? said(() => rowsOf(host, results, size)) : "skipped";
  found.push(["sql.run", results ? twice(host, results, task.text) : ran], ["rows.read", read]);
  found.push(["cells.samples", said(() => String(host.cells.samples(table, names, 2).length))]);
  found.push(["cells.find", said(() => String(host.cells.find([problem.question], "ngram", 3).flat().length))]);
  found.push(["retrieval.find", said(() => host.retrieval.find(query).map(({ id }) => id).join(","))]);
  found.push(["evaluate.calibrate", said(() => host.evaluate.calibrate([{ claimed: share }]).map(digits).join(","))]);
  found.push(["evaluate.reward", said(() => host.evaluate.reward([candidate]).map((verdict) => Object.keys(verdict)[0]).join(","))]);
  host.trace.note("info", text);
  host.trace.event("ports", { n: size });
  return { candidates: [candidate], memo: found };
}

const settingText = (value) => (value === null ? "none" : JSON.stringify(value));

/** What a port said; its error as the name of the case. */
function said(call) {
  try {
    return call();
  } catch (error) {
    if (error instanceof LlmError || error instanceof SqlError || error instanceof PortError) return error.kind;
    throw error;
  }
}

/** The number of rows, and whether the same statement gives the same fingerprint again. */
function twice(host, results, sql) {
  const again = said(() => host.sql.run(sql).fingerprint("bag"));
  return `${results.profile.rows} ${again === results.fingerprint("bag")}`;
}

function rowsOf(host, results, limit) {
  const { rows } = host.rows.read(results, { offset: 0, limit, typed: true });
  return `[${rows.map((row) => `[${row.map(cell).join(",")}]`).join(",")}]`;
}

/** A cell as JSON text, with numbers as in the other languages. */
function cell({ type, value }) {
  if (type === "null") return "null";
  if (type === "integer") return String(BigInt(value));
  if (type === "real") return real(value);
  return JSON.stringify(type === "bytes" ? Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("") : value);
}

/** A real number with a point or an exponent: 1.0, 0.1, 1e300. */
function real(value) {
  const [figures, exponent] = value.toExponential().split("e").map((part, index) => (index === 0 ? part : Number(part)));
  if (exponent < -5 || exponent > 15) return `${figures}e${exponent}`;
  const plain = digits(value);
  return plain.includes(".") ? plain : `${plain}.0`;
}
