// A search as its events tell it.

import type { Answered, Event, Json } from "./api";

export interface Task {
  id: string;
  parent?: string;
  text: string;
  operation: string;
  depends_on?: string[];
  is_answer?: boolean;
  confidence?: number | null;
  /** `not-ended`, `running`, `solved`, `empty`, `failed`, `skipped`, `cancelled`, `other`. */
  ending: string;
  reason?: string;
}

export interface Candidate {
  id: string;
  task: string;
  sql: string;
  /** `answer`, `kept`, `dropped`, `not-accepted`, or `open` while its task is worked on. */
  status: string;
  cluster?: number | null;
  confidence?: number | null;
  claimed?: number | null;
  reason?: string | null;
  rationale?: string | null;
  parents?: string[];
  origin?: string;
  reward?: { verdict: string; score?: number; reason: string; failed?: string[] };
  judged?: { yes: number; no: number };
}

export interface RestsOn {
  low: number;
  high: number;
  answers: number;
  right: number;
  database: string | null;
  databases: number;
  elsewhere?: boolean;
  run: string;
  rule: string;
  model: string;
}

export interface Origin {
  /** `metric`, `verified` or `generated`. */
  kind: string;
  question?: string;
  by?: string;
  at?: string;
  metrics?: { name: string; file: string }[];
  request?: string;
  words?: string;
}

export interface AnswerDocument {
  run: string;
  question: string;
  answer: { text: string; columns: string[]; rows: Json[][]; row_count: number; truncated: boolean; basis: string[] } | null;
  sql: string | null;
  confidence: { raw: number | null; calibrated: number; rests_on?: RestsOn } | null;
  origin?: Origin;
  tasks?: Task[];
  candidates: Candidate[];
  clarify: { question: string; choices: string[]; ambiguity: number } | null;
  cost: {
    calls: number;
    input_tokens: number;
    output_tokens: number;
    usd: number | null;
    sql_runs: number;
    by_purpose: { [purpose: string]: { cached?: number } };
  };
  time_ms: { total: number; plan: number; solve: number; aggregate: number };
  plugins: { role: string; name: string; version: string; cpu_ms: number; memory_peak: number }[];
  warnings: string[];
}

export interface Search {
  state: "connecting" | "queued" | "running" | "answered" | "failed";
  question: string;
  conversation?: string;
  evidence?: string;
  answers: Answered[];
  resumed: boolean;
  tasks: Task[];
  candidates: Candidate[];
  notes: { call: string; level: string; message: string }[];
  cut: boolean;
  outcome?: string;
  interrupted?: boolean;
  document?: AnswerDocument;
  problem?: { kind: string; message: string };
}

export const empty: Search = {
  state: "connecting",
  question: "",
  answers: [],
  resumed: false,
  tasks: [],
  candidates: [],
  notes: [],
  cut: false,
};

function put<T>(items: T[], same: (item: T) => boolean, change: (old: T | undefined) => T): T[] {
  const place = items.findIndex(same);
  if (place < 0) return [...items, change(undefined)];
  const next = items.slice();
  next[place] = change(items[place]);
  return next;
}

/** The ending of a task as a word and a reason: events say `failed: …`. */
function ending(text: string): { ending: string; reason?: string } {
  const [word, ...rest] = text.split(": ");
  if (text === "solved, no rows") return { ending: "empty" };
  return rest.length ? { ending: word, reason: rest.join(": ") } : { ending: word };
}

export function apply(search: Search, { kind, data }: Event): Search {
  switch (kind) {
    case "queued":
      return {
        ...search,
        state: "queued",
        question: data.question,
        conversation: data.conversation ?? undefined,
        evidence: data.evidence,
        answers: data.answers ?? [],
      };
    case "started":
      return { ...search, state: "running", resumed: data.resumed };
    case "refined":
      return { ...search, tasks: [], candidates: [] };
    case "task": {
      const task = data as Task;
      return { ...search, tasks: put(search.tasks, (known) => known.id === task.id, () => task) };
    }
    case "task-started":
      return {
        ...search,
        tasks: put(
          search.tasks,
          (task) => task.id === data.id,
          (task) => ({ operation: "", ...task, id: data.id, text: data.text, ending: "running" }),
        ),
      };
    case "task-ended":
      return {
        ...search,
        tasks: put(
          search.tasks,
          (task) => task.id === data.id,
          (task) => ({ operation: "", text: "", ...task, id: data.id, ...ending(data.ending), confidence: data.confidence }),
        ),
      };
    case "candidate": {
      const candidate = data as Candidate;
      // The report says `dropped` until somebody keeps it: before that, it is open.
      const isOpen = candidate.status === "dropped" && candidate.reason === "proposed and not used";
      const shown = isOpen ? { ...candidate, status: "open", reason: null } : candidate;
      return {
        ...search,
        candidates: put(
          search.candidates,
          (known) => known.id === shown.id && known.task === shown.task,
          () => shown,
        ),
      };
    }
    case "note":
      return { ...search, notes: [...search.notes, data as Search["notes"][number]].slice(-200) };
    case "cut":
      return { ...search, cut: true };
    case "answer": {
      const document: AnswerDocument = data.document;
      return {
        ...search,
        state: "answered",
        question: document.question,
        outcome: data.outcome,
        interrupted: data.interrupted,
        document,
        tasks: document.tasks?.length ? document.tasks : search.tasks,
        candidates: document.candidates,
      };
    }
    case "failed":
      return { ...search, state: "failed", problem: { kind: data.class, message: data.detail } };
    default:
      return search;
  }
}
