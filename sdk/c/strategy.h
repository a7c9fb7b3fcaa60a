// Prompts, requests, replies and trials of statements. syrch.h includes this.
#ifndef SYRCH_STRATEGY_H
#define SYRCH_STRATEGY_H

// ---- Names and texts in SQL

// A text as a literal of a statement.
syrch_string_t syrch_literal(const syrch_syntax_t *syntax, syrch_string_t text);
// The name in the syntax's quotes; `…_if_odd`: only where it would not be read as that name otherwise.
syrch_string_t syrch_quote(const syrch_syntax_t *syntax, syrch_string_t name);
syrch_string_t syrch_quote_if_odd(const syrch_syntax_t *syntax, syrch_string_t name);
// The name as a prompt shows it: on one line, whatever it holds. Never for a statement that is run.
syrch_string_t syrch_shown(const syrch_syntax_t *syntax, syrch_string_t name);
// A table's name as a statement has it in FROM.
syrch_string_t syrch_from_name(const syrch_syntax_t *syntax, const syrch_table_t *table);
// The table that a name means, with its schema before it or without; NULL if there is none.
const syrch_table_t *syrch_find_table(const syrch_catalog_t *catalog, syrch_string_t name);
// The name by which the host shows and finds a table: for what goes back to the host, such as a linker's selection.
syrch_string_t syrch_table_name(const syrch_catalog_t *catalog, const syrch_table_t *table);
bool syrch_is_view(const syrch_table_t *table);

// ---- Prompts: bounded, in the order in which things came, one fact a line

// The question with all that the user added to it.
syrch_string_t syrch_prompt_problem(const syrch_problem_t *problem);
// The form of a request for metrics, for the instructions of a prompt whose reply has the shape `sql`; empty unless the question mentions a
// defined metric.
syrch_string_t syrch_metric_request(const syrch_problem_t *problem);
// All tables in at most about that many bytes: comments go first, then types and keys, and at last whole tables.
syrch_string_t syrch_prompt_catalog(const syrch_catalog_t *catalog, size_t bytes);
// Rows as a small table, and a cell on one line.
syrch_string_t syrch_prompt_rows(const syrch_page_t *page);
syrch_string_t syrch_prompt_cell(const syrch_value_t *value);

// A statement that failed, and why. `sql` is empty if the reply had none.
typedef struct syrch_tried_t {
  syrch_string_t sql, wrong;
} syrch_tried_t;
typedef struct syrch_list_tried_t {
  syrch_tried_t *ptr;
  size_t len;
} syrch_list_tried_t;

// A question with the statement that answers it, as the user gave it.
typedef struct syrch_example_t {
  syrch_string_t question;
  syrch_string_t sql;
} syrch_example_t;
typedef struct syrch_list_example_t {
  syrch_example_t *ptr;
  size_t len;
} syrch_list_example_t;

// Reads the solved example of a hit; false for any other hit, and for an example of more than 4,000 bytes.
bool syrch_example_of(const syrch_hit_t *hit, syrch_example_t *out);
// Whether a hit is a fact about a table: cells of no column.
bool syrch_is_fact(const syrch_hit_t *hit);
// The most characters of a hit's text in a prompt: what people wrote, and facts about a table, are whole.
size_t syrch_hit_most(const syrch_hit_t *hit);
// The hits that fit, as prompt text.
syrch_string_t syrch_prompt_hints(syrch_list_hit_t hits);

// The part that all prompts of one task share: the facts about its tables, the question with its other hints, the same without solved
// examples, these, and the task.
typedef struct syrch_brief_t {
  const syrch_catalog_t *catalog;
  size_t catalog_bytes;
  syrch_string_t facts;
  syrch_string_t problem;
  syrch_string_t asked;
  syrch_list_example_t examples;
  syrch_string_t rest;
  // The form of a request for metrics, if the question mentions one.
  syrch_string_t metric_request;
} syrch_brief_t;

// Collects the task, its question and the results of its dependencies, with at most `parent_rows` rows of each. It calls `rows.read`.
syrch_brief_t syrch_brief(const syrch_solve_t *in, uint32_t catalog_bytes, uint32_t parent_rows);
// Makes the prompts shorter: leaves the solved examples out, then the facts about tables, and then halves the catalog; false if there is
// nothing more to leave out.
bool syrch_shorten(syrch_brief_t *brief);
// The request for the next statement, after solved examples as turns. With earlier statements it is a repair.
syrch_request_t syrch_brief_request(const syrch_brief_t *brief, syrch_list_tried_t tried, uint32_t sample);
// The tables and the task, for a prompt of a strategy's own, and the rules for a statement.
syrch_string_t syrch_brief_setting(const syrch_brief_t *brief);
syrch_string_t syrch_brief_instructions(const syrch_brief_t *brief);
syrch_string_t syrch_feedback(syrch_list_tried_t tried);

// ---- Requests: `syrch_request_t ask = syrch_ask(SYRCH_PURPOSE_JUDGE); syrch_user(&ask, text); syrch_expect_json(&ask, syrch_verdict_schema());`

syrch_request_t syrch_ask(uint8_t purpose);
void syrch_system(syrch_request_t *request, syrch_string_t text);
void syrch_user(syrch_request_t *request, syrch_string_t text);
void syrch_assistant(syrch_request_t *request, syrch_string_t text);
// What the reply must be; without one of these, any text.
void syrch_expect_sql(syrch_request_t *request);
void syrch_expect_json(syrch_request_t *request, syrch_string_t schema);
void syrch_expect_choice(syrch_request_t *request, syrch_list_string_t words);

// ---- Replies

// The schemas by whose titles providers without a model know the purposes `plan` and `judge`.
syrch_string_t syrch_plan_schema(void);
syrch_string_t syrch_verdict_schema(void);

typedef struct syrch_sql_reply_t {
  syrch_string_t sql;
  syrch_option_f64_t confidence;
} syrch_sql_reply_t;
// Reads the reply to `generate` or `repair`; false if it holds no statement.
bool syrch_read_sql(const syrch_reply_t *reply, syrch_sql_reply_t *out);
// Reads the reply to `judge`; `unavailable` if it says neither yes nor no.
syrch_verdict_t syrch_read_verdict(const syrch_reply_t *reply);

typedef enum syrch_wrote {
  // The reply has a statement.
  SYRCH_WROTE_STATEMENT,
  // A reply without a statement, which counts as an attempt; `why` explains it to a model.
  SYRCH_WROTE_NOTHING,
  // No reply, since the prompt was too large.
  SYRCH_WROTE_TOO_LARGE,
  // No reply, since the model abstains; `why` is its reason. This is not a failure.
  SYRCH_WROTE_ABSTAINED,
  // No reply, for a reason that later calls have too.
  SYRCH_WROTE_FAILED,
} syrch_wrote;
// What a request for a statement gave, with the tokens of the call. `why` and `failure` are set without a statement.
typedef struct syrch_statement_t {
  syrch_wrote how;
  syrch_string_t sql;
  syrch_option_f64_t confidence, logprob;
  double tokens;
  syrch_string_t why;
  syrch_failure_t failure;
} syrch_statement_t;
// Sends a request for a statement and reads the reply; or reads one that is there.
syrch_statement_t syrch_ask_statement(const syrch_request_t *request);
syrch_statement_t syrch_statement_of(const syrch_reply_result_t *reply);
// The candidate of a statement, with the log probability and the tokens in its signals.
syrch_candidate_t syrch_statement_candidate(const syrch_statement_t *statement, syrch_string_t id, const char *origin, syrch_signals_t signals);

// How two results join. `how`: inner, left, right or outer.
typedef struct syrch_join_key_t {
  syrch_string_t left, left_col, right, right_col;
  const char *how;
} syrch_join_key_t;
typedef struct syrch_list_join_key_t {
  syrch_join_key_t *ptr;
  size_t len;
} syrch_list_join_key_t;
// One subtask of a plan, as the model wrote it.
typedef struct syrch_subtask_t {
  syrch_string_t id, description;
  syrch_list_string_t depends_on;
  bool is_atomic;
  syrch_option_string_t expected_output;
  syrch_list_join_key_t join_keys;
} syrch_subtask_t;
typedef struct syrch_list_subtask_t {
  syrch_subtask_t *ptr;
  size_t len;
} syrch_list_subtask_t;
// Reads the reply to `plan`; false if there is no subtask with an id and a description.
bool syrch_read_plan(const syrch_reply_t *reply, syrch_list_subtask_t *out);
// A task's context that carries join keys, or the steps of a plan; none where there are none. And back.
syrch_option_string_t syrch_join_context(syrch_list_join_key_t keys);
syrch_option_string_t syrch_plan_context(syrch_list_string_t steps);
syrch_list_join_key_t syrch_join_keys_of(const syrch_task_t *task);
syrch_list_string_t syrch_plan_of(const syrch_task_t *task);

// ---- Statements

// A statement that ran. `fingerprint` is equal for results with the same rows; `doubts` are what a good answer would not look like.
typedef struct syrch_ran_t {
  syrch_facts_t facts;
  syrch_results_t results;
  syrch_profile_t profile;
  syrch_list_string_t doubts;
  syrch_string_t fingerprint;
} syrch_ran_t;

// A statement that was checked and run once. `ran` is NULL if it failed, and `wrong` then explains it to a model. `signals` counts its
// error and the shape of its result.
typedef struct syrch_trial_run_t {
  syrch_string_t sql;
  const syrch_ran_t *ran;
  syrch_string_t wrong;
  syrch_signals_t signals;
} syrch_trial_run_t;

// The statements so far, each once. More rows than `overflow_rows` are a doubt.
typedef struct syrch_trials_t {
  uint64_t overflow_rows;
  syrch_trial_run_t *ptr;
  size_t len;
} syrch_trials_t;

// Checks the statements that are not known yet, and runs those that pass concurrently. False after a failure that holds for all (a used-up
// budget, an unavailable database), which is noted.
bool syrch_try(syrch_trials_t *trials, const syrch_string_t *statements, size_t count);
const syrch_trial_run_t *syrch_tried_as(const syrch_trials_t *trials, syrch_string_t sql);

// The message for a model about an error, which is counted. False if no statement can run any more.
bool syrch_error_words(const syrch_sql_error_t *error, syrch_signals_t *signals, syrch_string_t *words);
syrch_list_string_t syrch_doubts(uint64_t overflow_rows, const syrch_profile_t *profile, syrch_signals_t *signals);
// Ends a task without a candidate: the reason becomes a warning, which the user sees, and the memo.
bool syrch_nothing(syrch_outcome_t *out, syrch_string_t why);

// ---- Chains

// The attempts at one statement: the first one and its repairs. `tried`: earlier statements and what was wrong with them, the oldest first.
// `signals`: counts over all attempts.
typedef struct syrch_chain_t {
  syrch_list_tried_t tried;
  syrch_signals_t signals;
  syrch_option_string_t last_id;
} syrch_chain_t;
syrch_chain_t syrch_chain(uint32_t max_attempts);
// How many of the earlier replies had a statement, and the origin of the chain's next candidate.
size_t syrch_chain_statements(const syrch_chain_t *chain);
const char *syrch_chain_origin(const syrch_chain_t *chain);
// Adds what was wrong with a statement, which the next request is to repair; and a reply without a statement.
void syrch_chain_fail(syrch_chain_t *chain, syrch_string_t sql, syrch_string_t wrong);
void syrch_chain_fail_without_statement(syrch_chain_t *chain, syrch_string_t wrong);
// The candidate of the chain's next statement, a child of the one before. The errors of its `own` counts are added to those of the chain, while
// the shape of the result stays its own.
syrch_candidate_t syrch_chain_candidate(syrch_chain_t *chain, syrch_string_t id, const char *origin, const syrch_statement_t *statement,
                                        const syrch_signals_t *own);

// ---- Several statements for one task

// The request of a draw: a repair of what was tried, or a fresh one at that temperature.
syrch_request_t syrch_draw_request(const syrch_brief_t *brief, syrch_list_tried_t tried, uint32_t number, syrch_option_f64_t temperature);

// The places of equal keys, ascending in each group.
typedef struct syrch_groups_t {
  syrch_list_u32_t *ptr;
  size_t len;
} syrch_groups_t;
// The largest group comes first, and of equally large ones that with the earliest member. Statements agree whose results have equal fingerprints.
syrch_groups_t syrch_groups(syrch_list_string_t keys);

#endif
