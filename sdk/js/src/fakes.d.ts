import type {
  Attempt, Candidate, CandidateFields, Catalog, ColumnStats, Compiled, Corpus, Facts, Finished, Graph, HitFields, Json, LlmError, Observation, Parent, Plan, Plugin,
  PortError, Ports, Problem, Profile, Proposal, Purpose, Reply, Request, ResultSet, RetrievalQuery, Retriever, Signals, SignalsFields, SqlError,
  TaskFields, Trial, Value, Verdict, VerdictFields,
} from "./index.js";

type Cell = Value | bigint;

/** A result as roles get it: its columns and rows, and fields of the profile that count other things than the rows have. */
export declare function results(columns: string[], rows: Cell[][], profile?: Partial<Profile>): ResultSet;
/** A reply with that text and that parsed document, of ten tokens. */
export declare function reply(text: string, parsed?: Json, fields?: Partial<Reply>): Reply;
/** Facts about a statement, with nothing but its text filled in. */
export declare function facts(sql: string): Facts;

export interface FakeModel {
  names: string[];
  readonly requests: Request[];
  /** The next answer for that purpose: a reply, or an error. */
  script(purpose: Purpose, answer: Reply | LlmError): this;
  replyPlan(plan: Json): this;
  /** The next statement: for `generate`, unless another purpose is named. */
  replySql(sql: string, confidence?: number | null, purpose?: Purpose): this;
  replyText(purpose: Purpose, text: string): this;
  /** The whole text of one request's messages. */
  prompt(index: number): string;
}
export interface FakeDatabase {
  /** How many rows of a result a role may read; null: the grant is missing. */
  grantedRows: number | null;
  readonly hits: Map<string, HitFields[]>;
  readonly samples: Map<string, { column: string; least?: Cell; greatest?: Cell; frequent?: [Cell, number][] }[]>;
  readonly metrics: Map<string, Compiled>;
  readonly stats: Map<string, (Pick<ColumnStats, "column"> & Partial<ColumnStats>)[]>;
  readonly plans: Map<string, Pick<Plan, "text"> & Partial<Plan>>;
  /** The statements that were run, in order. */
  readonly log: string[];
  /** This statement passes its check and gives these rows. */
  answer(sql: string, columns: string[], rows: Cell[][], profile?: Partial<Profile>): this;
  failCheck(sql: string, error: SqlError): this;
  failRun(sql: string, error: SqlError): this;
}
export interface FakeEvaluate {
  calibrate: ((claimed: number, signals: Signals) => number) | null;
  rewardError: PortError | null;
  readonly asked: string[][];
  /** The verdict on a statement. */
  judge(sql: string, verdict: VerdictFields): this;
}
export interface FakeRetrieval {
  vectors: Map<string, number[]> | null;
  readonly queries: RetrievalQuery[];
  script(corpus: Corpus, retriever: Retriever, hits: HitFields[]): this;
}
export interface Traced {
  note?: [level: string, message: string];
  propose?: Candidate;
  keep?: [id: string, reason: string];
  discard?: [id: string, reason: string];
  event?: [candidate: string | null, name: string, data: Json];
}
export interface FakeTrace {
  readonly lines: Traced[];
  readonly notes: string[];
  discarded(id: string): string | null;
  kept(id: string): string | null;
}

export interface FakeHost extends Ports {}
/** All ports in one value; it serves every role. */
export declare class FakeHost {
  policy: ReturnType<Ports["run"]["policy"]>;
  budget: ReturnType<Ports["run"]["remaining"]>;
  settings: { [name: string]: Json };
  seed: number;
  /** The pauses that the plugin asked for, in milliseconds. They take no time. */
  pauses: number[];
  readonly model: FakeModel;
  readonly database: FakeDatabase;
  readonly judges: FakeEvaluate;
  readonly corpora: FakeRetrieval;
  readonly logged: FakeTrace;
}

export interface Arguments {
  host?: FakeHost;
  /** The user's settings, by the names that users write: `most_rows`. */
  settings?: { [name: string]: Json };
  problem?: { question: string } & Partial<Problem>;
  catalog?: Catalog;
  task?: TaskFields;
  parents?: Parent[];
  rivals?: { candidate: CandidateFields; results: ResultSet }[];
  claims?: { claimed: number; signals?: SignalsFields }[];
  graph?: { tasks: TaskFields[]; answer: string; memo?: Json };
  seen?: Observation[];
  fresh?: number;
  finished?: Finished[];
  original?: string;
  best?: string;
  plan?: Pick<Plan, "text"> & Partial<Plan>;
  history?: Attempt[];
}
/**
 * Calls a role of a plugin as the host does, such as `call(plugin, "reward", { settings: { most_rows: 2 }, rivals })`. Arguments that are left out get
 * defaults. Returns what the role returned, with all fields; throws a `Failure` for what it threw. The planner's second function is `planner.next`.
 */
export declare function call(plugin: Plugin<any>, role: string, args?: Arguments): any;
/** Calls a rewriter once for each of `trials`, the outcomes of its proposals in order. Returns the proposals. */
export declare function rewrites(plugin: Plugin<any>, original: string, trials: Trial[], args?: Arguments): Required<Proposal>[];
