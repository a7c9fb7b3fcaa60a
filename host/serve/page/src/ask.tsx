// Ask: the question, its search while it runs, and the answer.

import { useEffect, useReducer, useRef, useState } from "preact/hooks";

import { type Answered, Problem, ask, readEvents, stop } from "./api";
import { Drawing, TaskList } from "./graph";
import { Answers, Facts, Failure, Foreign, clip, percent, plural, seconds, useLoaded } from "./parts";
import { go, href } from "./route";
import { type AnswerDocument, type Origin, type RestsOn, type Search, apply, empty } from "./search";
import { Result, SqlEditor } from "./sql";

interface Turn {
  run: string;
  question: string;
  evidence: string;
  answers: Answered[];
  conversation: string;
  /** The reading of a definition, and the sentence of the answer, once they are known. */
  understood?: string;
  sentence?: string;
}

/** The questions that were asked in this tab, the latest last. */
const asked: Turn[] = [];

/** The conversation that the next question goes on with; null where it begins one. */
let conversation: string | null = null;

/** The number of tables that are named before the first question. */
const NAMED = 12;

/** Forgets the conversation, as `\new` does at the prompt. */
const FORGET = "\\new";

function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(question: string, evidence: string, answers: Answered[]) {
  conversation ??= newId();
  const own = conversation;
  const run = await ask({ question, conversation: own, ...(evidence && { evidence }), ...(answers.length && { answers }) });
  asked.push({ run, question, evidence, answers, conversation: own });
  go(["ask", run]);
}

export function AskView({ run, query }: { run?: string; query: URLSearchParams }) {
  const known = asked.find((one) => one.run === run);
  const [question, setQuestion] = useState(query.get("question") ?? "");
  const [evidence, setEvidence] = useState(known?.evidence ?? query.get("evidence") ?? "");
  const [error, setError] = useState<unknown>(null);
  const [sending, setSending] = useState(false);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  // The next question goes on from the one that is shown.
  useEffect(() => {
    if (known) conversation = known.conversation;
  }, [run]);
  const own = known ? known.conversation : conversation;
  const before = asked.filter((one) => own !== null && one.conversation === own);
  const earlier = known ? before.slice(0, before.indexOf(known)) : run ? [] : before;
  const forget = () => {
    conversation = null;
    setQuestion("");
    setEvidence("");
    go(["ask"]);
    redraw(0);
    document.getElementById("question")?.focus();
  };
  const submit = async () => {
    if (question.trim() === FORGET) return forget();
    if (!question.trim() || sending) return;
    setSending(true);
    setError(null);
    try {
      await send(question, evidence, []);
    } catch (error) {
      setError(error);
    }
    setSending(false);
  };
  return (
    <>
      <h1>Ask</h1>
      <form
        class="ask"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label>
          <span>Question</span>
          <textarea
            id="question"
            dir="auto"
            rows={2}
            required
            value={question}
            onInput={(event) => setQuestion(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
                event.preventDefault();
                void submit();
              }
            }}
          />
        </label>
        <details open={evidence !== ""}>
          <summary>Explain terms</summary>
          <label>
            <span>Explanation of terms of the question</span>
            <textarea dir="auto" rows={2} value={evidence} onInput={(event) => setEvidence(event.currentTarget.value)} />
          </label>
        </details>
        <div class="bar">
          <button type="submit" class="main" disabled={!question.trim() || sending}>
            Ask
          </button>
          {own === null ? (
            <span class="dim">Enter asks, Shift+Enter breaks the line.</span>
          ) : (
            <>
              <button type="button" onClick={forget}>
                New conversation
              </button>
              <span class="dim">
                A question may go on from the one before, as in “and for 2023?” or “why?”; <kbd>{FORGET}</kbd> forgets it.
              </span>
            </>
          )}
        </div>
      </form>
      {error ? <Failure error={error} /> : null}
      {earlier.length > 0 && <Earlier turns={earlier} />}
      {!run && <Tables />}
      {run ? <SearchView key={run} run={run} turn={known} onKnown={() => redraw(0)} /> : null}
      {asked.length > 1 && (
        <nav aria-label="Questions of this tab">
          <h2>Asked in this tab</h2>
          <ol reversed>
            {asked
              .slice()
              .reverse()
              .map((one) => (
                <li key={one.run}>
                  <a href={href(["ask", one.run])} aria-current={one.run === run ? "page" : undefined}>
                    <Foreign text={one.question} most={200} />
                  </a>
                  {one.answers.length > 0 && (
                    <span class="dim">
                      {" "}
                      (<Foreign text={one.answers.map((answered) => answered.answer).join(", ")} most={200} />)
                    </span>
                  )}
                </li>
              ))}
          </ol>
        </nav>
      )}
    </>
  );
}

/** The tables that can be asked about. */
function Tables() {
  const { value } = useLoaded<{ tables: { name: string }[] }>("/schema");
  if (!value?.tables.length) return null;
  const more = value.tables.length - NAMED;
  return (
    <nav class="dim" aria-label="Tables">
      Tables:{" "}
      {value.tables.slice(0, NAMED).map(({ name }, place) => (
        <span key={place}>
          {place > 0 && ", "}
          <a href={href(["schema", name])}>
            <Foreign text={name} most={60} />
          </a>
        </span>
      ))}
      {more > 0 && (
        <>
          {" "}
          and <a href={href(["schema"])}>{more} more</a>
        </>
      )}
    </nav>
  );
}

/** The questions of the conversation before the one that is shown. */
function Earlier({ turns }: { turns: Turn[] }) {
  return (
    <ol class="talk" aria-label="The conversation so far">
      {turns.slice(-20).map((turn) => (
        <li key={turn.run}>
          <a href={href(["ask", turn.run])}>
            <Foreign text={turn.question} most={300} />
          </a>
          <Understood text={turn.understood} />
          {turn.sentence && (
            <p>
              <Foreign text={turn.sentence} most={400} />
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

/** The reading of a question by the definitions of metrics; it may go on from the one before. */
function Understood({ text }: { text?: string }) {
  if (!text) return null;
  return (
    <p class="dim understood">
      Understood: <Foreign text={text} most={1000} />
    </p>
  );
}

function SearchView({ run, turn, onKnown }: { run: string; turn?: Turn; onKnown: () => void }) {
  const [search, receive] = useReducer(apply, empty);
  const [error, setError] = useState<unknown>(null);
  const { answers, evidence = "" } = search;
  const understood = search.document?.origin?.request;
  const isNew = search.state === "connecting";
  useEffect(() => {
    // After a new load of the page, the next question goes on all the same.
    if (!turn && !isNew) conversation = search.conversation ?? null;
    if (turn && search.document) {
      turn.understood = understood;
      turn.sentence = search.document.answer?.text ?? search.document.clarify?.question;
    }
    if (!isNew) onKnown();
  }, [search.document, isNew]);
  useEffect(() => {
    const abort = new AbortController();
    readEvents(`/runs/${encodeURIComponent(run)}`, abort.signal, receive).catch((error) => {
      // The server has forgotten the events; the journal has the run.
      // By Back one leaves it, and does not come here again.
      if (error instanceof Problem && error.status === 404) location.replace(href(["runs", run]));
      else if (!abort.signal.aborted) setError(error);
    });
    return () => abort.abort();
  }, [run]);
  if (error) return <Failure error={error} />;
  const isOver = search.state === "answered" || search.state === "failed";
  return (
    <article aria-label="Search">
      <p class="question">
        <Foreign text={search.question} most={2000} />
      </p>
      <Answers answers={answers} />
      <Understood text={understood} />
      <p role="status" class="dim">
        {status(search)}
      </p>
      {!isOver && (
        <div class="bar">
          <button type="button" onClick={() => void stop(run).catch(setError)}>
            Stop with the best so far
          </button>
        </div>
      )}
      {search.problem && <Failure error={new Problem(0, search.problem.kind, search.problem.message)} />}
      {search.document && <Answer search={search} document={search.document} answers={answers} evidence={evidence} />}
      {search.tasks.length > 0 && (
        <details open={!search.document?.answer}>
          <summary>
            The search: {plural(search.tasks.length, "task")}, {plural(search.candidates.length, "candidate")}
          </summary>
          <Drawing tasks={search.tasks} candidates={search.candidates} />
          <TaskList tasks={search.tasks} candidates={search.candidates} />
        </details>
      )}
      {search.notes.length > 0 && !search.document && (
        <ul class="notes" aria-label="Remarks">
          {search.notes.slice(-8).map((note, place) => (
            <li key={place} class={note.level}>
              <Foreign text={note.call} most={60} />: <Foreign text={note.message} most={400} />
            </li>
          ))}
        </ul>
      )}
      <p>
        {/* An explanation is of an earlier search. */}
        <a href={href(["runs", search.document?.run ?? run])}>Trace</a> · <a href={href(["ask", run])}>Link to this search</a>
      </p>
    </article>
  );
}

function status(search: Search): string {
  const ended = search.tasks.filter((task) => task.ending !== "not-ended" && task.ending !== "running").length;
  switch (search.state) {
    case "connecting":
      return "Connecting …";
    case "queued":
      return "Waiting for other searches to end …";
    case "running":
      return search.tasks.length
        ? `${search.resumed ? "Resumed; s" : "S"}earching: ${ended} of ${plural(search.tasks.length, "task")} ended, ${plural(search.candidates.length, "candidate")}`
        : "Planning …";
    case "failed":
      return "The search failed.";
    case "answered":
      return `${search.interrupted ? "Stopped early: " : ""}${
        { answered: "Answered.", partial: "Answered in part: a budget or the time was used up.", "no-answer": "No acceptable answer was found.", "clarification-needed": "The question must be made clear first." }[search.outcome ?? ""] ?? ""
      }`;
  }
}

/** The origin of an answer, in the words of the terminal; null if it was generated. */
function nameOrigin({ kind, metrics = [], words = "", by = "", at = "", question = "" }: Origin): string | null {
  if (kind === "metric") return `metric ${metrics.map(({ name, file }) => `${name} (${file})`).join(", ")}: ${words}`;
  return kind === "verified" ? `verified by ${by}, ${at}, for the question: ${question}` : null;
}

function Answer({ search, document, answers, evidence }: { search: Search; document: AnswerDocument; answers: Answered[]; evidence: string }) {
  const { answer, sql, confidence } = document;
  const origin = answer && document.origin ? nameOrigin(document.origin) : null;
  const chosen = search.candidates.find((candidate) => candidate.status === "answer");
  const rivals = search.candidates.filter((other) => chosen && other.task === chosen.task && other.cluster != null);
  const equal = rivals.filter((other) => other.cluster === chosen?.cluster).length;
  return (
    <>
      {answer && (
        <p class="sentence">
          <Foreign text={answer.text} most={4000} />
        </p>
      )}
      {confidence && (
        <div class="confidence">
          <meter min={0} max={1} low={0.5} high={0.8} optimum={1} value={confidence.calibrated} aria-label="Confidence">
            {percent(confidence.calibrated)}
          </meter>
          <span>
            confidence {percent(confidence.calibrated)}
            {confidence.raw !== null && <span class="dim"> (claimed {percent(confidence.raw)})</span>}
            {chosen?.reason && (
              <>
                : <Foreign text={chosen.reason} most={400} />
              </>
            )}
          </span>
          {confidence.rests_on && <p class="dim">{clip(rests(confidence.rests_on), 1000)}</p>}
          {rivals.length > 1 && (
            <p class="dim">
              {equal} of {rivals.length} candidates have this result.
            </p>
          )}
        </div>
      )}
      {origin && (
        <p class="dim origin">
          <Foreign text={origin} most={4000} />
        </p>
      )}
      {document.clarify && <Clarify document={document} answers={answers} evidence={evidence} />}
      {document.warnings.map((warning) => (
        <p class="warning" key={warning}>
          <Foreign text={warning} most={1000} />
        </p>
      ))}
      {answer && answer.columns.length > 0 && <Result columns={answer.columns} rows={answer.rows} sql={sql} truncated={answer.truncated} />}
      {sql && (
        <details>
          <summary>The statement</summary>
          <SqlEditor sql={sql} label="SQL of the answer" />
        </details>
      )}
      <Cost document={document} />
    </>
  );
}

function rests(known: RestsOn): string {
  const place = known.database ?? plural(known.databases, `${known.elsewhere ? "other " : ""}database`);
  return `Answers at ${percent(known.low)}–${percent(known.high)} were right ${known.right} of ${plural(known.answers, "time")} on ${place} (run ${known.run}, ${known.rule}, ${known.model}).`;
}

function Cost({ document }: { document: AnswerDocument }) {
  const { cost, time_ms } = document;
  const cached = Object.values(cost.by_purpose).reduce((sum, purpose) => sum + (purpose.cached ?? 0), 0);
  // The rules answer calls, too, and are no model.
  const hasModel = cost.input_tokens + cost.output_tokens > 0 || cached > 0 || (cost.calls > 0 && cost.usd !== 0);
  const money = cost.usd === null ? "unknown" : cost.usd > 0 ? `$${cost.usd.toFixed(4)}` : "none";
  return (
    <Facts
      facts={[
        ["Time", seconds(time_ms.total)],
        ["Statements", String(cost.sql_runs)],
        ...(hasModel
          ? ([
              ["Model calls", `${cost.calls}${cached ? ` (and ${cached} from the cache)` : ""}`],
              ["Tokens", `${cost.input_tokens} + ${cost.output_tokens}`],
              ["Cost", money],
            ] as [string, string][])
          : []),
      ]}
    />
  );
}

function Clarify({ document, answers, evidence }: { document: AnswerDocument; answers: Answered[]; evidence: string }) {
  const clarify = document.clarify!;
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const reply = (answer: string) => {
    setError(null);
    send(document.question, evidence, [...answers, { question: clarify.question, answer }]).catch(setError);
  };
  return (
    <section class="clarify" aria-label="A question back">
      <h2 tabIndex={-1} ref={heading}>
        <Foreign text={clarify.question} most={1000} />
      </h2>
      <div class="bar">
        {clarify.choices.slice(0, 50).map((choice) => (
          <button type="button" key={choice} onClick={() => reply(choice)}>
            <Foreign text={choice} most={200} />
          </button>
        ))}
      </div>
      {clarify.choices.length === 0 && (
        <form
          class="bar"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim()) reply(text);
          }}
        >
          <input dir="auto" aria-label="Your answer" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          <button type="submit" disabled={!text.trim()}>
            Answer
          </button>
        </form>
      )}
      {error ? <Failure error={error} /> : null}
    </section>
  );
}
