// The trace of a search: the answer, its rounds, and its calls. Pages of the server show it, and pages that stand alone.

import type { ComponentChildren } from "preact";

import type { Answered, Json } from "./api";
import { Drawing, TaskList } from "./graph";
import { Answers, Code, Facts, Failure, Foreign, Loading, Status, clip, percent, plural, seconds, useLoaded } from "./parts";
import { href } from "./route";
import type { Candidate, Task } from "./search";
import { Result, SqlEditor } from "./sql";
import { Table, text } from "./table";

/** An ending as journals have it: a word, or an object whose key is the word. */
type Ending = string | { [word: string]: Json } | null;

export interface Tree {
  run: string;
  began_ms: number;
  took_us: number;
  question: string;
  evidence: string | null;
  answers?: Answered[];
  database: string;
  provider: string;
  models: string[];
  plugins: { role: string; digest: string; name?: string; version?: string }[];
  outcome: { kind: string; reason: string | null; interrupted: boolean };
  answer: { text: string | null; sql: string | null; columns: string[]; rows: Json[][]; row_count: number; truncated: boolean; claimed: number | null; confidence: number | null } | null;
  rounds: { number: number; answer: string | null; tasks: (Omit<Task, "ending"> & { ending: Ending; candidates: Candidate[]; started_us: number | null })[]; candidates: Candidate[]; questions: { text: string; answer: string | null }[] }[];
  cost: { calls: number; cached: number; input_tokens: number; output_tokens: number; sql_runs: number; usd: number | null };
  warnings: string[];
  calls: { issued: number; what: { kind: string; purpose?: string; prompt?: { speaker: string; text: string }[]; reply?: string | null } }[];
  settings: Json;
  host: string;
  words: Words;
}

/** The lines of a trace that the host writes, as the terminal shows them. */
interface Words {
  outcome: string;
  about: string[];
  remarks: string[];
  left_out: string | null;
  rounds: { tasks: string[][]; changes: string[] }[];
  cost: string[];
  calls: Call[];
}

interface Call {
  issued: number;
  by: string;
  port: string;
  what: string;
  end: string;
  state: string;
  kind: string;
  from_us: number;
  until_us: number | null;
}

function endingOf(ending: Ending, started: number | null): { ending: string; reason?: string } {
  if (ending === null) return { ending: started === null ? "not-ended" : "running" };
  if (typeof ending === "string") return { ending };
  const [word, why] = Object.entries(ending)[0] ?? ["other", null];
  const message = why !== null && typeof why === "object" && !Array.isArray(why) && typeof why.message === "string" ? why.message : why === null ? undefined : text(why);
  return { ending: word, reason: message };
}

export function TraceView({ run, path }: { run: string; path?: string }) {
  const { value: tree, error, reload } = useLoaded<Tree>(path ?? `/runs/${encodeURIComponent(run)}`);
  return (
    <>
      <h1>Trace</h1>
      {error ? <Failure error={error} /> : null}
      {!tree && !error && <Loading what="the trace" />}
      {tree && (
        <Trace tree={tree}>
          <p>
            {tree.outcome.kind === "unfinished" && (
              <button type="button" onClick={reload}>
                Reload
              </button>
            )}{" "}
            <a href={href(["ask"], { question: clip(tree.question, 2000) })}>Ask again</a>
          </p>
        </Trace>
      )}
    </>
  );
}

/** A trace. `children` are what a server offers to do with it; a page that stands alone offers nothing. */
export function Trace({ tree, children }: { tree: Tree; children?: ComponentChildren }) {
  const { answer, outcome, words } = tree;
  const canRun = children !== undefined;
  return (
    <article aria-label="Trace">
      <p class="question">
        <Foreign text={tree.question} most={2000} />
      </p>
      {tree.evidence && (
        <p class="dim">
          <Foreign text={tree.evidence} most={2000} />
        </p>
      )}
      <Answers answers={tree.answers ?? []} />
      <p>
        <Status status={outcome.kind} /> {words.outcome !== outcome.kind && <Foreign text={words.outcome} most={2000} />}
      </p>
      {answer?.text && (
        <p class="sentence">
          <Foreign text={answer.text} most={4000} />
        </p>
      )}
      {answer && answer.confidence !== null && (
        <p>
          confidence {percent(answer.confidence)}
          {answer.claimed !== null && <span class="dim"> (claimed {percent(answer.claimed)})</span>}
        </p>
      )}
      <Lines lines={words.about} />
      {[...tree.warnings, ...words.remarks].map((warning) => (
        <p class="warning" key={warning}>
          <Foreign text={warning} most={1000} />
        </p>
      ))}
      {answer && answer.rows.length > 0 && <Result columns={answer.columns} rows={answer.rows} sql={canRun ? answer.sql : null} truncated={answer.truncated} />}
      {words.left_out && (
        <p class="dim">
          <Foreign text={words.left_out} most={400} />
        </p>
      )}
      {answer?.sql && (
        <details open={!canRun}>
          <summary>The statement</summary>
          {canRun ? <SqlEditor sql={answer.sql} label="SQL of the answer" /> : <Code text={answer.sql} label="SQL of the answer" />}
        </details>
      )}
      {tree.rounds.map((round, place) => {
        const tasks: Task[] = round.tasks.map((task) => ({ ...task, ...endingOf(task.ending, task.started_us), is_answer: task.id === round.answer }));
        const candidates = [
          ...round.tasks.flatMap((task) => task.candidates.map((candidate) => ({ ...candidate, task: task.id }))),
          ...round.candidates.map((candidate) => ({ ...candidate, task: "" })),
        ];
        const own = words.rounds[place];
        const lines = new Map(round.tasks.map((task, at) => [task.id, own?.tasks[at] ?? []]));
        return (
          <section key={round.number} aria-label={`Round ${round.number + 1}`}>
            <h2>
              {tree.rounds.length > 1 ? `Round ${round.number + 1}` : "The search"}: {plural(tasks.length, "task")}, {plural(candidates.length, "candidate")}
            </h2>
            <Drawing tasks={tasks} candidates={candidates} />
            <TaskList tasks={tasks} candidates={candidates} lines={lines} />
            <Lines lines={own?.changes ?? []} />
          </section>
        );
      })}
      <h2>Costs</h2>
      <Lines lines={words.cost} />
      <Calls tree={tree} />
      <Prompts tree={tree} />
      <h2>Plugins and settings</h2>
      <Facts facts={tree.plugins.map(({ role, name, version, digest }) => [role, <Foreign text={`${name ?? ""} ${version ?? ""} ${digest.slice(0, 12)}`} most={200} />])} />
      <details>
        <summary>Settings</summary>
        <Code text={JSON.stringify(tree.settings, null, 2)} label="Settings" />
      </details>
      {children}
    </article>
  );
}

function Lines({ lines }: { lines: string[] }) {
  return (
    <>
      {lines.map((line, place) => (
        <p key={place} class="dim line">
          <Foreign text={line} most={1000} />
        </p>
      ))}
    </>
  );
}

/** The drawn calls; the table below has all of them. */
const DRAWN = 400;
const LABEL = 230;
const WIDTH = 560;
const ROW = 18;

function Calls({ tree }: { tree: Tree }) {
  const { calls } = tree.words;
  if (!calls.length) return null;
  const whole = Math.max(tree.took_us, 1);
  const at = (us: number) => LABEL + (Math.min(us, whole) / whole) * WIDTH;
  const drawn = calls.slice(0, DRAWN);
  const height = (drawn.length + 1) * ROW + 6;
  const width = LABEL + WIDTH + 30;
  const took = (call: Call) => (call.until_us === null ? null : (call.until_us - call.from_us) / 1000);
  return (
    <section aria-label="Calls">
      <h2>Calls</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Time line, scrollable">
        <svg class="calls" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Time line of ${plural(calls.length, "call")} within ${seconds(whole / 1000)}`}>
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <g key={part}>
              <line class="grid" x1={at(part * whole)} x2={at(part * whole)} y1={14} y2={height} />
              <text class="tick" x={at(part * whole)} y={11} text-anchor="middle">
                {seconds((part * whole) / 1000)}
              </text>
            </g>
          ))}
          {drawn.map((call, place) => (
            <g key={place}>
              <title>{`${clip(call.what, 300)}: ${clip(call.end, 300)}`}</title>
              <text x={4} y={(place + 1) * ROW + 12}>
                {clip(`${call.by} ${call.port}`, 34)}
              </text>
              <rect class={`${call.kind} ${call.state.replace(" ", "-")}`} x={at(call.from_us)} y={(place + 1) * ROW + 3} width={Math.max(at(call.until_us ?? whole) - at(call.from_us), 2)} height={12} rx={2} />
            </g>
          ))}
        </svg>
      </div>
      <p class="dim">Model calls are blue, pale from a cache; statements green; others grey. Red: failed. Dashed: the end was not awaited.</p>
      <Table
        columns={["made", "by", "port", "from ms", "took ms", "end", "what"]}
        rows={calls.map((call): Json[] => [call.issued, call.by, call.port, call.from_us / 1000, took(call), call.end, call.what])}
        sql={null}
        truncated={false}
        label="All calls"
      />
    </section>
  );
}

/** The prompts and replies, where they may be shown. */
function Prompts({ tree }: { tree: Tree }) {
  const shown = tree.calls.filter(({ what }) => what.prompt?.length || what.reply);
  return (
    <>
      {shown.map(({ issued, what }) => (
        <details key={issued}>
          <summary>
            Prompt of call {issued}, <Foreign text={what.purpose ?? ""} most={60} />
          </summary>
          {what.prompt?.map((message, place) => <Code key={place} text={message.text} label={message.speaker} />)}
          {what.reply && <Code text={what.reply} label="Reply" />}
        </details>
      ))}
    </>
  );
}
