// The interface of the server: requests, the session, and the events of a search.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The places at which a scan of a JSON document stops: an escape, the begin or the end of a string, a number. Strings are not matched as a whole, since one of 10 MB overflows the stack of the browser's expressions. */
const TOKEN = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** Returns whether a number is an integer that a number of the browser would round. */
const isLong = (number: string) => /^-?\d{16,}$/.test(number) && !Number.isSafeInteger(Number(number));

/** Reads a JSON document. Integers that a number of the browser would round are read as texts of their digits. */
export function parse(text: string) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  let isString = false;
  const exact = text.replace(TOKEN, (token) => {
    if (token === '"') isString = !isString;
    return !isString && isLong(token) ? `"${token}"` : token;
  });
  return JSON.parse(exact);
}

/** An error of the interface, as problem+json describes it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
  ) {
    super(message);
  }
}

async function problem(response: Response): Promise<Problem> {
  try {
    const document = await response.json();
    return new Problem(response.status, String(document.class), String(document.detail));
  } catch {
    return new Problem(response.status, "unexpected", `the server answered with ${response.status}`);
  }
}

async function send(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/api/v1${path}`, { credentials: "same-origin", ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "unreachable", "the server cannot be reached; is `syrch-host serve` running?");
  }
  if (!response.ok) throw await problem(response);
  return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return parse(await (await send(path, { signal })).text());
}

function post(path: string, body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal) {
  const type = { "content-type": "application/json" };
  return send(path, { method: "POST", body: JSON.stringify(body), headers: { ...type, ...headers }, signal });
}

/** Uses the code of the link that opened the page. */
export async function openSession(code: string): Promise<void> {
  await post("/session", { code });
}

export interface Answered {
  question: string;
  answer: string;
}

export interface Asked {
  question: string;
  evidence?: string;
  answers?: Answered[];
  conversation?: string;
}

/** Asks a question. Returns the id of its run, whose events can be read. */
export async function ask(asked: Asked): Promise<string> {
  const response = await post("/ask", asked, { prefer: "respond-async" });
  return (await response.json()).run;
}

export async function stop(run: string): Promise<void> {
  await post(`/runs/${encodeURIComponent(run)}/stop`, {});
}

export interface Comparison {
  arms: string[];
  suite: string;
  calls?: number;
  usd?: number;
  seconds?: number;
}

/** Begins a comparison. Returns the id of its run. */
export async function compare(comparison: Comparison): Promise<string> {
  return (await (await post("/evaluations", comparison)).json()).run;
}

export async function stopComparison(run: string): Promise<void> {
  await post(`/evaluations/${encodeURIComponent(run)}/stop`, {});
}

export interface Rows {
  sql: string;
  columns: { name: string; type: string }[];
  rows: Json[][];
  row_count: number;
  truncated: boolean;
  warnings: string[];
}

export async function runSql(sql: string, signal?: AbortSignal): Promise<Rows> {
  return parse(await (await post("/sql", { sql }, {}, signal)).text());
}

/** Runs a statement and returns its rows as a file of that media type, whose name says where a limit cut them. */
export async function exportSql(sql: string, type: string): Promise<{ blob: Blob; name: string }> {
  const response = await post("/sql", { sql }, { accept: type });
  const name = /filename="([\w.-]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  return { blob: await response.blob(), name: name ?? "rows" };
}

export interface Event {
  kind: string;
  data: { [key: string]: any };
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** The kinds of the last event of a search or a comparison. */
const LAST = ["answer", "ended", "failed"];

/** Reads the events below a path until the last one, and goes on where a connection was cut. */
export async function readEvents(path: string, signal: AbortSignal, receive: (event: Event) => void): Promise<void> {
  let last = 0;
  let wait = 250;
  while (!signal.aborted) {
    try {
      const headers: Record<string, string> = last ? { "last-event-id": String(last) } : {};
      const response = await send(`${path}/events`, { headers, signal });
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
        let end: number;
        while ((end = text.indexOf("\n\n")) >= 0) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          const event: Event = { kind: "", data: {} };
          let id = 0;
          for (const line of block.split("\n")) {
            if (line.startsWith("id: ")) id = Number(line.slice(4));
            else if (line.startsWith("event: ")) event.kind = line.slice(7);
            else if (line.startsWith("data: ")) event.data = parse(line.slice(6));
          }
          if (!id) continue;
          last = id;
          wait = 250;
          receive(event);
          if (LAST.includes(event.kind)) return;
        }
      }
    } catch (error) {
      if (signal.aborted) return;
      // The server refuses again whatever it refused once, but for too many requests and its restart.
      if (error instanceof Problem && error.status >= 400 && error.status !== 429 && error.status !== 503) throw error;
    }
    await pause(wait, signal);
    wait = Math.min(wait * 2, 5000);
  }
}
