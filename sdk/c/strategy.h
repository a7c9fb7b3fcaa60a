// Prompts, requests, replies, trials and votes. syrch.h includes this.
#ifndef SYRCH_STRATEGY_H
#define SYRCH_STRATEGY_H

// ---- Names and dialects

// The dialect's name in prompts, and its rules, a line each.
syrch_string_t syrch_dialect_name(const syrch_dialect_t *dialect);
const char *syrch_dialect_rules(const syrch_dialect_t *dialect);
// A text as a literal of a statement.
syrch_string_t syrch_literal(const syrch_dialect_t *dialect, syrch_string_t text);
// The name in the dialect's quotes; `…_if_odd`: only where it would not be read as that name otherwise.
syrch_string_t syrch_quote(const syrch_dialect_t *dialect, syrch_string_t name);
syrch_string_t syrch_quote_if_odd(const syrch_dialect_t *dialect, syrch_string_t name);
// The name as a prompt shows it: on one line, whatever it holds. Never for a statement that is run.
syrch_string_t syrch_shown(const syrch_dialect_t *dialect, syrch_string_t name);
// A table's name as a statement has it in FROM.
syrch_string_t syrch_from_name(const syrch_dialect_t *dialect, const syrch_table_t *table);
// The table that a name means, with its schema before it or without; NULL if there is none.
const syrch_table_t *syrch_find_table(const syrch_catalog_t *catalog, syrch_string_t name);
// The name by which the host shows and finds a table: for what goes back to the host, such as a linker's selection.
syrch_string_t syrch_table_name(const syrch_catalog_t *catalog, const syrch_table_t *table);
bool syrch_is_view(const syrch_table_t *table);

// ---- Prompts: bounded, in the order in which things came, one fact a line

// The question with all that the user added to it.
syrch_string_t syrch_prompt_problem(const syrch_problem_t *problem);
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
  size_t example_bytes;
  syrch_string_t rest;
} syrch_brief_t;

// Collects the task, its question and the results of its dependencies, with at most `parent_rows` rows of each. It calls `rows.read`.
syrch_brief_t syrch_brief(const syrch_solve_t *in, uint32_t catalog_bytes, uint32_t parent_rows);
// Halves the catalog of the prompts, and what solved examples may fill; false if it is too short for that.
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

// ---- Chains and tries

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

// What a request for a statement of a try gave. `goes_on`: whether the statement is tested, which is so where there is one.
typedef struct syrch_try_reply_t {
  size_t place;
  syrch_statement_t written;
  bool goes_on;
} syrch_try_reply_t;

// What a strategy decides about tries, which are named by their places, from 0. `self` is passed to each function. Those marked may be NULL.
typedef struct syrch_tries_t {
  void *self;
  // Whether the try has another attempt in the next round.
  bool (*is_open)(void *self, size_t place, const syrch_chain_t *chain);
  // The request of the next statement.
  syrch_request_t (*request)(void *self, size_t place, const syrch_chain_t *chain);
  // Reads a round's replies. One without a statement has to end its try or count in its chain, so that all tries end.
  void (*read)(void *self, syrch_try_reply_t *replies, size_t count, syrch_chain_t *chains);
  // Called once for each statement after it ran or failed and was logged. What was wrong with one that failed is in its chain.
  void (*settled)(void *self, size_t place, const syrch_candidate_t *candidate, const syrch_trial_run_t *trial, syrch_chain_t *chain);
  // May be NULL. Changes the prompts after that error so that a request may be made again; false if that is no use.
  bool (*adapt)(void *self, const syrch_llm_error_t *error);
  // May be NULL. The origin of the next candidate.
  const char *(*origin)(void *self, size_t place, const syrch_chain_t *chain);
  // May be NULL. Called after the last statement of a round.
  void (*finish_round)(void *self, syrch_chain_t *chains);
} syrch_tries_t;

// Makes `number` tries of at most `attempts` statements each. The requests of a round are made concurrently, and its statements run together. A
// request that failed in a way that the prompts can be adapted to is made again in its round.
void syrch_run_tries(const syrch_task_t *task, size_t number, uint32_t attempts, uint64_t overflow_rows, const syrch_tries_t *tries);

// ---- Confidence and ambiguity

// How much each signal takes off a confidence, as settings: `#define SETTINGS(X) SYRCH_WEIGHTS(X)`. The defaults are the table of syrch 0.1.2,
// which the built-in calibrator `signals` has.
#define SYRCH_WEIGHTS(X)                                                                                                                       \
  X(number, syntax, 0.10, 0, 1, "Taken off when an attempt did not parse.")                                                                    \
  X(number, schema, 0.05, 0, 1, "Taken off when an attempt named what the catalog lacks.")                                                     \
  X(number, execution, 0.10, 0, 1, "Taken off when an attempt failed while running.")                                                          \
  X(number, empty, 0.15, 0, 1, "Taken off when the result has no rows.")                                                                       \
  X(number, null_column, 0.05, 0, 1, "Taken off when a column of the result is NULL throughout.")                                              \
  X(number, overflow, 0.05, 0, 1, "Taken off when the result is larger than expected.")                                                        \
  X(number, retry, 0.05, 0, 1, "Taken off when the last allowed attempt was needed; earlier attempts lose their share of it.")

typedef struct syrch_weights_t {
  double syntax, schema, execution, empty, null_column, overflow, retry;
} syrch_weights_t;
extern const syrch_weights_t syrch_default_weights;
// The weights that the settings have: `SYRCH_WEIGHTS_OF(syrch_settings)`.
#define SYRCH_WEIGHTS_OF(settings)                                                                                                \
  ((syrch_weights_t){(settings).syntax, (settings).schema, (settings).execution, (settings).empty, (settings).null_column,        \
                     (settings).overflow, (settings).retry})
// The claim times 1 - weight for each signal that occurred, however often, between 0 and 1.
double syrch_discounted(const syrch_weights_t *weights, double raw, const syrch_signals_t *signals);

// The weights of the ambiguity score: how far the best confidence is from certainty; the population variance of the confidences, when there are
// at least two; an error, which counts 0.5; and an empty result without an error, which counts 0.3.
typedef struct syrch_ambiguity_weights_t {
  double doubt, variance, error, empty;
} syrch_ambiguity_weights_t;
// Those of the default strategy.
extern const syrch_ambiguity_weights_t syrch_default_ambiguity;
// How unclear a task is after its attempts, 0 to 1: nothing found at all is 1.
double syrch_ambiguity(const syrch_ambiguity_weights_t *weights, const double *confidences, size_t count, bool is_error, bool is_empty);
// The score of an observed task; none for one that never ran because of another one, or was cancelled.
syrch_option_f64_t syrch_ambiguity_of(const syrch_ambiguity_weights_t *weights, const syrch_observation_t *seen);
// Whether a task ended with a result that has no rows.
bool syrch_has_no_rows(const syrch_observation_t *seen);

// ---- Draws and votes

// One drawn statement and how it ended. `repairs`: the draw that it repairs.
typedef struct syrch_draw_t {
  uint32_t number;
  syrch_option_u32_t repairs;
  syrch_string_t sql;
  syrch_option_f64_t confidence;
  const syrch_ran_t *ran;
  syrch_string_t wrong;
  syrch_signals_t signals;
} syrch_draw_t;

typedef struct syrch_rejected_result_t {
  syrch_string_t fingerprint, reason;
} syrch_rejected_result_t;

// The draws that ended, by their numbers, and the results that were rejected.
typedef struct syrch_pool_t {
  syrch_draw_t *ptr;
  size_t len;
  struct {
    syrch_rejected_result_t *ptr;
    size_t len;
  } rejected;
} syrch_pool_t;

// A group of draws with equal results; `members` has their numbers, ascending.
typedef struct syrch_cluster_t {
  syrch_string_t fingerprint;
  syrch_list_u32_t members;
} syrch_cluster_t;
typedef struct syrch_list_cluster_t {
  syrch_cluster_t *ptr;
  size_t len;
} syrch_list_cluster_t;

const syrch_draw_t *syrch_pool_draw(const syrch_pool_t *pool, uint32_t number);
// How many draws ran.
uint32_t syrch_pool_ran(const syrch_pool_t *pool);
// The groups of equal results: the largest first, and of equally large ones that with the earliest member. Results without rows are left
// out unless `empty`.
syrch_list_cluster_t syrch_clusters(const syrch_pool_t *pool, bool empty);
// What was wrong with each draw that cannot win, in order.
syrch_list_tried_t syrch_pool_tried(const syrch_pool_t *pool, bool empty);
// What was wrong with the draws since the last one that can win: what the next draw may repair. A draw that ends a chain of `attempts`
// statements, the first one and its repairs, is repaired no more.
syrch_list_tried_t syrch_pool_tried_lately(const syrch_pool_t *pool, bool empty, uint32_t attempts);
// The candidate of a draw, out of `most`.
syrch_candidate_t syrch_draw_candidate(const syrch_pool_t *pool, const syrch_task_t *task, const syrch_draw_t *draw, uint32_t most);
// The request of a draw: a repair of what was tried, or a fresh one at that temperature.
syrch_request_t syrch_draw_request(const syrch_brief_t *brief, syrch_list_tried_t tried, uint32_t number, syrch_option_f64_t temperature);

// A group with its place in the vote. The earliest member becomes the candidate, with this confidence and this reason.
typedef struct syrch_standing_t {
  syrch_cluster_t cluster;
  double confidence;
  syrch_string_t reason;
} syrch_standing_t;
typedef struct syrch_list_standing_t {
  syrch_standing_t *ptr;
  size_t len;
} syrch_list_standing_t;

// What a strategy decides about a vote. `self` is passed to each function.
typedef struct syrch_voter_t {
  void *self;
  // The request of a draw, from 1. The pool has the draws that ended.
  syrch_request_t (*request)(void *self, uint32_t number, const syrch_pool_t *pool);
  // The least number of further draws, those in flight included, after which the vote may be decided; 0 if it is decided.
  uint32_t (*missing)(void *self, const syrch_pool_t *pool);
  // The groups that may win, best first.
  syrch_list_standing_t (*standings)(void *self, const syrch_pool_t *pool);
  // Makes the prompts shorter, after one was too large; false if they cannot be. NULL: they cannot be.
  bool (*shorten)(void *self);
  // Called once for each draw after it ended, before the next call of `missing`. NULL: nothing is called.
  void (*seen)(void *self, const syrch_draw_t *draw);
  // Whether all draws in flight have to end before others start.
  bool in_rounds;
} syrch_voter_t;

typedef enum syrch_stop {
  // The voter has enough, or all draws were made.
  SYRCH_STOP_DONE,
  // The model abstains; `why` is its reason. This is not a failure.
  SYRCH_STOP_ABSTAINED,
  // No call or no statement can succeed any more.
  SYRCH_STOP_FAILED,
} syrch_stop;

// Why a drawing stopped.
typedef struct syrch_stopped_t {
  syrch_stop how;
  syrch_string_t why;
  syrch_failure_t failure;
} syrch_stopped_t;

typedef struct syrch_drawing_t syrch_drawing_t;
// A drawing of at most `most` statements. More rows than `overflow_rows` are a doubt.
syrch_drawing_t *syrch_drawing(const syrch_task_t *task, uint32_t most, uint64_t overflow_rows);
// Draws until the voter has enough: model calls are in flight concurrently, each statement is tested as its reply arrives, and candidates are
// reported in the order of their numbers. It can be called again.
syrch_stopped_t syrch_draw(syrch_drawing_t *drawing, const syrch_voter_t *voter);
syrch_pool_t *syrch_drawn(syrch_drawing_t *drawing);
uint32_t syrch_started(const syrch_drawing_t *drawing);

// Draws, votes, has the reward judge the results, draws again if it rejected one, and fills in one candidate for each remaining result, best
// first. False after a failure.
bool syrch_elect(const syrch_task_t *task, uint32_t most, uint64_t overflow_rows, const syrch_voter_t *voter, syrch_outcome_t *out);

// ---- Chance

// A seeded generator: equal seeds give equal numbers (SplitMix64).
typedef struct syrch_dice_t {
  uint64_t state;
} syrch_dice_t;
uint64_t syrch_random(syrch_dice_t *dice);
bool syrch_coin(syrch_dice_t *dice);
// One of that many, from 0.
size_t syrch_one_of(syrch_dice_t *dice, size_t sides);

#endif
