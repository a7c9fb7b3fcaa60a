// Small parts that several views use. Texts from outside are always text nodes, apart from the
// text around them in their direction.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { Problem, get } from "./api";

/** The most characters of a text that are shown at once. */
const MOST = 20_000;

/** Characters that are not seen, or that change what is seen around them: controls, and those that turn the direction of text. */
const HIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

/** The beginning of a text as it is shown; hidden characters are written as `\u{202e}`, as the command line writes them. */
export function clip(text: string, most = MOST): string {
  const start = text.length > most ? `${text.slice(0, most)}…` : text;
  return start.replace(HIDDEN, (hidden) => `\\u{${hidden.codePointAt(0)!.toString(16)}}`);
}

/** A text from outside. */
export function Foreign({ text, most }: { text: string; most?: number }) {
  return <bdi>{clip(text, most)}</bdi>;
}

export function Code({ text, label }: { text: string; label: string }) {
  return (
    <pre class="code" tabIndex={0} role="region" aria-label={label}>
      <code>
        <bdi>{clip(text)}</bdi>
      </code>
    </pre>
  );
}

export function Failure({ error }: { error: unknown }) {
  const known = error instanceof Problem ? error : undefined;
  return (
    <p class="failure" role="alert">
      <strong>{known ? known.kind : "error"}:</strong> <Foreign text={error instanceof Error ? error.message : String(error)} />
    </p>
  );
}

/** A document that is loaded from a path; loaded again when the path changes. */
export function useLoaded<T>(path: string | null): { value?: T; error?: unknown; reload: () => void } {
  const [state, setState] = useState<{ path: string | null; value?: T; error?: unknown }>({ path: null });
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (path === null) return;
    const abort = new AbortController();
    get<T>(path, abort.signal).then(
      (value) => setState({ path, value }),
      (error) => abort.signal.aborted || setState({ path, error }),
    );
    return () => abort.abort();
  }, [path, count]);
  const known = state.path === path ? state : undefined;
  return { value: known?.value, error: known?.error, reload: () => setCount((count) => count + 1) };
}

/** The user's answers to questions back, on which a search rests. */
export function Answers({ answers }: { answers: { question: string; answer: string }[] }) {
  return (
    <>
      {answers.map(({ question, answer }, place) => (
        <p key={place} class="dim understood">
          <Foreign text={question} most={1000} />{" "}
          <strong>
            <Foreign text={answer} most={1000} />
          </strong>
        </p>
      ))}
    </>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="dim" role="status">
      Loading {what} …
    </p>
  );
}

export function Facts({ facts }: { facts: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Status({ status }: { status: string }) {
  return <span class={`status ${status}`}>{clip(status, 80)}</span>;
}

export const percent = (value: number) => value.toFixed(2);

export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

export const moment = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace("T", " ");

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1 << 20) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / (1 << 20)).toFixed(1)} MiB`;
}

export function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const before = () => setPrinting(true);
    const after = () => setPrinting(false);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, []);
  return printing;
}
