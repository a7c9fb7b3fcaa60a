// The types of "syrch-plugin". The contract (wit/*.wit) states what each function promises; the comments here say what differs in JavaScript.
// Its values stand in contract.d.ts.

declare global {
  /** In a component these write lines of the trace: `debug`, then `log` and `info`, then `warn` and `error` as warnings. */
  interface Console {
    debug(...values: any[]): void;
    log(...values: any[]): void;
    info(...values: any[]): void;
    warn(...values: any[]): void;
    error(...values: any[]): void;
  }
  var console: Console;
  interface SymbolConstructor {
    readonly dispose: unique symbol;
  }
}

export * from "./contract.js";
import type {
  AnswerFields, Attempt, Budget, Candidate, CandidateFields, Catalog, CatalogFields, ColumnStats, Compiled, Equality, Facts, FailureKind,
  FailureRecord, Finished, Graph, GraphFields, Hit, HitFields, Json, Level, LinkedFields, Match, Observation, ObservationFields, Open,
  Opinion, OutcomeFields, Page, Parent, Plan, Policy, Problem, ProblemFields, Profile, ProposalFields, Purpose, QuestionFields, Reply,
  Request, RequestFields, RetrievalQueryFields, Rival, Sample, Signals, SignalsFields, StepFields, Syntax, Table, Task, TaskFields, Value,
  Verdict, VerdictFields,
} from "./contract.js";

/** A stated confidence with the signals of its candidate. */
export interface Claim {
  claimed: number;
  signals: Signals;
}

// ---- The host --------------------------------------------------------------------------------------------------------------------------

/** One outcome among several of concurrent calls. */
export type Settled<T, E> = { ok: true; value: T; error?: undefined } | { ok: false; error: E; value?: undefined };

interface Releasable {
  /** Releases the handle now. `using` does so at the end of its block, and the end of the role call does so at the latest. */
  release(): void;
  [Symbol.dispose](): void;
}
interface InFlight extends Releasable {
  readonly ticket: number;
  /** Cancels it now. */
  cancel(): void;
}
/** The result of a statement; its rows stay in the host. */
export declare class ResultSet {
  private constructor();
  /** The number of rows and the columns. */
  readonly profile: Profile;
  /** A text that is equal for equal results of the same run; null for an equality that the host does not know. */
  fingerprint(under?: Equality): string | null;
  release(): void;
  [Symbol.dispose](): void;
}
export interface Pending<T, E> extends InFlight {
  /** Null while it is in flight; afterwards the same outcome each time. */
  get(): Settled<T, E> | null;
}
export interface Running extends InFlight {
  /** The outcome, once. Null while it is in flight, and after the outcome was taken. */
  take(): Settled<ResultSet, SqlError> | null;
}

export interface TypedPage {
  columns: string[];
  rows: { type: "null" | "boolean" | "integer" | "real" | "decimal" | "text" | "temporal" | "bytes" | "other"; value?: Value }[][];
  clipped: boolean;
}

export interface RunPort {
  policy(): Policy;
  /** A further setting of the user's; null if it was not given. */
  setting(name: string): Json;
  remaining(): Budget;
  /** The source for shuffles and samples, rounded to 53 bits. */
  seed(): number;
}
export interface WaitPort {
  /** Waits until at least one call is ready, and returns those that are, in the given order. */
  any<T extends { readonly ticket: number }>(calls: readonly T[]): T[];
  /** Waits that many milliseconds: a minute at most, and five minutes in one call of the role. */
  pause(milliseconds: number): void;
}
export interface LlmPort {
  models(): string[];
  /** Waits for the reply. Throws an `LlmError`. */
  complete(request: RequestFields): Reply;
  completeAll(requests: Iterable<RequestFields>): Settled<Reply, LlmError>[];
  start(request: RequestFields): Pending<Reply, LlmError>;
}
export interface InspectPort {
  /** Parses one statement and resolves its names; nothing runs. Throws a `SqlError`. */
  check(sql: string): Facts;
  explain(sql: string): Plan;
  columnStats(table: string, columns: Iterable<string>): ColumnStats[];
  /** The statement of a request for metrics, which is JSON as text. Throws a `PortError`. */
  compileMetric(request: string): Compiled;
}
export interface SqlPort {
  /** Runs one read-only statement. Throws a `SqlError`. */
  run(sql: string): ResultSet;
  runAll(texts: Iterable<string>): Settled<ResultSet, SqlError>[];
  start(sql: string): Running;
}
export interface RowsPort {
  /**
   * Rows from `offset` (default 0) on, at most `limit` (default 1000) and at most what the user granted. With `typed` each cell has its type beside its
   * value, which tells a decimal or a date from a text. Throws a `PortError`.
   */
  read(results: ResultSet, range?: { offset?: number; limit?: number; typed?: false }): Page;
  read(results: ResultSet, range: { offset?: number; limit?: number; typed: true }): TypedPage;
}
export interface CellsPort {
  samples(table: string, columns: Iterable<string>, limit?: number): Sample[];
  find(phrases: Iterable<string>, how: Match, limit?: number): Hit[][];
}
export interface EvaluatePort {
  calibrate(claims: Iterable<{ claimed: number; signals?: SignalsFields }>): number[];
  reward(candidates: Iterable<CandidateFields>): Verdict[];
  startReward(candidates: Iterable<CandidateFields>): Pending<Verdict[], PortError>;
}
export interface RetrievalPort {
  find(query: RetrievalQueryFields): Hit[];
  findAll(queries: Iterable<RetrievalQueryFields>): Settled<Hit[], PortError>[];
  embed(texts: Iterable<string>): number[][];
}
export interface TracePort {
  note(level: Level, message: string): void;
  propose(candidate: CandidateFields): void;
  keep(id: string, reason: string): void;
  discard(id: string, reason: string): void;
  /** A step of the strategy's own, shown under its candidate if one is named. */
  event(name: string, data?: Json, candidate?: string | null): void;
}

/** All ports. */
export interface Ports {
  run: RunPort;
  wait: WaitPort;
  llm: LlmPort;
  inspect: InspectPort;
  sql: SqlPort;
  rows: RowsPort;
  cells: CellsPort;
  evaluate: EvaluatePort;
  retrieval: RetrievalPort;
  trace: TracePort;
}
export type LinkerHost = Pick<Ports, "run" | "wait" | "llm" | "inspect" | "cells" | "retrieval" | "trace">;
export type PlannerHost = Pick<Ports, "run" | "wait" | "llm" | "inspect" | "retrieval" | "trace">;
export type SolverHost = Ports;
export type RewardHost = Pick<Ports, "run" | "wait" | "llm" | "inspect" | "sql" | "rows" | "cells" | "trace">;
export type ClarifierHost = Pick<Ports, "run" | "wait" | "llm" | "trace">;
export type AggregatorHost = Pick<Ports, "run" | "wait" | "llm" | "sql" | "rows" | "trace">;
export type RewriterHost = Pick<Ports, "run" | "wait" | "llm" | "inspect" | "trace">;

// ---- Settings --------------------------------------------------------------------------------------------------------------------------

/** One declared setting; `T` is the type of its value. */
export interface Setting<T> {
  readonly schema: { [name: string]: unknown; default: T };
}
export declare const setting: {
  integer(initial: number, description: string, range?: { least?: number; most?: number }): Setting<number>;
  number(initial: number, description: string, range?: { least?: number; most?: number }): Setting<number>;
  boolean(initial: boolean, description: string): Setting<boolean>;
  text(initial: string, description: string): Setting<string>;
  /** One of several words. */
  word<const W extends string>(words: readonly W[], initial: W, description: string): Setting<W>;
  /** Pairs of numbers. */
  pairs(initial: [number, number][], description: string): Setting<[number, number][]>;
  /** Any JSON, which the host checks by the schema. */
  json<T>(schema: object, initial: T, description: string): Setting<T>;
};
export type Settings = { [name: string]: Setting<any> };
/** The values of declared settings. Users write their names in snake_case: `most_rows` for `mostRows`. */
export type ValuesOf<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };
/** The settings that solvers share: what a prompt of `Brief` holds, and when a result is too long. */
export declare const solverSettings: { overflowRows: Setting<number>; parentRows: Setting<number>; catalogBytes: Setting<number> };
/** The JSON Schema of declared settings. */
export declare function schemaOf(settings: Settings): object;

// ---- Roles -----------------------------------------------------------------------------------------------------------------------------

export interface LinkerArgs<S> { host: LinkerHost; settings: S; problem: Problem; catalog: Catalog }
export interface PlanArgs<S> { host: PlannerHost; settings: S; problem: Problem; catalog: Catalog }
export interface NextArgs<S> extends PlanArgs<S> { graph: Graph; seen: Observation[]; fresh: number }
export interface SolverArgs<S> { host: SolverHost; settings: S; problem: Problem; catalog: Catalog; task: Task; parents: Parent[] }
export interface CalibratorArgs<S> { settings: S; claims: Claim[] }
export interface RewardArgs<S> { host: RewardHost; settings: S; problem: Problem; catalog: Catalog; task: Task; rivals: Rival[] }
export interface ClarifierArgs<S> { host: ClarifierHost; settings: S; problem: Problem; catalog: Catalog; graph: Graph; seen: Observation[] }
export interface AggregatorArgs<S> { host: AggregatorHost; settings: S; problem: Problem; graph: Graph; finished: Finished[]; seen: Observation[] }
export interface RewriterArgs<S> { host: RewriterHost; settings: S; original: string; best: string; plan: Plan; catalog: Catalog; history: Attempt[] }

/** Narrows a large catalog. No table at all leaves the catalog as it is. */
export interface LinkerRole<S = any> { link(args: LinkerArgs<S>): LinkedFields }
/** Makes a graph of tasks. Without `next` the graph stays as it is. */
export interface PlannerRole<S = any> { plan(args: PlanArgs<S>): GraphFields; next?(args: NextArgs<S>): StepFields }
/** Finds statements that solve one task. */
export interface SolverRole<S = any> { solve(args: SolverArgs<S>): OutcomeFields }
/** Turns claims into probabilities, one number for each claim. It reaches no port and cannot fail. */
export interface CalibratorRole<S = any> { calibrate(args: CalibratorArgs<S>): number[] }
/** Judges all rivals of one task, one verdict for each. */
export interface RewardRole<S = any> { judge(args: RewardArgs<S>): VerdictFields[] }
/** Decides what to ask the user. */
export interface ClarifierRole<S = any> { assess(args: ClarifierArgs<S>): QuestionFields[] }
/** Makes the answer; null if nothing here answers the question. */
export interface AggregatorRole<S = any> { aggregate(args: AggregatorArgs<S>): AnswerFields | null }
/** Proposes another statement with the same result; null ends the optimization. */
export interface RewriterRole<S = any> { rewrite(args: RewriterArgs<S>): ProposalFields | null }

export interface Declaration<S extends Settings> {
  name: string;
  version?: string;
  summary?: string;
  settings?: S;
  linker?: LinkerRole<ValuesOf<S>>;
  planner?: PlannerRole<ValuesOf<S>>;
  solver?: SolverRole<ValuesOf<S>>;
  calibrator?: CalibratorRole<ValuesOf<S>>;
  reward?: RewardRole<ValuesOf<S>>;
  clarifier?: ClarifierRole<ValuesOf<S>>;
  aggregator?: AggregatorRole<ValuesOf<S>>;
  rewriter?: RewriterRole<ValuesOf<S>>;
}
export type Plugin<S extends Settings = Settings> = Readonly<Declaration<S>> & { readonly settings: S };
/** Declares a plugin, which is the default export of its main file. A mistake is reported while it is built. */
export declare function plugin<S extends Settings = {}>(declared: Declaration<S>): Plugin<S>;

// ---- Errors ----------------------------------------------------------------------------------------------------------------------------

/** Why a role could not do its work. Thrown by a role, it reaches the user with this kind and message. Any other error becomes the kind `internal`. */
export declare class Failure extends Error {
  constructor(kind: FailureKind, message: string, options?: { retryable?: boolean; cause?: unknown });
  readonly kind: FailureKind;
  readonly retryable: boolean;
}
/** An error of the port `llm`. `detail` is the host's text; empty for kinds without one. */
export declare class LlmError extends Error {
  constructor(kind: Open<"budget" | "denied" | "refused" | "too-large" | "malformed" | "unsupported" | "cancelled" | "unavailable" | "other">, detail?: string);
  readonly kind: string;
  readonly detail: string;
}
/** An error of a statement, of the ports `sql` and `inspect`. */
export declare class SqlError extends Error {
  constructor(kind: string, message: string, options?: { position?: number | null; suggestions?: string[] });
  readonly kind: Open<"syntax" | "unknown-table" | "unknown-column" | "ambiguous-name" | "type-mismatch" | "write-refused" | "function-refused" | "denied" | "timeout" | "too-large" | "cancelled" | "budget" | "unavailable" | "other">;
  readonly position: number | null;
  readonly suggestions: string[];
}
/** An error of the ports `rows`, `cells`, `retrieval`, `inspect` and `evaluate`. */
export declare class PortError extends Error {
  constructor(kind: Open<"denied" | "unsupported" | "unknown-name" | "budget" | "unavailable" | "other">, detail?: string);
  readonly kind: string;
  readonly detail: string;
}
/** The failure of a role that cannot continue after this error, which may be any value that was thrown. */
export declare function failureOf(error: unknown): Failure;

// ---- Makers ----------------------------------------------------------------------------------------------------------------------------

export declare function accepted(score: number, reason?: string, checks?: [string, boolean][]): Extract<Verdict, { accepted: Opinion }>;
export declare function rejected(score: number, reason?: string, checks?: [string, boolean][]): Extract<Verdict, { rejected: Opinion }>;
export declare function unavailable(reason: string): Extract<Verdict, { unavailable: string }>;
export declare function task(fields: TaskFields): Task;
export declare function candidate(fields: CandidateFields): Candidate;
export declare function signals(fields?: SignalsFields): Signals;
export declare function problem(question: string, fields?: Partial<ProblemFields>): Problem;
export declare function hit(fields: HitFields): Hit;
export declare function observation(fields: ObservationFields): Observation;
export declare function catalog(fields?: CatalogFields): Catalog;
/** Why a task failed; null if it ended in another way. */
export declare function failedWith(observation: Pick<Observation, "ending">): FailureRecord | null;
/** A graph of one task, which gives the answer. */
export declare function single(task: TaskFields): Graph;
/** The calibrated confidence of a candidate, else what the model stated, else 0. */
export declare function sureness(candidate: Pick<Candidate, "confidence" | "rawConfidence">): number;

// ---- Prompts, requests and replies -----------------------------------------------------------------------------------------------------

/** A request under construction. The last call (`text`, `sql`, `json` or `choice`) finishes it. */
export declare class Ask {
  system(text: string): this;
  user(text: string): this;
  assistant(text: string): this;
  /** The SQL texts that the call is about, which are never sent. */
  subjects(subjects: string[]): this;
  model(model: string | null): this;
  temperature(temperature: number): this;
  maxTokens(tokens: number): this;
  sample(sample: number): this;
  text(): Request;
  sql(): Request;
  json(schema: object): Request;
  choice(words: string[]): Request;
}
export declare function ask(purpose: Purpose): Ask;

/** A statement that failed, and why. */
export interface Tried { sql: string; wrong: string }
/** The prompt of a statement and of its repair. */
export declare class Brief {
  constructor(
    host: Pick<Ports, "rows">,
    size: { catalogBytes?: number; parentRows?: number },
    subject: { problem: Problem; catalog: Catalog; task: Task; parents?: Parent[] },
  );
  /** Halves the catalog of the prompts; false if it is too short for that. */
  shorten(): boolean;
  request(tried?: Tried[], sample?: number): Request;
  setting(): string;
  /** The task without tables and solved examples. */
  task(): string;
  /** A request for a reply in the form of `instructions`, with solved examples as turns before the task. */
  ask(purpose: Purpose, instructions: string, more?: string): Ask;
  /** Adds the solved examples as turns, each with the `reply` of its statement. */
  addTurns(begun: Ask, reply: (sql: string) => string): Ask;
  instructions(): string;
}
export declare function feedback(tried: Tried[]): string;
export declare function problemText(problem: Problem): string;
export declare function catalogText(catalog: Catalog, bytes: number): string;
export declare function tableName(syntax: Syntax, table: Pick<Table, "schemaName" | "name">): string;
export declare function cellText(value: Value | bigint): string;
export declare function rowsText(page: Pick<Page, "columns" | "rows">): string;

export interface JoinKey { left: string; leftCol: string; right: string; rightCol: string; how: "inner" | "left" | "right" | "outer" }
export interface Subtask { id: string; description: string; dependsOn: string[]; isAtomic: boolean; expectedOutput: string | null; joinKeys: JoinKey[] }
export declare const planSchema: { [name: string]: Json };
export declare const verdictSchema: { [name: string]: Json };
export declare function planReply(reply: Pick<Reply, "parsed">): Subtask[] | null;
export declare function sqlReply(reply: Pick<Reply, "parsed">): { sql: string; confidence: number | null } | null;
export declare function verdictReply(reply: Pick<Reply, "parsed">): Verdict;
export declare function joinContext(keys: JoinKey[]): Json;
export declare function joinKeysOf(task: Pick<Task, "context">): JoinKey[];
export declare function joinHow(name: string): JoinKey["how"];
export declare function planContext(steps: string[]): Json;
export declare function planOf(task: Pick<Task, "context">): string[];

export declare function literal(syntax: Syntax, text: string): string;
export declare function quote(syntax: Syntax, name: string): string;
export declare function quoteIfOdd(syntax: Syntax, name: string): string;
export declare function shown(syntax: Syntax, name: string): string;
export declare function fromName(syntax: Syntax, table: Pick<Table, "schemaName" | "name">): string;
export declare function findTable(catalog: Catalog, name: string): Table | null;
export declare function tablePlace(catalog: Catalog, name: string): number | null;
export declare function tableNames(catalog: Catalog): string[];

// ---- Attempts and votes ----------------------------------------------------------------------------------------------------------------

export interface Statement { sql: string; confidence: number | null; logprob: number | null; tokens: number }
/** What a request for a statement gave; all fields but one are absent. */
export interface Written { statement?: Statement; noStatement?: string; tooLarge?: true; abstained?: string; failed?: Failure }
/** The outcome of a call as a value. */
export declare function settle<T, E extends LlmError | SqlError | PortError = LlmError>(call: () => T): Settled<T, E>;
export declare function written(outcome: Settled<Reply, LlmError>): Written;
export interface Ran { facts: Facts; results: ResultSet; profile: Profile; doubts: string[]; fingerprint: string }
export interface StatementTrial { ran: Ran | null; wrong: string | null; stopped: Failure | null; signals: Signals }
/** Statements in the database: each text is checked and run once. */
export declare class Trials {
  constructor(overflowRows?: number);
  get(sql: string): StatementTrial | undefined;
  /** Returns the first failure after which no statement can run any more, or null. */
  run(host: Pick<Ports, "inspect" | "sql">, texts: Iterable<string>): Failure | null;
  /** Checks and runs one text. Throws the failure after which no statement can run any more. */
  one(host: Pick<Ports, "inspect" | "sql">, sql: string): StatementTrial;
}
export declare function candidateId(task: string, number: number): string;
export declare function words(error: Pick<SqlError, "message"> & { position?: number | null; suggestions?: string[] }): string;
export declare function failed(error: SqlError, counts: Signals): string;
export declare function doubts(overflowRows: number, profile: Profile, counts: Signals): string[];
export declare function statementCandidate(statement: Statement, fields: { id: string; parents?: string[]; origin: string; signals: Signals }): Candidate;
/** The attempts at one statement: the first one and its repairs, at most `maxAttempts`. */
export declare class Chain {
  constructor(maxAttempts: number);
  /** Earlier statements and what was wrong with them, the oldest first. */
  tried: Tried[];
  /** Counts over all attempts of the chain. */
  signals: Signals;
  /** How many of the earlier replies had a statement. */
  readonly statements: number;
  /** The origin of the chain's next candidate. */
  readonly origin: "generate" | "repair";
  /** Adds what was wrong with a statement, which the next request is to repair. */
  fail(sql: string, wrong: string): void;
  /** Adds a reply without a statement. */
  failWithoutStatement(wrong: string): void;
  /** The candidate of the chain's next statement, a child of the one before. `own` are the statement's own counts. */
  candidate(id: string, origin: string, statement: Statement, own: Signals): Candidate;
}
/** The outcome of a task without a candidate: the reason becomes a warning and the memo. */
export declare function nothing(host: Pick<Ports, "trace">, why: string): { candidates: []; subtasks: []; ask: null; memo: Json };

export declare function drawRequest(brief: Brief, tried: Tried[], number: number, temperature?: number | null): Request;
/** The places of equal keys: the largest group first, and of equally large ones that with the earliest member. */
export declare function groups<K>(keys: readonly K[]): number[][];

// ---- Texts and numbers -----------------------------------------------------------------------------------------------------------------

/** One line of at most `limit` characters, for text from a database or a model before it becomes a part of a prompt. */
export declare function line(text: string, limit: number): string;
/** At most that many bytes of a text, cut between characters. */
export declare function clip(text: string, bytes: number): string;
/** `1 row`, `2 rows`. */
export declare function count(number: number, noun: string): string;
/** A number from 0 to 1; not-a-number becomes 0. */
export declare function clamp01(value: number): number;
/** A number as decimal digits, without an exponent. */
export declare function digits(value: number): string;
/** FNV-1a over the UTF-8 bytes of a text, 64 bits. */
export declare function fnv1a(text: string): bigint;
