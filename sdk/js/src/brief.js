// The prompt of a statement and of its repair: the catalog, the task, its plan, what its dependencies found, and what was tried before.

import { ask } from "./ask.js";
import { PortError } from "./errors.js";
import { shown } from "./names.js";
import { catalogText, exampleOf, factsText, isFact, metricRequest, mostOf, problemText, rowsText } from "./prompt.js";
import { joinKeysOf, planOf } from "./replies.js";
import { byteLength, clip, count, line, trim } from "./text.js";

// Enough to repair by, and a bound on what a hostile reply can put into the next prompt.
const STATEMENT = 4000;
const TASK = 2000;
const COLUMNS = 50;
// The most bytes of all solved examples before the question.
const EXAMPLES = 6000;
// The fewest bytes to which the catalog is shortened.
const LEAST = 500;

/** The part that all prompts of one task share. */
export class Brief {
  #catalog;
  #bytes;
  #facts;
  #problem;
  #asked;
  #examples;
  #rest;
  #metricRequest;

  /** Collects the task, its question, and the results of its dependencies. The limits are those of `solverSettings`. */
  constructor(host, { catalogBytes = 48_000, parentRows = 3 }, { problem, catalog, task, parents = [] }) {
    const hints = problem.hints ?? [];
    const plain = hints.filter((hit) => !isFact(hit));
    this.#facts = factsText(problem);
    this.#problem = problemText({ ...problem, hints: plain });
    this.#asked = problemText({ ...problem, hints: plain.filter((hit) => hit.corpus !== "examples") });
    this.#examples = hints.map(exampleOf).filter((example) => example !== null);
    let out = "";
    if (trim(task.text) !== trim(problem.question)) {
      out += `The question above is the setting. Your task is this part of it: ${line(task.text, TASK)}\n`;
    }
    if (task.expected !== null && task.expected !== undefined) out += `The result should be: ${line(task.expected, 400)}\n`;
    out += planText(task);
    for (const parent of parents) out += found(host, parentRows, catalog.syntax, parent);
    this.#rest = out + joinHints(catalog.syntax, task, parents);
    this.#catalog = catalog;
    this.#bytes = catalogBytes;
    this.#metricRequest = metricRequest(problem);
  }

  /**
   * Makes the prompts shorter: leaves the solved examples out, then the facts about tables, and then halves what the catalog may fill; false
   * if there is nothing more to leave out.
   */
  shorten() {
    if (this.#problem.length > this.#asked.length) {
      this.#examples = [];
      this.#problem = this.#asked;
      return true;
    }
    if (this.#facts !== "") {
      this.#facts = "";
      return true;
    }
    const before = this.#tables().length;
    while (this.#bytes >= 2 * LEAST && this.#tables().length === before) this.#bytes = Math.floor(this.#bytes / 2);
    return this.#tables().length < before;
  }

  /**
   * The request for the next statement. If there are earlier statements, `{ sql, wrong }` each, it is a repair with all of them and what was
   * wrong. `sample`: the number of the draw that it is or repairs.
   */
  request(tried = [], sample = 0) {
    const subjects = tried.map(({ sql }) => sql).filter((sql) => sql !== "");
    const purpose = subjects.length === 0 ? "generate" : "repair";
    return this.ask(purpose, this.instructions(), feedback(tried)).subjects(subjects).sample(sample).sql();
  }

  /**
   * A request with these instructions, the tables and the task, for a reply in the form of `instructions`; `more` follows the task. Solved
   * examples are turns before it, and the tables then stand before them.
   */
  ask(purpose, instructions, more = "") {
    if (this.#shownExamples().length === 0) return ask(purpose).system(instructions).user(this.setting() + more);
    const begun = ask(purpose).system(`${instructions}\n\n${this.#tables()}`);
    return this.addTurns(begun, (sql) => `\`\`\`sql\n${sql}\n\`\`\`\nConfidence: 0.95`).user(this.task() + more);
  }

  /**
   * Adds the solved examples as turns, the one that is most like the question last: the user asks it, and the assistant gives the `reply` of
   * its statement. The question itself is then that of `task`.
   */
  addTurns(begun, reply) {
    return this.#shownExamples().reduceRight((asked, { question, sql }) => asked.user(`Question: ${question}\n`).assistant(reply(sql)), begun);
  }

  /** The task without tables and solved examples, for a prompt of a strategy's own. */
  task() {
    return this.#asked + this.#rest;
  }

  // The solved examples that fit, the most like the question first.
  #shownExamples() {
    let left = EXAMPLES;
    return this.#examples.filter(({ question, sql }) => {
      const bytes = byteLength(question) + byteLength(sql);
      if (bytes > left) return false;
      left -= bytes;
      return true;
    });
  }

  #tables() {
    return `Tables:\n${catalogText(this.#catalog, this.#bytes)}${this.#facts}`;
  }

  /** The tables and the task with solved examples among its hints, for a prompt of a strategy's own. */
  setting() {
    return `${this.#tables()}\n${this.#problem}${this.#rest}`;
  }

  /** The rules for a statement and the form of the reply. */
  instructions() {
    const { title: name, rules } = this.#catalog.syntax;
    return (
      `You answer questions with one ${name} SELECT statement (WITH is fine). Nothing may be changed.\n` +
      "- Use only the tables, columns and task results that are listed, and quote names as they are written there.\n" +
      "- Select exactly what is asked for: no further columns, and no rows that nobody asked about.\n" +
      "- Give computed columns short names.\n" +
      `Rules of ${name}:\n${rules}` +
      "Write the statement in a ```sql fence, then a line `Confidence: ` with a number from 0 to 1: how likely it is right." +
      this.#metricRequest
    );
  }
}

function planText(task) {
  const steps = planOf(task);
  return steps.length === 0 ? "" : `A plan of the statement:\n${steps.map((step, index) => `${index + 1}. ${line(step, 600)}\n`).join("")}`;
}

function found(host, parentRows, syntax, { task, output }) {
  const reported = line(task.text, 300);
  if (output.relation) return relationText(host, parentRows, syntax, output.relation, reported);
  if (output.hits) return `Found for "${reported}": ${output.hits.slice(0, 20).map(hitText).join(", ")}\n`;
  if (output.failed) return `There is no result for "${reported}": ${line(output.failed.message, 300)}\n`;
  return "";
}

function hitText(hit) {
  const snippet = hit.snippet;
  const shownPath = line(hit.path, 120);
  return snippet && trim(snippet) !== "" ? `${shownPath} (${line(trim(snippet), mostOf(hit))})` : shownPath;
}

function relationText(host, parentRows, syntax, { name, results }, reported) {
  const { columns, rows } = results.profile;
  const names = columns.slice(0, COLUMNS).map(({ column }) => shown(syntax, column.name));
  if (columns.length > COLUMNS) names.push(`and ${columns.length - COLUMNS} more`);
  const out = `The result of "${reported}" can stand in FROM as ${shown(syntax, name)} (${names.join(", ")}), ${count(rows, "row")}.\n`;
  if (parentRows === 0 || rows === 0) return out;
  try {
    return `${out}Its first rows:\n${rowsText(host.rows.read(results, { offset: 0, limit: parentRows }))}`;
  } catch (error) {
    // Without the grant there is only the shape.
    if (error instanceof PortError) return out;
    throw error;
  }
}

function joinHints(syntax, task, parents) {
  const nameOf = (id) => {
    const relation = parents.find((parent) => parent.task.id === id)?.output.relation;
    return relation && shown(syntax, relation.name);
  };
  let out = "";
  for (const key of joinKeysOf(task)) {
    const [left, right, leftCol, rightCol] = [nameOf(key.left), nameOf(key.right), shown(syntax, key.leftCol), shown(syntax, key.rightCol)];
    if (left && right) out += `Join hint: ${left}.${leftCol} = ${right}.${rightCol} (${key.how})\n`;
    else if (left) out += `Join hint: ${left}.${leftCol} matches ${rightCol}\n`;
    else if (right) out += `Join hint: ${right}.${rightCol} matches ${leftCol}\n`;
  }
  return out;
}

/** The earlier attempts, `{ sql, wrong }` each, as prompt text; empty without any. */
export function feedback(tried) {
  if (tried.length === 0) return "";
  const attempt = ({ sql, wrong }, index) =>
    `Attempt ${index + 1}:\n${sql === "" ? "(no statement)" : clip(sql, STATEMENT)}\nWhat was wrong: ${wrong}\n`;
  return `\nEarlier attempts, none of which did. Do not repeat them.\n${tried.map(attempt).join("")}`;
}
