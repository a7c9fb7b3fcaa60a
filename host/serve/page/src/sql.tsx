// Statements that are edited and run again, under the guard of a search.

import { useEffect, useRef, useState } from "preact/hooks";

import { type Rows, runSql } from "./api";
import { Chart } from "./chart";
import { Failure, Foreign } from "./parts";
import { href } from "./route";
import { Table } from "./table";

export function SqlEditor({ sql, label }: { sql: string; label: string }) {
  const [text, setText] = useState(sql);
  const [result, setResult] = useState<Rows | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    setText(sql);
    setResult(null);
    setError(null);
  }, [sql]);
  useEffect(() => () => running?.abort(), [running]);
  const run = async () => {
    if (!text.trim() || running) return;
    const abort = new AbortController();
    setRunning(abort);
    setError(null);
    try {
      setResult(await runSql(text, abort.signal));
    } catch (error) {
      if (abort.signal.aborted) return setRunning(null);
      setError(error);
      // Rows of another statement do not stand below the error.
      setResult(null);
    }
    setRunning(null);
  };
  return (
    <section aria-label={label}>
      <label>
        <span>{label}</span>
        <textarea
          ref={area}
          dir="ltr"
          spellcheck={false}
          rows={Math.min(16, Math.max(3, text.split("\n").length + 1))}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
              event.preventDefault();
              void run();
            }
          }}
        />
      </label>
      <div class="bar">
        <button type="button" onClick={run} disabled={!text.trim() || running !== null}>
          Run
        </button>
        {running && (
          <button type="button" onClick={() => running.abort()}>
            Stop
          </button>
        )}
        <span class="dim">Ctrl+Enter runs it; it can only read.</span>
        {text.length < 4000 && text.trim() && <a href={href(["sql"], { sql: text })}>Link</a>}
      </div>
      {error ? <Failure error={error} /> : null}
      {result?.warnings.map((warning) => (
        <p class="warning" key={warning}>
          <Foreign text={warning} />
        </p>
      ))}
      {result && <Result columns={result.columns.map((column) => column.name)} rows={result.rows} sql={result.sql || text} truncated={result.truncated} />}
    </section>
  );
}

export function Result(shown: Parameters<typeof Table>[0]) {
  // The sort and the chart of a result mean nothing for other columns.
  const key = JSON.stringify(shown.columns);
  return (
    <>
      <Table key={`table ${key}`} {...shown} />
      <Chart key={`chart ${key}`} columns={shown.columns} rows={shown.rows} />
    </>
  );
}

export function SqlView({ query }: { query: URLSearchParams }) {
  return (
    <>
      <h1>Statement</h1>
      <SqlEditor sql={query.get("sql") ?? ""} label="SQL" />
    </>
  );
}
