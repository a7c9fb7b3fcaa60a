// The ports of a native build. In a component they are those of the host, and this file is empty.

#ifndef __wasm__

#include "fakes.h"

#include <stdlib.h>

typedef struct answer {
  syrch_string_t sql;
  bool passes, runs;
  syrch_sql_error_t error;
  syrch_page_t rows;
} answer;

typedef struct judgement {
  syrch_string_t sql;
  syrch_verdict_t verdict;
} judgement;

typedef struct named {
  syrch_string_t name, json;
} named;

typedef enum kind { RESULTS, REPLY, STATEMENT, VERDICTS } kind;

// A handle of any kind; its number is its place.
typedef struct handle {
  kind kind;
  bool is_open, is_taken;
  syrch_page_t rows;
  syrch_reply_result_t reply;
  syrch_run_result_t ended;
  syrch_list_verdict_t verdicts;
} handle;

#define LIST(type) \
  struct {         \
    type *ptr;     \
    size_t len;    \
  }

static LIST(syrch_reply_result_t) replies;
static LIST(answer) answers;
static LIST(judgement) judgements;
static LIST(named) settings;
static LIST(syrch_list_hit_t) hits;
static LIST(handle) handles;
static size_t next_reply, next_hits;

syrch_fake_t syrch_fake;
int syrch_failed;

void syrch_fake_reset(void) {
  syrch_reset();
  replies.len = answers.len = judgements.len = settings.len = hits.len = handles.len = 0;
  replies.ptr = NULL;
  answers.ptr = NULL;
  judgements.ptr = NULL;
  settings.ptr = NULL;
  hits.ptr = NULL;
  handles.ptr = NULL;
  next_reply = next_hits = 0;
  syrch_fake = (syrch_fake_t){
      .policy = {.high_confidence = 0.85, .max_attempts = 3, .max_depth = 3, .max_parallel = 5, .max_rounds = 8},
      .budget = {.tokens = 100000, .llm_calls = 200, .sql_runs = 500, .time = SYRCH_TIME_LEFT_PLENTY},
      .granted_rows = {.is_some = true, .val = 3},
  };
  syrch_fake_settings("");
}

void syrch_fake_settings(const char *json) {
  syrch_string_t wrong;
  if (!syrch_read_settings(&syrch_plugin, syrch_text(json), &wrong)) syrch_panic("%.*s", SYRCH_F(wrong));
}

void syrch_check_text(syrch_string_t text, const char *expected, const char *file, int line) {
  if (syrch_is(text, expected)) return;
  syrch_failed++;
  fprintf(stderr, "%s:%d:\n  is       %.*s\n  expected %s\n", file, line, SYRCH_F(text), expected);
}

size_t syrch_fake_open(void) {
  size_t open = 0;
  for (size_t i = 0; i < handles.len; i++) open += handles.ptr[i].is_open;
  return open;
}

static int32_t opened(handle made) {
  made.is_open = true;
  syrch_push(&handles, made);
  return (int32_t)(handles.len - 1);
}

// The handle of that number, which must be open and of that kind, as the host demands.
static handle *used(int32_t number, kind wanted) {
  if (number < 0 || (size_t)number >= handles.len || !handles.ptr[number].is_open || handles.ptr[number].kind != wanted) {
    syrch_panic("a handle is used that was dropped or never made");
  }
  return &handles.ptr[number];
}

static void dropped(int32_t number, kind wanted) { used(number, wanted)->is_open = false; }

// run, wait

void syrch_run_current_policy(syrch_policy_t *ret) { *ret = syrch_fake.policy; }
void syrch_run_remaining(syrch_budget_t *ret) { *ret = syrch_fake.budget; }
uint64_t syrch_run_seed(void) { return syrch_fake.seed; }

void syrch_fake_setting(const char *name, const char *json) { syrch_push(&settings, (named){syrch_text(name), syrch_text(json)}); }

bool syrch_run_setting(syrch_string_t *name, syrch_string_t *ret) {
  for (size_t i = 0; i < settings.len; i++) {
    if (!syrch_equal(settings.ptr[i].name, *name)) continue;
    *ret = settings.ptr[i].json;
    return true;
  }
  return false;
}

// Fake calls have always ended, so that all tickets are ready.
void syrch_wait_any(syrch_list_u32_t *tickets, syrch_list_u32_t *ret) { *ret = *tickets; }
void syrch_wait_pause(uint32_t milliseconds) { syrch_fake.paused += milliseconds; }

// llm

void syrch_fake_reply(const char *text, const char *parsed) {
  syrch_reply_t reply = {.text = syrch_text(text), .usage = {.input_tokens = 100, .output_tokens = 10, .model = syrch_text("fake")}};
  if (parsed != NULL) reply.parsed = syrch_some(syrch_text(parsed));
  syrch_push(&replies, (syrch_reply_result_t){.is_err = false, .val = {.ok = reply}});
}

void syrch_fake_sql(const char *sql, double confidence) {
  syrch_writer to = {0};
  syrch_write_object(&to);
  syrch_write_key(&to, "sql");
  syrch_write_string(&to, syrch_text(sql));
  syrch_write_key(&to, "confidence");
  if (confidence < 0) {
    syrch_write_null(&to);
  } else {
    syrch_write_number(&to, confidence);
  }
  syrch_write_end(&to);
  syrch_fake_reply(sql, syrch_c_string(syrch_written(&to)));
}

static syrch_llm_error_t llm_error(uint8_t tag, const char *why) { return (syrch_llm_error_t){.tag = tag, .val = {.other = syrch_text(why)}}; }

void syrch_fake_llm_error(uint8_t tag, const char *why) {
  syrch_push(&replies, (syrch_reply_result_t){.is_err = true, .val = {.err = llm_error(tag, why)}});
}

static syrch_reply_result_t replied(const syrch_request_t *request) {
  syrch_push(&syrch_fake.requests, *request);
  if (next_reply < replies.len) return replies.ptr[next_reply++];
  return (syrch_reply_result_t){.is_err = true, .val = {.err = llm_error(SYRCH_LLM_ERROR_REFUSED, "no reply is scripted for this call")}};
}

void syrch_llm_models(syrch_list_string_t *ret) { *ret = (syrch_list_string_t){0}; }

bool syrch_llm_complete(syrch_request_t *request, syrch_reply_t *ret, syrch_llm_error_t *err) {
  syrch_reply_result_t reply = replied(request);
  if (reply.is_err) {
    *err = reply.val.err;
  } else {
    *ret = reply.val.ok;
  }
  return !reply.is_err;
}

void syrch_llm_complete_all(syrch_list_request_t *requests, syrch_list_reply_result_t *ret) {
  *ret = (syrch_list_reply_result_t){0};
  for (size_t i = 0; i < requests->len; i++) syrch_push(ret, replied(&requests->ptr[i]));
}

syrch_own_pending_t syrch_llm_start(syrch_request_t *request) { return (syrch_own_pending_t){opened((handle){.kind = REPLY, .reply = replied(request)})}; }
syrch_borrow_pending_t syrch_llm_borrow_pending(syrch_own_pending_t own) { return (syrch_borrow_pending_t){own.__handle}; }
void syrch_llm_pending_drop_own(syrch_own_pending_t own) { dropped(own.__handle, REPLY); }

uint32_t syrch_llm_method_pending_ticket(syrch_borrow_pending_t self) {
  used(self.__handle, REPLY);
  return (uint32_t)self.__handle;
}

void syrch_llm_method_pending_cancel(syrch_borrow_pending_t self) {
  used(self.__handle, REPLY)->reply = (syrch_reply_result_t){.is_err = true, .val = {.err = llm_error(SYRCH_LLM_ERROR_CANCELLED, "")}};
}

bool syrch_llm_method_pending_get(syrch_borrow_pending_t self, syrch_reply_result_t *ret) {
  *ret = used(self.__handle, REPLY)->reply;
  return true;
}

// inspect, sql, rows

void syrch_fake_answer(const char *sql, syrch_page_t rows) { syrch_push(&answers, (answer){.sql = syrch_text(sql), .passes = true, .runs = true, .rows = rows}); }

syrch_page_t syrch_fake_column(const char *name, size_t count, const syrch_value_t *cells) {
  syrch_page_t page = {0};
  syrch_push(&page.columns, syrch_text(name));
  syrch_resize(&page.rows, count);
  for (size_t i = 0; i < count; i++) syrch_push(&page.rows.ptr[i], cells[i]);
  return page;
}

static syrch_sql_error_t sql_error(syrch_sql_error_kind_t kind, const char *message) { return (syrch_sql_error_t){.kind = kind, .message = syrch_text(message)}; }

void syrch_fake_fail_check(const char *sql, syrch_sql_error_kind_t kind, const char *message) {
  syrch_push(&answers, (answer){.sql = syrch_text(sql), .error = sql_error(kind, message)});
}

void syrch_fake_fail_run(const char *sql, syrch_sql_error_kind_t kind, const char *message) {
  syrch_push(&answers, (answer){.sql = syrch_text(sql), .passes = true, .error = sql_error(kind, message)});
}

static answer answer_of(syrch_string_t sql) {
  for (size_t i = answers.len; i > 0; i--) {
    if (syrch_equal(answers.ptr[i - 1].sql, sql)) return answers.ptr[i - 1];
  }
  return (answer){.error = sql_error(SYRCH_SQL_ERROR_KIND_SYNTAX, "nothing is scripted for this statement")};
}

bool syrch_inspect_check(syrch_string_t *text, syrch_facts_t *ret, syrch_sql_error_t *err) {
  answer found = answer_of(*text);
  *ret = (syrch_facts_t){.normalized = *text, .skeleton = *text};
  *err = found.error;
  return found.passes;
}

bool syrch_inspect_explain(syrch_string_t *text, syrch_plan_t *ret, syrch_sql_error_t *err) {
  answer found = answer_of(*text);
  *ret = (syrch_plan_t){.format = syrch_text("fake"), .text = syrch_text("SCAN")};
  *err = found.error;
  return found.passes;
}

bool syrch_inspect_column_stats_of(syrch_string_t *table, syrch_list_string_t *columns, syrch_list_column_stats_t *ret, syrch_port_error_t *err) {
  (void)table, (void)columns, (void)ret;
  *err = (syrch_port_error_t){.tag = SYRCH_PORT_ERROR_UNSUPPORTED};
  return false;
}

bool syrch_inspect_compile_metric(syrch_string_t *request, syrch_compiled_t *ret, syrch_port_error_t *err) {
  (void)request, (void)ret;
  *err = (syrch_port_error_t){.tag = SYRCH_PORT_ERROR_UNSUPPORTED};
  return false;
}

syrch_results_t syrch_fake_results(syrch_page_t rows) { return (syrch_results_t){opened((handle){.kind = RESULTS, .rows = rows})}; }

static syrch_run_result_t ran(syrch_string_t sql) {
  answer found = answer_of(sql);
  syrch_push(&syrch_fake.statements, sql);
  syrch_run_result_t ended = {.is_err = !found.runs};
  if (found.runs) {
    ended.val.ok = syrch_fake_results(found.rows);
  } else {
    ended.val.err = found.error;
  }
  return ended;
}

bool syrch_sql_run(syrch_string_t *text, syrch_own_result_set_t *ret, syrch_sql_error_t *err) {
  syrch_run_result_t ended = ran(*text);
  if (ended.is_err) {
    *err = ended.val.err;
  } else {
    *ret = ended.val.ok;
  }
  return !ended.is_err;
}

void syrch_sql_run_all(syrch_list_string_t *texts, syrch_list_run_result_t *ret) {
  *ret = (syrch_list_run_result_t){0};
  for (size_t i = 0; i < texts->len; i++) syrch_push(ret, ran(texts->ptr[i]));
}

syrch_own_running_t syrch_sql_start(syrch_string_t *text) { return (syrch_own_running_t){opened((handle){.kind = STATEMENT, .ended = ran(*text)})}; }
syrch_borrow_running_t syrch_sql_borrow_running(syrch_own_running_t own) { return (syrch_borrow_running_t){own.__handle}; }
syrch_borrow_result_set_t syrch_sql_borrow_result_set(syrch_own_result_set_t own) { return (syrch_borrow_result_set_t){own.__handle}; }
void syrch_sql_running_drop_own(syrch_own_running_t own) { dropped(own.__handle, STATEMENT); }
void syrch_sql_result_set_drop_own(syrch_own_result_set_t own) { dropped(own.__handle, RESULTS); }

uint32_t syrch_sql_method_running_ticket(syrch_borrow_running_t self) {
  used(self.__handle, STATEMENT);
  return (uint32_t)self.__handle;
}

void syrch_sql_method_running_cancel(syrch_borrow_running_t self) { used(self.__handle, STATEMENT); }

bool syrch_sql_method_running_take(syrch_borrow_running_t self, syrch_run_result_t *ret) {
  handle *from = used(self.__handle, STATEMENT);
  if (from->is_taken) return false;
  from->is_taken = true;
  *ret = from->ended;
  return true;
}

void syrch_sql_method_result_set_profile(syrch_borrow_result_set_t self, syrch_profile_t *ret) {
  syrch_page_t rows = used(self.__handle, RESULTS)->rows;
  *ret = (syrch_profile_t){.rows = rows.rows.len, .truncated = rows.clipped};
  for (size_t i = 0; i < rows.columns.len; i++) {
    syrch_column_profile_t column = {.column = {.name = rows.columns.ptr[i], .nullable = true}};
    for (size_t at = 0; at < rows.rows.len; at++) {
      bool is_null = i >= rows.rows.ptr[at].len || rows.rows.ptr[at].ptr[i].tag == SYRCH_VALUE_NULL;
      column.nulls += is_null;
    }
    syrch_push(&ret->columns, column);
  }
}

static int by_bytes(const void *a, const void *b) { return syrch_compare(*(const syrch_string_t *)a, *(const syrch_string_t *)b); }

bool syrch_sql_method_result_set_fingerprint(syrch_borrow_result_set_t self, syrch_equality_t *under, syrch_string_t *ret) {
  syrch_page_t rows = used(self.__handle, RESULTS)->rows;
  if (under->tag == SYRCH_EQUALITY_OTHER) return false;
  syrch_list_string_t lines = {0};
  for (size_t i = 0; i < rows.rows.len; i++) {
    syrch_page_t row = {0};
    syrch_push(&row.rows, rows.rows.ptr[i]);
    syrch_push(&lines, syrch_prompt_rows(&row));
  }
  if (under->tag != SYRCH_EQUALITY_ORDERED && lines.len > 0) qsort(lines.ptr, lines.len, sizeof *lines.ptr, by_bytes);
  syrch_list_string_t counted = {0};
  for (size_t i = 0; i < lines.len; i++) {
    bool is_again = under->tag == SYRCH_EQUALITY_SET && i > 0 && syrch_equal(lines.ptr[i], lines.ptr[i - 1]);
    if (!is_again) syrch_push(&counted, lines.ptr[i]);
  }
  *ret = syrch_join(counted.ptr, counted.len, "");
  return true;
}

static bool is_granted(syrch_port_error_t *err) {
  *err = (syrch_port_error_t){.tag = SYRCH_PORT_ERROR_DENIED, .val = {.denied = syrch_text("rows are not granted")}};
  return syrch_fake.granted_rows.is_some;
}

bool syrch_rows_read(syrch_borrow_result_set_t results, uint64_t offset, uint32_t limit, syrch_page_t *ret, syrch_port_error_t *err) {
  syrch_page_t all = used(results.__handle, RESULTS)->rows;
  if (!is_granted(err)) return false;
  *ret = (syrch_page_t){.columns = all.columns};
  for (uint64_t i = offset; i < all.rows.len && i - offset < limit; i++) {
    if (i < syrch_fake.granted_rows.val) {
      syrch_push(&ret->rows, all.rows.ptr[i]);
    } else {
      ret->clipped = true;
    }
  }
  return true;
}

// cells, retrieval

void syrch_fake_hits(syrch_list_hit_t found) { syrch_push(&hits, found); }

static syrch_list_hit_t found(void) { return next_hits < hits.len ? hits.ptr[next_hits++] : (syrch_list_hit_t){0}; }

bool syrch_cells_samples(syrch_string_t *table, syrch_list_string_t *columns, uint32_t limit, syrch_list_sample_t *ret, syrch_port_error_t *err) {
  (void)table, (void)limit;
  if (!is_granted(err)) return false;
  *ret = (syrch_list_sample_t){0};
  for (size_t i = 0; i < columns->len; i++) syrch_push(ret, (syrch_sample_t){.column = columns->ptr[i]});
  return true;
}

bool syrch_cells_find(syrch_list_string_t *phrases, syrch_match_t *how, uint32_t limit, syrch_list_list_hit_t *ret, syrch_port_error_t *err) {
  (void)how, (void)limit;
  if (!is_granted(err)) return false;
  *ret = (syrch_list_list_hit_t){0};
  for (size_t i = 0; i < phrases->len; i++) syrch_push(ret, found());
  return true;
}

bool syrch_retrieval_find(syrch_retrieval_query_t *query, syrch_list_hit_t *ret, syrch_port_error_t *err) {
  (void)query, (void)err;
  *ret = found();
  return true;
}

void syrch_retrieval_find_all(syrch_list_retrieval_query_t *queries, syrch_list_hits_result_t *ret) {
  *ret = (syrch_list_hits_result_t){0};
  for (size_t i = 0; i < queries->len; i++) syrch_push(ret, (syrch_hits_result_t){.val = {.ok = found()}});
}

bool syrch_retrieval_embed(syrch_list_string_t *texts, syrch_list_list_f32_t *ret, syrch_port_error_t *err) {
  (void)texts, (void)ret;
  *err = (syrch_port_error_t){.tag = SYRCH_PORT_ERROR_UNSUPPORTED};
  return false;
}

// evaluate

void syrch_fake_verdict(const char *sql, syrch_verdict_t verdict) { syrch_push(&judgements, (judgement){syrch_text(sql), verdict}); }

bool syrch_evaluate_calibrate(syrch_list_claim_t *claims, syrch_list_f64_t *ret, syrch_port_error_t *err) {
  (void)err;
  *ret = (syrch_list_f64_t){0};
  for (size_t i = 0; i < claims->len; i++) syrch_push(ret, claims->ptr[i].f0);
  return true;
}

bool syrch_evaluate_reward(syrch_list_candidate_t *candidates, syrch_list_verdict_t *ret, syrch_port_error_t *err) {
  (void)err;
  *ret = (syrch_list_verdict_t){0};
  for (size_t i = 0; i < candidates->len; i++) {
    syrch_verdict_t verdict = syrch_unavailable(syrch_text("nothing is scripted"));
    for (size_t at = 0; at < judgements.len; at++) {
      if (syrch_equal(judgements.ptr[at].sql, candidates->ptr[i].sql)) verdict = judgements.ptr[at].verdict;
    }
    syrch_push(ret, verdict);
  }
  return true;
}

syrch_own_judging_t syrch_evaluate_start_reward(syrch_list_candidate_t *candidates) {
  handle made = {.kind = VERDICTS};
  syrch_port_error_t error;
  syrch_evaluate_reward(candidates, &made.verdicts, &error);
  return (syrch_own_judging_t){opened(made)};
}

syrch_borrow_judging_t syrch_evaluate_borrow_judging(syrch_own_judging_t own) { return (syrch_borrow_judging_t){own.__handle}; }
void syrch_evaluate_judging_drop_own(syrch_own_judging_t own) { dropped(own.__handle, VERDICTS); }
void syrch_evaluate_method_judging_cancel(syrch_borrow_judging_t self) { used(self.__handle, VERDICTS); }

uint32_t syrch_evaluate_method_judging_ticket(syrch_borrow_judging_t self) {
  used(self.__handle, VERDICTS);
  return (uint32_t)self.__handle;
}

bool syrch_evaluate_method_judging_get(syrch_borrow_judging_t self, syrch_verdicts_result_t *ret) {
  *ret = (syrch_verdicts_result_t){.val = {.ok = used(self.__handle, VERDICTS)->verdicts}};
  return true;
}

// trace

static void record(syrch_string_t line) { syrch_push(&syrch_fake.log, line); }

void syrch_trace_note(syrch_level_t level, syrch_string_t *message) {
  static const char *const names[] = {"debug: ", "info: ", "warn: "};
  record(syrch_concat(syrch_text(names[level % 3]), *message));
}

void syrch_trace_propose(syrch_candidate_t *candidate) { record(syrch_concat(syrch_text("propose "), candidate->id, syrch_text(": "), candidate->sql)); }
void syrch_trace_keep(syrch_string_t *candidate, syrch_string_t *reason) { record(syrch_concat(syrch_text("keep "), *candidate, syrch_text(": "), *reason)); }

void syrch_trace_discard(syrch_string_t *candidate, syrch_string_t *reason) {
  record(syrch_concat(syrch_text("discard "), *candidate, syrch_text(": "), *reason));
}

void syrch_trace_event(syrch_string_t *maybe_candidate, syrch_string_t *name, syrch_string_t *data) {
  syrch_string_t of = maybe_candidate == NULL ? syrch_text("-") : *maybe_candidate;
  record(syrch_concat(syrch_text("event "), of, syrch_text(" "), *name, syrch_text(": "), *data));
}

// rewriters

bool syrch_fake_rewrites(bool (*rewrite)(const syrch_rewrite_t *in, syrch_option_proposal_t *out), const char *original, const syrch_catalog_t *catalog,
                         size_t count, const syrch_trial_t *trials, syrch_list_proposal_t *proposals) {
  *proposals = (syrch_list_proposal_t){0};
  syrch_rewrite_t in = {.original = syrch_text(original), .best = syrch_text(original), .catalog = catalog};
  for (size_t i = 0; i < count; i++) {
    syrch_plan_t plan = {0};
    syrch_sql_error_t error;
    if (!syrch_explain(in.best, &plan, &error)) plan = (syrch_plan_t){.format = syrch_text("text")};
    in.plan = &plan;
    syrch_option_proposal_t made = {0};
    if (!rewrite(&in, &made)) return false;
    if (!made.is_some) return true;
    if (trials[i].tag == SYRCH_TRIAL_ACCEPTED) in.best = made.val.sql;
    syrch_push(&in.history, (syrch_attempt_t){.sql = made.val.sql, .family = made.val.family, .trial = trials[i]});
    syrch_push(proposals, made.val);
  }
  return true;
}

#endif
