// Graded runs over suites: the list, a comparison with its sentence, and every answer.

import { useEffect, useMemo, useState } from "preact/hooks";

import { type Json, Problem } from "./api";
import { WatchedView, useWatched } from "./comparing";
import { Code, Facts, Failure, Foreign, Loading, Status, clip, moment, percent, seconds, useLoaded } from "./parts";
import { href } from "./route";
import { type Section, SectionView } from "./sections";
import { Table } from "./table";
import { TraceView } from "./trace";

/** The time between two looks at a run that goes on, in milliseconds. */
const WATCH = 3000;

interface Line {
  run: string;
  changed_ms: number;
  suite: string;
  arms: string[];
  done: number;
  of: number;
  rule: string;
  simulated: string | null;
  running: boolean;
  grid: boolean;
}

interface Interval {
  low: number;
  high: number;
}

interface Arm {
  name: string;
  strategy: string;
  right: number;
  of: number;
  excluded: number;
  share: number | null;
  interval: Interval;
  settings?: Json;
  costs: { calls_mean?: number | null; tokens_mean: number | null; usd_mean: number | null; latency?: { p50_ms: number } | null };
}

interface Pair {
  first: string;
  second: string;
  questions: number;
  b: number;
  c: number;
  difference: number | null;
  interval: Interval | null;
  holm: number;
  e_process: { value: number; threshold: number; decides: boolean };
  decision: string;
  verdict: string;
  flipped: { id: string; db: string; question: string; right: string; first_sql: string | null; second_sql: string | null; gold_sql: string | null }[];
}

interface Row {
  arm: string;
  id: string;
  db: string;
  question: string;
  end: string;
  verdict: string | null;
  confidence: number | null;
  calls?: number | null;
  duration?: number | null;
  sql: string | null;
  gold_sql: string | null;
  error: string | null;
  run?: string | null;
}

export interface Report extends Partial<Omit<Arm, "name">> {
  schema: string;
  run: string;
  suite: { path: string; questions: number; asked: number };
  rule: string;
  simulated: string | null;
  partial: { done: number; of: number; why: string } | null;
  warnings: string[];
  running: boolean;
  arm?: { name: string; strategy: string; settings?: Json };
  arms?: Arm[];
  pairs?: Pair[];
  results: Row[];
  /** The pictures and tables of the host; not while the run goes on. */
  sections?: Section[];
  /** The answers that a page that stands alone leaves out. */
  left_out?: number;
}

export function EvaluationsView() {
  const { value, error, reload } = useLoaded<{ runs: Line[] }>("/evaluations");
  return (
    <>
      <h1>Evaluations</h1>
      <p>
        <a class="button" href={href(["evaluations", "new"])}>
          Compare strategies
        </a>{" "}
        <button type="button" onClick={reload}>
          Reload
        </button>{" "}
        <span class="dim">The commands benchmark and compare make evaluations, too; a run that goes on can be watched.</span>
      </p>
      {error ? <Failure error={error} /> : null}
      {!value && !error && <Loading what="evaluations" />}
      {value && value.runs.length === 0 && <p>There are none yet.</p>}
      {value && value.runs.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Evaluations, scrollable">
          <table>
            <thead>
              <tr>
                <th scope="col">Last change (UTC)</th>
                <th scope="col">Suite</th>
                <th scope="col">Arms</th>
                <th scope="col">Answers</th>
                <th scope="col">Rule</th>
                <th scope="col">State</th>
              </tr>
            </thead>
            <tbody>
              {value.runs.map((line) => (
                <tr key={line.run}>
                  <td>{moment(line.changed_ms)}</td>
                  <td class="wide">
                    {line.grid ? <Foreign text={line.suite} most={120} /> : <a href={href(["evaluations", line.run])}><Foreign text={line.suite} most={120} /></a>}
                    {line.simulated && <span class="dim"> (<Foreign text={line.simulated} most={80} />)</span>}
                  </td>
                  <td>
                    <Foreign text={line.arms.join(", ")} most={120} />
                  </td>
                  <td class="number">
                    {line.done} of {line.of}
                  </td>
                  <td>{line.rule}</td>
                  <td>
                    <Status status={line.grid ? "grid" : line.running ? "running" : line.done < line.of ? "unfinished" : "done"} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

const signed = (value: number) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${(Math.abs(value) * 100).toFixed(1)}`;

/** A point with its interval, on a scale from −1 or 0 to 1. */
function Whisker({ value, interval, low }: { value: number; interval: Interval; low: number }) {
  const at = (value: number) => 8 + ((Math.min(1, Math.max(low, value)) - low) / (1 - low)) * 184;
  return (
    <svg class="whisker" viewBox="0 0 200 20" width={200} height={20} aria-hidden="true">
      <line class="grid" x1={at(0)} x2={at(0)} y1={1} y2={19} />
      <line class="grid" x1={8} x2={192} y1={10} y2={10} />
      <line class="line" x1={at(interval.low)} x2={at(interval.high)} y1={10} y2={10} />
      <circle class="mark" cx={at(value)} cy={10} r={4} />
    </svg>
  );
}

export function EvaluationView({ run }: { run: string }) {
  const { value, error, reload } = useLoaded<Report>(`/evaluations/${encodeURIComponent(run)}`);
  const [report, setReport] = useState<Report | null>(null);
  const watched = useWatched(run, reload);
  // While a run goes on, the last report stays until the next one is there.
  useEffect(() => {
    if (value) setReport(value);
    if (!(value?.running || (error && watched.state === "running"))) return;
    const timer = setTimeout(reload, WATCH);
    return () => clearTimeout(timer);
  }, [value, error, watched.state]);
  // A comparison that has just begun has no report yet.
  const isMissing = error instanceof Problem && error.status === 404 && watched.state !== "none";
  return (
    <>
      <h1>Evaluation</h1>
      <WatchedView watched={watched} run={run} />
      {error && !isMissing ? <Failure error={error} /> : null}
      {!report && !error && <Loading what="the report" />}
      {report && <ReportView report={report} run={run} />}
    </>
  );
}

/** A report. `run` leads to its traces; a page that stands alone has none. */
export function ReportView({ report, run }: { report: Report; run?: string }) {
  const arms: Arm[] = report.arms ?? [{ ...(report as unknown as Arm), name: report.arm?.name ?? "", strategy: report.arm?.strategy ?? "" }];
  // The pictures take longer than all that stands above them.
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setDrawn(true));
    return () => clearTimeout(timer);
  }, []);
  const traced = useMemo(() => new Map(report.results.filter((row) => row.run).map((row) => [`${row.arm}\n${row.id}`, row])), [report]);
  return (
    <article aria-label="Report">
      <p>
        <Status status={report.running ? "running" : report.partial ? "unfinished" : "done"} /> <Foreign text={report.suite.path} most={200} />, rule {report.rule}
      </p>
      <p role="status" class="dim">
        {report.partial ? `${report.partial.done} of ${report.partial.of} answers: ${clip(report.partial.why, 200)}.` : ""}
      </p>
      {report.simulated && (
        <p class="warning">
          A simulated model answered (<Foreign text={report.simulated} most={120} />): the figures say nothing about a real one.
        </p>
      )}
      {report.pairs?.map((pair) => <PairView key={`${pair.first} ${pair.second}`} pair={pair} run={run} traced={traced} />)}
      <h2>Arms</h2>
      <div class="scroll" tabIndex={0} role="region" aria-label="Arms, scrollable">
        <table>
          <thead>
            <tr>
              <th scope="col">Arm</th>
              <th scope="col">Right</th>
              <th scope="col">Share with its 95 % interval</th>
              <th scope="col">Calls a question</th>
              <th scope="col">Tokens</th>
              <th scope="col">Dollars</th>
              <th scope="col">Half within</th>
            </tr>
          </thead>
          <tbody>
            {arms.map((arm) => (
              <tr key={arm.name}>
                <th scope="row">
                  <Foreign text={arm.name} most={80} />
                </th>
                <td class="number">
                  {arm.right} of {arm.of}
                </td>
                <td>
                  {arm.share !== null && (
                    <>
                      <Whisker value={arm.share} interval={arm.interval} low={0} /> {(arm.share * 100).toFixed(1)} % ({(arm.interval.low * 100).toFixed(1)}–{(arm.interval.high * 100).toFixed(1)})
                    </>
                  )}
                </td>
                <td class="number">{arm.costs.calls_mean?.toFixed(1) ?? ""}</td>
                <td class="number">{arm.costs.tokens_mean?.toFixed(0) ?? ""}</td>
                <td class="number">{arm.costs.usd_mean?.toFixed(4) ?? ""}</td>
                <td class="number">{arm.costs.latency ? seconds(arm.costs.latency.p50_ms) : ""}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {report.warnings.map((warning) => (
        <p class="warning" key={warning}>
          <Foreign text={warning} most={1000} />
        </p>
      ))}
      {[...(report.arm ? [report.arm] : []), ...(report.arms ?? [])].map(
        (arm) =>
          arm.settings != null && (
            <details key={arm.name}>
              <summary>
                Settings of <Foreign text={arm.name} most={80} />
              </summary>
              <Code text={JSON.stringify(arm.settings, null, 2)} label={`Settings of ${clip(arm.name, 60)}`} />
            </details>
          ),
      )}
      <Answers rows={report.results} arms={arms.map((arm) => arm.name)} />
      {report.left_out ? <p class="warning">{report.left_out} more are left out here; the JSON has them.</p> : null}
      {isDrawn && report.sections?.map((section, place) => <SectionView key={place} section={section} />)}
    </article>
  );
}

function PairView({ pair, run, traced }: { pair: Pair; run?: string; traced: Map<string, Row> }) {
  const link = (arm: string, id: string) =>
    run && traced.has(`${arm}\n${id}`) ? <a href={href(["evaluations", run, "trace"], { arm, id })}>Trace of {clip(arm, 60)}</a> : null;
  return (
    <section aria-label={`${clip(pair.second, 60)} against ${clip(pair.first, 60)}`}>
      <p class="sentence">
        <Foreign text={pair.verdict} most={1000} />
      </p>
      {pair.difference !== null && (
        <p>
          {pair.interval && <Whisker value={pair.difference} interval={pair.interval} low={-1} />} <Foreign text={pair.second} most={60} /> minus <Foreign text={pair.first} most={60} />: {signed(pair.difference)} points
          {pair.interval && ` (95 %: ${signed(pair.interval.low)} to ${signed(pair.interval.high)})`}
        </p>
      )}
      <Facts
        facts={[
          ["Questions", String(pair.questions)],
          [`Only ${clip(pair.first, 30)} right`, String(pair.b)],
          [`Only ${clip(pair.second, 30)} right`, String(pair.c)],
          ["McNemar, after Holm", pair.holm.toPrecision(2)],
          ["E-value", `${pair.e_process.value.toPrecision(3)} (from ${pair.e_process.threshold})`],
        ]}
      />
      {pair.flipped.length > 0 && (
        <details>
          <summary>
            Flipped questions: {pair.flipped.length}, of which {pair.flipped.filter((one) => one.right === "second").length} are right with <Foreign text={pair.second} most={60} /> alone
          </summary>
          <ul class="tasks">
            {pair.flipped.slice(0, 500).map((one) => (
              <li key={one.id}>
                <details>
                  <summary>
                    <Foreign text={one.id} most={60} /> <Status status={one.right === "second" ? `only ${pair.second}` : `only ${pair.first}`} /> <Foreign text={one.question} most={300} />
                  </summary>
                  {[
                    [pair.first, one.first_sql],
                    [pair.second, one.second_sql],
                    ["expected", one.gold_sql],
                  ].map(([name, sql]) => sql && <Code key={name} label={`Statement: ${name}`} text={`-- ${clip(name!, 60)}\n${sql}`} />)}
                  <p>
                    {link(pair.first, one.id)} {link(pair.second, one.id)}
                  </p>
                </details>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

const COLUMNS = ["arm", "id", "database", "question", "verdict", "end", "confidence", "calls", "ms", "statement", "expected", "error"];

function Answers({ rows, arms }: { rows: Row[]; arms: string[] }) {
  const [arm, setArm] = useState("");
  const [verdict, setVerdict] = useState("");
  const [question, setQuestion] = useState("");
  const shown = useMemo(() => {
    const wanted = question.toLowerCase();
    return rows
      .filter((row) => (!arm || row.arm === arm) && (!verdict || (row.verdict ?? "none") === verdict) && (!wanted || row.question.toLowerCase().includes(wanted)))
      .map((row): Json[] => [
        row.arm,
        row.id,
        row.db,
        row.question,
        row.verdict,
        row.end,
        row.confidence === null ? null : Number(percent(row.confidence)),
        row.calls ?? null,
        row.duration == null ? null : Math.round(row.duration * 1000),
        row.sql,
        row.gold_sql,
        row.error,
      ]);
  }, [rows, arm, verdict, question]);
  return (
    <>
      <h2>Answers</h2>
      <div class="bar">
        <label>
          Arm{" "}
          <select value={arm} onChange={(event) => setArm(event.currentTarget.value)}>
            <option value="">all</option>
            {arms.map((name) => (
              <option key={name} value={name}>
                {clip(name, 80)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Verdict{" "}
          <select value={verdict} onChange={(event) => setVerdict(event.currentTarget.value)}>
            {["", "right", "wrong", "excluded", "none"].map((name) => (
              <option key={name} value={name}>
                {name || "all"}
              </option>
            ))}
          </select>
        </label>
        <label>
          Question <input type="search" dir="auto" value={question} onInput={(event) => setQuestion(event.currentTarget.value)} />
        </label>
      </div>
      <Table columns={COLUMNS} rows={shown} sql={null} truncated={false} label="All answers" />
    </>
  );
}

export function AnswerTraceView({ run, query }: { run: string; query: URLSearchParams }) {
  const search = new URLSearchParams({ arm: query.get("arm") ?? "", id: query.get("id") ?? "" });
  return (
    <>
      <p>
        <a href={href(["evaluations", run])}>The evaluation</a>
      </p>
      <TraceView run={run} path={`/evaluations/${encodeURIComponent(run)}/trace?${search}`} />
    </>
  );
}
