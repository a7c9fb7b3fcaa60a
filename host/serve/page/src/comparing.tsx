// A comparison that is begun from the page, and its progress.

import { useEffect, useState } from "preact/hooks";

import { type Event, Problem, compare, readEvents, stopComparison } from "./api";
import { Failure, Foreign, Loading, clip, plural, seconds, useLoaded } from "./parts";
import { go, href } from "./route";

/** The numbers of strategies in a comparison. */
const LEAST = 2;
const MOST = 4;

interface Suites {
  suites: { suite: string; questions: number | null; reason: string | null }[];
  strategies: { name: string; summary: string }[];
  strategy: string;
  limits: { calls: number; searches: number };
}

const fileName = (path: string) => path.split(/[\\/]/).at(-1) || path;

export function StartView() {
  const { value, error, reload } = useLoaded<Suites>("/suites");
  return (
    <>
      <h1>Compare strategies</h1>
      {error ? <Failure error={error} /> : null}
      {!value && !error && <Loading what="suites and strategies" />}
      {value && <StartForm key={value.suites.length} offered={value} onReload={reload} />}
    </>
  );
}

function StartForm({ offered, onReload }: { offered: Suites; onReload: () => void }) {
  const usable = offered.suites.filter((one) => one.questions !== null);
  const refused = offered.suites.filter((one) => one.questions === null);
  const [suite, setSuite] = useState(usable[0]?.suite ?? "");
  const [arms, setArms] = useState<string[]>(() => offered.strategies.filter(({ name }) => name === offered.strategy).map(({ name }) => name));
  const [limits, setLimits] = useState({ calls: "", usd: "", minutes: "" });
  const [error, setError] = useState<unknown>(null);
  const [sending, setSending] = useState(false);
  const questions = usable.find((one) => one.suite === suite)?.questions ?? 0;
  const isMany = questions * arms.length > offered.limits.searches;
  const isReady = suite !== "" && arms.length >= LEAST && arms.length <= MOST && !isMany && !sending;
  const start = async () => {
    setSending(true);
    setError(null);
    try {
      const run = await compare({
        arms,
        suite,
        ...(limits.calls && { calls: Number(limits.calls) }),
        ...(limits.usd && { usd: Number(limits.usd) }),
        ...(limits.minutes && { seconds: Number(limits.minutes) * 60 }),
      });
      go(["evaluations", run]);
    } catch (error) {
      setError(error);
    }
    setSending(false);
  };
  const choose = (name: string) => setArms(arms.includes(name) ? arms.filter((other) => other !== name) : [...arms, name]);
  const limit = (name: keyof typeof limits, label: string, step: number | "any", least: number) => (
    <label>
      {label}{" "}
      <input type="number" min={least} step={step} value={limits[name]} onInput={(event) => setLimits({ ...limits, [name]: event.currentTarget.value })} />
    </label>
  );
  if (!usable.length) {
    return (
      <>
        <p>
          A comparison asks the questions of a suite, whose right answers are known. Put a file of questions with their statements beside the database, or name one by{" "}
          <code>serve --suite FILE</code>:
        </p>
        <pre class="code" tabIndex={0} role="region" aria-label="A suite">
          {'{"id": "1", "db": "shop", "question": "How many customers are there?", "gold_sql": "SELECT count(*) FROM customers"}'}
        </pre>
        <button type="button" onClick={onReload}>
          Look again
        </button>
        <Refused suites={refused} />
      </>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void start();
      }}
    >
      <p>
        <label>
          Suite{" "}
          <select value={suite} onChange={(event) => setSuite(event.currentTarget.value)}>
            {usable.map((one) => (
              <option key={one.suite} value={one.suite}>
                {clip(fileName(one.suite), 120)} ({plural(one.questions!, "question")})
              </option>
            ))}
          </select>
        </label>
      </p>
      <fieldset>
        <legend>
          Strategies, {LEAST} to {MOST}; the first that you choose is the baseline
        </legend>
        {offered.strategies.map(({ name, summary }) => (
          <p key={name} class="choice">
            <label>
              <input type="checkbox" checked={arms.includes(name)} disabled={!arms.includes(name) && arms.length >= MOST} onChange={() => choose(name)} />{" "}
              <strong>
                <Foreign text={name} most={80} />
              </strong>
              {arms[0] === name && " (baseline)"} <span class="dim">{<Foreign text={summary} most={300} />}</span>
            </label>
          </p>
        ))}
      </fieldset>
      <div class="bar">
        {limit("calls", "Stop after model calls", 1, 1)}
        {limit("usd", "dollars", "any", 0)}
        {limit("minutes", "minutes", "any", 0)}
      </div>
      <div class="bar">
        <button type="submit" class="main" disabled={!isReady}>
          Compare
        </button>
        <span class="dim" role="status">
          {isMany
            ? `These are more than ${offered.limits.searches} searches; the command compare has no such limit.`
            : arms.length < LEAST
              ? "Choose another strategy."
              : `${plural(questions * arms.length, "search").replace(/searchs$/, "searches")}; at most ${limits.calls || offered.limits.calls} model calls.`}
        </span>
      </div>
      {error ? <Failure error={error} /> : null}
      <Refused suites={refused} />
    </form>
  );
}

function Refused({ suites }: { suites: Suites["suites"] }) {
  if (!suites.length) return null;
  return (
    <details>
      <summary>{plural(suites.length, "file")} cannot be used</summary>
      <ul>
        {suites.map((one) => (
          <li key={one.suite}>
            <Foreign text={fileName(one.suite)} most={120} />: <Foreign text={one.reason ?? ""} most={400} />
          </li>
        ))}
      </ul>
    </details>
  );
}

export interface Watched {
  /** `none` if this server did not begin the run. */
  state: "connecting" | "none" | "running" | "ended" | "failed";
  progress?: { done: number; of: number; arms: { arm: string; right: number; of: number }[]; failed: number; calls: number; usd: number | null; left_s: number | null };
  problem?: Problem;
}

function apply(watched: Watched, { kind, data }: Event): Watched {
  switch (kind) {
    case "progress":
      return { state: "running", progress: data as Watched["progress"] };
    case "ended":
      return { ...watched, state: "ended" };
    case "failed":
      return { ...watched, state: "failed", problem: new Problem(0, String(data.class), String(data.detail)) };
    default:
      return { ...watched, state: "running" };
  }
}

/** The progress of a comparison of this server; `onEnd` is called at its end. */
export function useWatched(run: string, onEnd: () => void): Watched {
  const [watched, setWatched] = useState<Watched>({ state: "connecting" });
  useEffect(() => {
    const abort = new AbortController();
    let wasRunning = false;
    const receive = (event: Event) => {
      wasRunning ||= event.kind === "progress" || event.kind === "queued";
      setWatched((watched) => apply(watched, event));
    };
    readEvents(`/evaluations/${encodeURIComponent(run)}`, abort.signal, receive).then(
      () => wasRunning && onEnd(),
      () => abort.signal.aborted || setWatched({ state: "none" }),
    );
    return () => abort.abort();
  }, [run]);
  return watched;
}

export function WatchedView({ watched, run }: { watched: Watched; run: string }) {
  const [error, setError] = useState<unknown>(null);
  const { state, progress, problem } = watched;
  if (state === "none" || state === "connecting") return null;
  const share = ({ arm, right, of }: { arm: string; right: number; of: number }) => `${arm} ${of ? ((right / of) * 100).toFixed(1) : "–"} % right`;
  return (
    <section aria-label="Progress">
      {state === "running" && (
        <div class="bar">
          <progress max={progress?.of ?? 1} value={progress?.done ?? 0} aria-label="Answers" />
          <button type="button" onClick={() => void stopComparison(run).catch(setError)}>
            Stop
          </button>
        </div>
      )}
      <p role="status" class="dim">
        {state === "running" && !progress && "Checking the suite, the database and the strategies …"}
        {progress && (
          <Foreign
            text={[
              `${progress.done} of ${progress.of} answers`,
              ...progress.arms.map(share),
              ...(progress.failed ? [`${progress.failed} failed`] : []),
              plural(progress.calls, "call"),
              ...(progress.usd ? [`$${progress.usd.toFixed(4)}`] : []),
              ...(state === "running" && progress.left_s !== null ? [`${seconds(progress.left_s * 1000)} left`] : []),
            ].join(" · ")}
            most={600}
          />
        )}
      </p>
      {problem && <Failure error={problem} />}
      {error ? <Failure error={error} /> : null}
      {state === "failed" && (
        <p>
          <a href={href(["evaluations", "new"])}>Compare again</a>
        </p>
      )}
    </section>
  );
}
