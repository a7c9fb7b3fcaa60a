// Names in SQL: when they need quotes, and which; and which table a name means.

import { line } from "./text.js";

// Words that stand unquoted only as keywords in at least one of the dialects.
const RESERVED = new Set(
  ("all alter and any as asc between by case cast check collate column constraint create cross current default " +
    "delete desc distinct drop else end except exists false fetch for foreign from full grant group having in " +
    "index inner insert intersect into is join key left like limit natural not null offset on or order outer over " +
    "partition primary range references right row rows select set some table then to transaction trigger true " +
    "union unique update user using values view when where window with").split(" "),
);

// Letter case is folded for ASCII alone, as databases do.
const lower = (text) => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
const same = (one, other) => lower(one) === lower(other);

/** A text as a literal of a statement. */
export function literal(syntax, text) {
  const escaped = syntax.backslashEscapes ? text.replaceAll("\\", "\\\\").replaceAll("'", "\\'") : text.replaceAll("'", "''");
  return `'${escaped}'`;
}

/** The name in the syntax's quotes. */
export function quote(syntax, name) {
  const mark = syntax.backticks ? "`" : '"';
  return mark + name.replaceAll(mark, mark + mark) + mark;
}

/** The name as a person would write it: quoted only when it would not be read as that name otherwise. */
export function quoteIfOdd(syntax, name) {
  const folds = syntax.foldsNames && /[A-Z]/.test(name);
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !folds && !RESERVED.has(lower(name)) ? name : quote(syntax, name);
}

// The longest name that a database here allows has 255.
const SHOWN = 256;

/** The name as a prompt shows it: quoted when it has to be, and on one line. Never for a statement that is run. */
export function shown(syntax, name) {
  const isSafe = !/[\0-\x1f\x7f-\x9f\u2028\u2029]/u.test(name) && (name.length <= SHOWN || [...name].length <= SHOWN);
  return quoteIfOdd(syntax, isSafe ? name : line(name, SHOWN));
}

/** A table's name as a statement has it in FROM. */
export function fromName(syntax, { schemaName, name }) {
  const plain = quoteIfOdd(syntax, name);
  return schemaName === null || schemaName === undefined ? plain : `${quoteIfOdd(syntax, schemaName)}.${plain}`;
}

const needsSchema = (table) => table.extra?.get?.("needs_schema") === true;

/** How well a name fits a table, 0 being best; null if it is the name of another. */
function rank(table, name) {
  const schema = table.schemaName;
  if (schema !== null && schema !== undefined && name[schema.length] === ".") {
    const [start, rest] = [name.slice(0, schema.length), name.slice(schema.length + 1)];
    if (same(start, schema) && same(rest, table.name)) return start === schema && rest === table.name ? 0 : 1;
  }
  if (!same(name, table.name)) return null;
  return 2 + (needsSchema(table) ? 2 : 0) + (name === table.name ? 0 : 1);
}

/** The place in `catalog.tables` of the table that a name means, with its schema before it or without; null if there is none. */
export function tablePlace(catalog, name) {
  let best = null;
  for (const [place, table] of catalog.tables.entries()) {
    const found = rank(table, name);
    if (found !== null && (best === null || found < best.found)) best = { found, place };
  }
  return best?.place ?? null;
}

/** The table that a name means, as hits, facts, foreign keys and models write it; null if there is none. */
export function findTable(catalog, name) {
  const place = tablePlace(catalog, name);
  return place === null ? null : catalog.tables[place];
}

/** The name by which the host shows and finds each table, in order: what a linker's selection has. */
export function tableNames(catalog) {
  const times = new Map();
  for (const { name } of catalog.tables) times.set(lower(name), (times.get(lower(name)) ?? 0) + 1);
  return catalog.tables.map((table) => {
    const isPlain = table.schemaName === null || table.schemaName === undefined || (times.get(lower(table.name)) < 2 && !needsSchema(table));
    return isPlain ? table.name : `${table.schemaName}.${table.name}`;
  });
}
