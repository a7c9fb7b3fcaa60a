// The types of "syrch-plugin". The contract (wit/*.wit) states what each field and function promises; the comments here say what differs in
// JavaScript.

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

// ---- Values of the contract ------------------------------------------------------------------------------------------------------------

/** A value that JSON can hold. Memos, contexts and parsed replies are such values, not their texts. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
/** Values by name. The host's are a Map; a role may give a plain object or a list of pairs, too. */
export type Named<T> = Map<string, T> | { [name: string]: T } | [string, T][];
/** A word of an open set: one of those named here, or another one of a later version. */
export type Open<T extends string> = T | (string & {});

export type Dialect = Open<"sqlite" | "postgres" | "mysql" | "duckdb" | "databricks" | "spark" | "ansi">;
export type Corpus = Open<"tables" | "columns" | "cells" | "notes" | "examples">;
export type Retriever = Open<"lexical" | "path-fuzzy" | "segment-fuzzy" | "vector">;
export type Purpose = Open<"link" | "plan" | "generate" | "repair" | "judge" | "select" | "calibrate" | "clarify" | "summarise" | "rewrite">;
export type FailureKind = Open<"input" | "model" | "database" | "budget" | "unsupported" | "cancelled" | "internal">;
export type Equality = Open<"bag" | "set" | "ordered">;
export type Match = Open<"exact" | "ngram" | "fuzzy" | "vector">;

export interface Column {
  name: string;
  sqlType: string;
  nullable: boolean;
  comment: string | null;
  extra: Map<string, Json>;
}
export interface ForeignKey {
  columns: string[];
  refTable: string;
  refColumns: string[];
}
export interface Index {
  name: string;
  columns: string[];
  isUnique: boolean;
  method: string | null;
  predicate: string | null;
}
export interface Table {
  schemaName: string | null;
  name: string;
  columns: Column[];
  primaryKey: string[];
  foreignKeys: ForeignKey[];
  indexes: Index[];
  rowEstimate: number | null;
  comment: string | null;
  extra: Map<string, Json>;
}
export interface Catalog {
  database: string;
  dialect: Dialect;
  tables: Table[];
}
export interface Hit {
  corpus: Corpus;
  id: string;
  path: string;
  table: string | null;
  column: string | null;
  snippet: string | null;
  payload: Json;
  score: number;
}
export interface Problem {
  question: string;
  evidence: string | null;
  goal: string | null;
  answers: [question: string, answer: string][];
  hints: Hit[];
  extra: Map<string, Json>;
}
export interface ColumnProfile {
  column: Column;
  nulls: number;
  distinct: number | null;
}
export interface Profile {
  rows: number;
  truncated: boolean;
  columns: ColumnProfile[];
  warnings: string[];
}
/** A cell. Whole numbers beyond 2^53 arrive rounded, as a debug line of the trace says: select them as text. */
export type Value = null | boolean | number | string | Uint8Array;

export interface Signals {
  attempts: number;
  maxAttempts: number;
  syntaxErrors: number;
  schemaErrors: number;
  executionErrors: number;
  emptyResult: boolean;
  nullColumns: number;
  overflow: boolean;
  samples: number;
  agreeing: number;
  logprob: number | null;
  reward: number | null;
  extra: Named<number>;
}
export interface Candidate {
  id: string;
  parents: string[];
  origin: string;
  sql: string;
  rawConfidence: number | null;
  confidence: number | null;
  score: number | null;
  rationale: string | null;
  signals: Signals;
  extra: Named<Json>;
}
export interface RetrievalQuery {
  corpus: Corpus;
  retriever: Retriever;
  text: string;
  limit: number;
}
export type Operation = "solve" | "choose" | { retrieve: RetrievalQuery } | { other: string };
export type Join = "all-of" | "any-of" | { atLeast: number };
export interface Task {
  id: string;
  parent: string | null;
  text: string;
  operation: Operation;
  dependsOn: string[];
  join: Join;
  tolerant: boolean;
  priority: number;
  confidence: number | null;
  expected: string | null;
  database: string | null;
  context: Json;
}
export interface Graph {
  tasks: Task[];
  answer: string;
  memo: Json;
}
export interface Question {
  text: string;
  choices: string[];
  ambiguity: number;
}
export interface FailureRecord {
  kind: FailureKind;
  message: string;
  retryable: boolean;
}
/** A word, or an object with one field; `failedWith` reads the one of a failure. */
export type Ending = "solved" | "empty" | "cancelled" | { failed: FailureRecord } | { skipped: string } | { other: string };
export interface Observation {
  task: string;
  ending: Ending;
  candidates: Candidate[];
  profile: Profile | null;
  fingerprint: string | null;
  hits: Hit[];
  subtasks: Task[];
  memo: Json;
}
export interface Opinion {
  score: number;
  reason: string;
  checks: [name: string, passed: boolean][];
}
export type Verdict =
  | { accepted: Opinion; rejected?: undefined; unavailable?: undefined }
  | { rejected: Opinion; accepted?: undefined; unavailable?: undefined }
  | { unavailable: string; accepted?: undefined; rejected?: undefined };

export interface Relation {
  name: string;
  candidate: Candidate;
  results: ResultSet;
}
/** How a dependency ended. All fields but one are absent. */
export interface Output {
  relation?: Relation;
  hits?: Hit[];
  failed?: FailureRecord;
  other?: string;
}
export interface Parent {
  task: Task;
  output: Output;
  memo: Json;
}
export interface Rival {
  candidate: Candidate;
  results: ResultSet;
}
export interface Finished {
  name: string;
  task: Task;
  candidate: Candidate;
  others: Candidate[];
  results: ResultSet;
}
export interface Claim {
  claimed: number;
  signals: Signals;
}
export interface Relevant {
  table: string;
  columns: string[];
  score: number;
  reason: string;
}
export interface Answer {
  text: string;
  task: string;
  candidate: string | null;
  sql: string | null;
  confidence: number;
  basis: string[];
  caveats: string[];
}
export type Trial =
  | "mismatch" | "reordered" | "other-columns" | "too-large"
  | { accepted: number } | { slower: number } | { refused: string } | { failed: string } | { other: string };
export interface Attempt {
  sql: string;
  family: string;
  trial: Trial;
}
export interface Proposal {
  sql: string;
  family: string;
  reason?: string;
}

// What a role returns may leave out the fields that have a default.
type With<T, K extends keyof T> = Pick<T, K> & Partial<Omit<T, K>>;
export type HitFields = With<Hit, "corpus" | "id">;
export type TaskFields = With<Task, "id" | "text">;
export type SignalsFields = Partial<Signals>;
export type CandidateFields = Pick<Candidate, "id" | "sql"> & Partial<Omit<Candidate, "id" | "sql" | "signals">> & { signals?: SignalsFields };
export type OpinionFields = With<Opinion, "score">;
export type VerdictFields = { accepted: OpinionFields } | { rejected: OpinionFields } | { unavailable: string };
export type QuestionFields = With<Question, "text">;
export type GraphFields = { tasks: TaskFields[]; answer: string; memo?: Json };
export type Edit = "finish" | { add: TaskFields } | { update: TaskFields } | { cancel: string } | { answer: string } | { other: string };
export type LinkedFields = { tables?: With<Relevant, "table">[]; hints?: HitFields[] };
export type StepFields = { edits?: Edit[]; memo?: Json };
export type OutcomeFields = { candidates?: CandidateFields[]; subtasks?: TaskFields[]; ask?: QuestionFields | null; memo?: Json };
export type AnswerFields = With<Answer, "text" | "task">;
export type ObservationFields = Pick<Observation, "task" | "ending"> & Partial<Omit<Observation, "candidates" | "subtasks">> & {
  candidates?: CandidateFields[];
  subtasks?: TaskFields[];
};

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

export type Shape = "text" | "sql" | { json: Json } | { yaml: string[] } | { choice: string[] } | { other: string };
export interface Message {
  speaker: "system" | "user" | "assistant";
  text: string;
}
export interface Request {
  purpose: Purpose;
  messages: Message[];
  expect: Shape;
  model: string | null;
  subjects: string[];
  temperature: number | null;
  topP: number | null;
  maxTokens: number | null;
  stop: string[];
  logprobs: boolean;
  sample: number;
}
export type RequestFields = With<Request, "purpose" | "messages">;
export interface Reply {
  text: string;
  parsed: Json;
  truncated: boolean;
  logprob: number | null;
  usage: { inputTokens: number; outputTokens: number; costMicros: number | null; model: string };
}
export interface Facts {
  tables: string[];
  columns: string[];
  functions: string[];
  literals: { table: string | null; column: string | null; text: string }[];
  subqueries: string[];
  tasks: string[];
  ordered: boolean;
  normalized: string;
  skeleton: string;
}
export interface Plan {
  format: string;
  text: string;
  cost: number | null;
  rows: number | null;
}
export interface ColumnStats {
  column: string;
  distinct: number | null;
  nullFraction: number | null;
  correlation: number | null;
  averageWidth: number | null;
}
export interface Sample {
  column: string;
  least: Value;
  greatest: Value;
  frequent: [value: Value, times: number][];
}
export interface Page {
  columns: string[];
  rows: Value[][];
  clipped: boolean;
}

export interface TypedPage {
  columns: string[];
  rows: { type: "null" | "boolean" | "integer" | "real" | "decimal" | "text" | "temporal" | "bytes" | "other"; value?: Value }[][];
  clipped: boolean;
}

export interface RunPort {
  policy(): { highConfidence: number; maxAttempts: number; maxDepth: number; maxParallel: number; maxRounds: number };
  /** A further setting of the user's; null if it was not given. */
  setting(name: string): Json;
  remaining(): { tokens: number; llmCalls: number; sqlRuns: number; costMicros: number | null; time: "plenty" | "little" | "over" };
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
export interface SearchPort {
  find(query: With<RetrievalQuery, "corpus" | "retriever" | "text">): Hit[];
  findAll(queries: Iterable<With<RetrievalQuery, "corpus" | "retriever" | "text">>): Settled<Hit[], PortError>[];
  embed(texts: Iterable<string>): number[][];
}
export interface TracePort {
  note(level: "debug" | "info" | "warn", message: string): void;
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
  search: SearchPort;
  trace: TracePort;
}
export type LinkerHost = Pick<Ports, "run" | "wait" | "llm" | "inspect" | "cells" | "search" | "trace">;
export type PlannerHost = Pick<Ports, "run" | "wait" | "llm" | "inspect" | "search" | "trace">;
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
export interface RewriterRole<S = any> { rewrite(args: RewriterArgs<S>): Proposal | null }

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
/** An error of the ports `rows`, `cells`, `search`, `inspect` and `evaluate`. */
export declare class PortError extends Error {
  constructor(kind: Open<"denied" | "unsupported" | "unknown-name" | "budget" | "unavailable" | "other">, detail?: string);
  readonly kind: string;
  readonly detail: string;
}
/** The failure of a role that cannot continue after this error, which may be any value that was thrown. */
export declare function failureOf(error: unknown): Failure;

// ---- Makers ----------------------------------------------------------------------------------------------------------------------------

export declare function accepted(score: number, reason?: string, checks?: [string, boolean][]): { accepted: Opinion };
export declare function rejected(score: number, reason?: string, checks?: [string, boolean][]): { rejected: Opinion };
export declare function unavailable(reason: string): { unavailable: string };
export declare function task(fields: TaskFields): Task;
export declare function candidate(fields: CandidateFields): Candidate;
export declare function signals(fields?: SignalsFields): Signals;
export declare function problem(question: string, fields?: Partial<Omit<Problem, "hints">> & { hints?: HitFields[] }): Problem;
export declare function hit(fields: HitFields): Hit;
export declare function observation(fields: ObservationFields): Observation;
export type ColumnFields = Pick<Column, "name"> & Partial<Omit<Column, "extra">> & { extra?: Named<Json> };
export type TableFields = Pick<Table, "name"> & Partial<Omit<Table, "columns" | "extra">> & { columns?: ColumnFields[]; extra?: Named<Json> };
export declare function catalog(fields?: { database?: string; dialect?: Dialect; tables?: TableFields[] }): Catalog;
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
export declare function tableName(dialect: Dialect, table: Pick<Table, "schemaName" | "name">): string;
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

export declare function dialectName(dialect: Dialect): string;
export declare function dialectRules(dialect: Dialect): string;
export declare function literal(dialect: Dialect, text: string): string;
export declare function quote(dialect: Dialect, name: string): string;
export declare function quoteIfOdd(dialect: Dialect, name: string): string;
export declare function shown(dialect: Dialect, name: string): string;
export declare function fromName(dialect: Dialect, table: Pick<Table, "schemaName" | "name">): string;
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
