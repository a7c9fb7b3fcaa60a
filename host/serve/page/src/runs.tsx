// Runs: the list with its filters, and two traces side by side.

import { useEffect, useState } from "preact/hooks";

import type { Json } from "./api";
import { CandidateItem } from "./graph";
import { Failure, Foreign, Loading, Status, bytes, clip, moment, percent, seconds, useLoaded } from "./parts";
import { go, href } from "./route";
import type { Candidate } from "./search";
import { text } from "./table";

interface Line {
  run: string;
  began_ms: number;
  question: string;
  outcome: string;
  confidence: number | null;
  calls: number;
  took_ms: number;
  bytes: number;
}

const OUTCOMES = ["answered", "partial", "no-answer", "clarification-needed", "failed", "running", "unfinished"];
const PAGE = 50;

/** Properties of an input that keeps what is being typed while lines arrive, and gives it when it is complete. */
function useTyped(given: string, give: (value: string) => void) {
  const [typed, setTyped] = useState(given);
  useEffect(() => setTyped(given), [given]);
  return {
    value: typed,
    onInput: (event: { currentTarget: HTMLInputElement }) => setTyped(event.currentTarget.value),
    onChange: (event: { currentTarget: HTMLInputElement }) => give(event.currentTarget.value),
  };
}

export function RunsView({ query }: { query: URLSearchParams }) {
  const filters = {
    question: query.get("question") ?? "",
    outcome: query.get("outcome") ?? "",
    min_confidence: query.get("min_confidence") ?? "",
  };
  const offset = Number(query.get("offset")) || 0;
  const [chosen, setChosen] = useState<string[]>([]);
  const given = Object.entries(filters).filter(([, value]) => value !== "");
  const search = new URLSearchParams([...given, ["offset", String(offset)], ["limit", String(PAGE)]]);
  const { value, error, reload } = useLoaded<{ runs: Line[]; waiting: { run: string; question: string }[]; more: boolean }>(`/runs?${search}`);
  const change = (part: { [name: string]: string }) => go(["runs"], { ...filters, ...part });
  const question = useTyped(filters.question, (question) => change({ question }));
  const confidence = useTyped(filters.min_confidence, (min_confidence) => change({ min_confidence }));
  const page = (offset: number) => href(["runs"], { ...filters, offset: offset ? String(offset) : "" });
  const choose = (run: string) => setChosen(chosen.includes(run) ? chosen.filter((other) => other !== run) : [...chosen, run].slice(-2));
  return (
    <>
      <h1>Runs</h1>
      <form class="bar" onSubmit={(event) => event.preventDefault()} role="search">
        <label>
          Question <input type="search" dir="auto" {...question} />
        </label>
        <label>
          Outcome{" "}
          <select value={filters.outcome} onChange={(event) => change({ outcome: event.currentTarget.value })}>
            <option value="">any</option>
            {OUTCOMES.map((outcome) => (
              <option key={outcome}>{outcome}</option>
            ))}
          </select>
        </label>
        <label>
          Confidence from{" "}
          <input type="number" min={0} max={1} step={0.05} {...confidence} />
        </label>
        <button type="button" onClick={reload}>
          Reload
        </button>
        <button type="button" disabled={chosen.length !== 2} onClick={() => go(["compare", ...chosen])}>
          Compare two
        </button>
      </form>
      {error ? <Failure error={error} /> : null}
      {!value && !error && <Loading what="runs" />}
      {value && value.waiting.length > 0 && (
        <p>
          Waiting or just started:{" "}
          {value.waiting.slice(0, 20).map((one) => (
            <a key={one.run} href={href(["ask", one.run])}>
              <Foreign text={one.question} most={80} />{" "}
            </a>
          ))}
        </p>
      )}
      {value && value.runs.length === 0 && <p>There are no such runs.</p>}
      {value && value.runs.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Runs, scrollable">
          <table>
            <thead>
              <tr>
                <th scope="col">
                  <span class="hidden">Compare</span>
                </th>
                <th scope="col">When (UTC)</th>
                <th scope="col">Question</th>
                <th scope="col">Outcome</th>
                <th scope="col">Confidence</th>
                <th scope="col">Calls</th>
                <th scope="col">Took</th>
                <th scope="col">Size</th>
              </tr>
            </thead>
            <tbody>
              {value.runs.map((line) => (
                <tr key={line.run}>
                  <td>
                    <input type="checkbox" checked={chosen.includes(line.run)} onChange={() => choose(line.run)} aria-label={`Compare ${line.run}`} />
                  </td>
                  <td>{moment(line.began_ms)}</td>
                  <td class="wide">
                    <a href={href([line.outcome === "running" ? "ask" : "runs", line.run])}>
                      <Foreign text={line.question} most={160} />
                    </a>
                  </td>
                  <td>
                    <Status status={line.outcome} />
                  </td>
                  <td class="number">{line.confidence === null ? "" : percent(line.confidence)}</td>
                  <td class="number">{line.calls}</td>
                  <td class="number">{seconds(line.took_ms)}</td>
                  <td class="number">{bytes(line.bytes)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <nav class="bar" aria-label="Pages">
        {offset > 0 && <a href={page(Math.max(0, offset - PAGE))}>Newer</a>}
        {value?.more && <a href={page(offset + PAGE)}>Older</a>}
      </nav>
    </>
  );
}

interface Side {
  id: string;
  text: string;
}

interface Difference {
  what: string;
  left: Json;
  right: Json;
}

interface Diff {
  runs: [string, string];
  questions: [string, string];
  same_question: boolean;
  equal: boolean;
  told: Difference[];
  tasks: {
    round: number;
    matched_by: string | null;
    left: Side | null;
    right: Side | null;
    differences: Difference[];
    candidates: { matched_by: string | null; equal_result: boolean | null; left: Candidate | null; right: Candidate | null }[];
  }[];
  answer: { equal_rows: boolean | null; left: { [what: string]: Json }; right: { [what: string]: Json } };
  counts: { what: string; left: number | null; right: number | null }[];
}

function same(left: unknown, right: unknown) {
  return JSON.stringify(left) === JSON.stringify(right);
}

function Differences({ caption, differences, runs }: { caption: string; differences: Difference[]; runs: string[] }) {
  if (!differences.length) return null;
  const cell = (value: Json) => (value === null || value === "" ? <span class="dim">none</span> : <Foreign text={text(value)} most={2000} />);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table class="pairs">
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">{runs[0]}</th>
            <th scope="col">{runs[1]}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map((one) => (
            <tr key={one.what} class={same(one.left, one.right) ? "" : "differs"}>
              <th scope="row">
                <Foreign text={one.what} most={100} />
              </th>
              <td class="wide">{cell(one.left)}</td>
              <td class="wide">{cell(one.right)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function CompareView({ left, right }: { left: string; right: string }) {
  const { value: diff, error } = useLoaded<Diff>(`/runs/${encodeURIComponent(left)}/difference/${encodeURIComponent(right)}`);
  const [only, setOnly] = useState(false);
  if (error) {
    return (
      <>
        <h1>Two runs</h1>
        <Failure error={error} />
      </>
    );
  }
  if (!diff) {
    return (
      <>
        <h1>Two runs</h1>
        <Loading what="both runs" />
      </>
    );
  }
  const answers = Object.keys(diff.answer.left).map((what) => ({ what, left: diff.answer.left[what], right: diff.answer.right[what] }));
  const rows = diff.answer.equal_rows === null ? "The rows of the answers cannot be compared." : diff.answer.equal_rows ? "The answers have equal rows." : "The answers have other rows.";
  const differs = (pair: Diff["tasks"][number]) => pair.matched_by === null || pair.differences.length > 0 || pair.candidates.some((one) => !isEqual(one));
  const pairs = diff.tasks.filter((pair) => !only || differs(pair));
  const names = diff.runs.map((run) => run);
  return (
    <>
      <h1>Two runs</h1>
      <div class="sides">
        {diff.runs.map((run, place) => (
          <p key={place}>
            <a href={href(["runs", run])}>{run}</a>
            <br />
            <Foreign text={diff.questions[place]} most={1000} />
          </p>
        ))}
      </div>
      <p class={diff.equal ? "good" : "warning"}>
        {diff.equal ? "Both searches are equal but for times and costs." : rows} {!diff.same_question && "They were not asked the same question."}
      </p>
      <Differences caption="Answers" differences={answers} runs={names} />
      <Differences caption="Inputs that differ" differences={diff.told} runs={names} />
      <Differences caption="Counts" differences={diff.counts} runs={names} />
      <label class="bar">
        <input type="checkbox" checked={only} onChange={(event) => setOnly(event.currentTarget.checked)} /> only tasks that differ
      </label>
      {pairs.map((pair, place) => (
        <section key={place} class={`pair ${differs(pair) ? "differs" : ""}`} aria-label={`Task ${clip(pair.left?.id ?? pair.right?.id ?? "", 60)}`}>
          <div class="sides">
            {[pair.left, pair.right].map((side, at) => (
              <h2 key={at}>
                {side ? (
                  <>
                    <Foreign text={side.id} most={60} />: <Foreign text={side.text} most={500} />
                  </>
                ) : (
                  <span class="dim">no such task</span>
                )}
              </h2>
            ))}
          </div>
          <Differences caption="What differs" differences={pair.differences} runs={names} />
          {pair.candidates.map((one, at) => (
            <div class="sides" key={at}>
              {[one.left, one.right].map((candidate, side) => (
                <div key={side} class={isEqual(one) ? "" : "differs"}>
                  {candidate ? (
                    <ul class="tasks">
                      <CandidateItem candidate={{ ...candidate, task: "" }} />
                    </ul>
                  ) : (
                    <span class="dim">no such candidate</span>
                  )}
                </div>
              ))}
            </div>
          ))}
        </section>
      ))}
      {!pairs.length && <p class="dim">No task differs.</p>}
    </>
  );
}

function isEqual(pair: Diff["tasks"][number]["candidates"][number]): boolean {
  const { left, right } = pair;
  return left !== null && right !== null && left.status === right.status && pair.equal_result !== false && left.sql === right.sql;
}

