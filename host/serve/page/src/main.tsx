// The page: its views by address, its keys, and its session.

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { DoctorView, PluginsView, SchemaView } from "./about";
import { openSession, parse } from "./api";
import { AskView } from "./ask";
import { StartView } from "./comparing";
import { AnswerTraceView, EvaluationView, EvaluationsView, type Report, ReportView } from "./evaluations";
import { Failure, Foreign, clip, useLoaded } from "./parts";
import { go, href, useRoute } from "./route";
import { CompareView, RunsView } from "./runs";
import { type Part, PartsView } from "./sections";
import { SqlView } from "./sql";
import { Trace, TraceView, type Tree } from "./trace";
import "./style.css";

interface Server {
  version: string;
  database: string;
  dialect: string;
  model: string | null;
  has_journals: boolean;
}

/** The views of the menu, each with its key after `g`. */
const MENU: [name: string, path: string[], key: string][] = [
  ["Ask", ["ask"], "a"],
  ["Runs", ["runs"], "r"],
  ["Evaluations", ["evaluations"], "e"],
  ["Schema", ["schema"], "s"],
  ["SQL", ["sql"], "q"],
  ["Plugins", ["plugins"], "p"],
  ["Set-up", ["doctor"], "d"],
];

function View() {
  const { path, query } = useRoute();
  const [view = "ask", first, second] = path;
  switch (view) {
    case "ask":
      return <AskView key={`${first ?? ""}${query}`} run={first} query={query} />;
    case "runs":
      return first === undefined ? <RunsView query={query} /> : <TraceView run={first} />;
    case "compare":
      return first === undefined || second === undefined ? <RunsView query={query} /> : <CompareView left={first} right={second} />;
    case "evaluations":
      if (first === undefined) return <EvaluationsView />;
      if (first === "new") return <StartView />;
      return second === "trace" ? <AnswerTraceView run={first} query={query} /> : <EvaluationView key={first} run={first} />;
    case "schema":
      return <SchemaView table={first} />;
    case "sql":
      return <SqlView query={query} />;
    case "plugins":
      return <PluginsView />;
    case "doctor":
      return <DoctorView />;
    default:
      return (
        <>
          <h1>Nothing is here</h1>
          <p>
            <a href={href(["ask"])}>Ask a question</a>
          </p>
        </>
      );
  }
}

function isTyping(target: EventTarget | null) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function Page() {
  const { path } = useRoute();
  const { value: server, error } = useLoaded<Server>("/server");
  const help = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let before = "";
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("dialog[open]")) return;
      const view = MENU.find(([, , key]) => before === "g" && key === event.key);
      if (view) go(view[1]);
      else if (event.key === "?") help.current?.showModal();
      else if (event.key === "/") {
        event.preventDefault();
        const field = document.getElementById("question");
        if (field) field.focus();
        else go(["ask"]);
      }
      before = event.key;
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  const current = path[0] ?? "ask";
  useEffect(() => {
    const name = MENU.find(([, own]) => own[0] === current)?.[0] ?? "Runs";
    document.title = `${name} – ${clip(server?.database ?? "syrch-host", 60)}`;
  }, [current, server]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>
        To the content
      </a>
      <header>
        <strong>{server ? <Foreign text={server.database} most={60} /> : "syrch-host"}</strong>
        <nav aria-label="Views">
          {MENU.map(([name, own]) => (
            <a key={name} href={href(own)} aria-current={current === own[0] || (own[0] === "runs" && current === "compare") ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <button type="button" class="quiet" onClick={() => help.current?.showModal()}>
          Keys
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {error ? <Failure error={error} /> : <View />}
      </main>
      <footer>
        {server && (
          <>
            syrch-host {server.version} · <Foreign text={server.dialect} most={40} /> ·{" "}
            {server.model === null ? "by rules, without a model" : <Foreign text={server.model} most={80} />}
            {!server.has_journals && " · runs leave no journal"}
          </>
        )}
      </footer>
      <dialog ref={help} aria-label="Keys">
        <h2>Keys</h2>
        <dl class="keys">
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>to the question</dd>
          {MENU.map(([name, , key]) => (
            <div key={key}>
              <dt>
                <kbd>g</kbd> <kbd>{key}</kbd>
              </dt>
              <dd>{name}</dd>
            </div>
          ))}
          <dt>
            <kbd>Enter</kbd>
          </dt>
          <dd>asks the question; with Ctrl, runs a statement</dd>
          <dt>
            <kbd>?</kbd>
          </dt>
          <dd>these keys</dd>
        </dl>
        <form method="dialog">
          <button>Close</button>
        </form>
      </dialog>
    </>
  );
}

function Start() {
  const [state, setState] = useState<{ ready: boolean; error?: unknown }>({ ready: false });
  useEffect(() => {
    // A link may also be pasted into a tab in which the page is open.
    const enter = () => {
      const code = /^#code=([0-9a-f]+)$/.exec(location.hash)?.[1];
      if (!code) return false;
      // The code works once: nobody finds it in the history.
      history.replaceState(null, "", "#/ask");
      setState({ ready: false });
      openSession(code).then(
        () => setState({ ready: true }),
        (error) => setState({ ready: false, error }),
      );
      return true;
    };
    if (!enter()) setState({ ready: true });
    addEventListener("hashchange", enter);
    return () => removeEventListener("hashchange", enter);
  }, []);
  if (state.error) return <Failure error={state.error} />;
  return state.ready ? <Page /> : null;
}

/** The document of a page that stands alone; null in a page of the server. */
const data = document.getElementById("document")?.textContent;

/** A page that stands alone, made of a document. */
function Alone({ data }: { data: string }) {
  const { view, title, document: shown } = parse(data) as { view: string; title: string; document: unknown };
  useEffect(() => {
    document.title = clip(title, 200);
  }, []);
  return (
    <main id="main">
      {view === "trace" ? (
        <>
          <h1>Trace</h1>
          <Trace tree={shown as Tree} />
        </>
      ) : (
        <>
          <h1>
            <Foreign text={title} most={200} />
          </h1>
          {view === "parts" ? <PartsView parts={shown as Part[]} /> : <ReportView report={shown as Report} />}
        </>
      )}
    </main>
  );
}

render(data == null ? <Start /> : <Alone data={data} />, document.getElementById("page")!);
