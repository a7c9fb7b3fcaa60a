// The ports of the host. Which of them a role may use, its world says (wit/worlds.wit); a component that uses others is refused. Handles are
// dropped at the end of the call, or before by a function `…_drop`. syrch.h includes this.
#ifndef SYRCH_PORTS_H
#define SYRCH_PORTS_H

typedef syrch_own_result_set_t syrch_results_t;
typedef syrch_own_pending_t syrch_pending_t;
typedef syrch_own_running_t syrch_running_t;
typedef syrch_own_judging_t syrch_judging_t;

// Has a handle dropped at the end of the call, unless it is disowned before.
void syrch_own(int32_t handle, void (*drop)(int32_t));
void syrch_disown(int32_t handle, void (*drop)(int32_t));
void syrch_drop_all(void);

// run: what the user asked for, and what is left of the budget.
static inline syrch_policy_t syrch_policy(void) {
  syrch_policy_t policy;
  syrch_run_current_policy(&policy);
  return policy;
}
// A further setting of the user's as JSON; false if the user did not give it.
static inline bool syrch_setting(const char *name, syrch_string_t *json) {
  syrch_string_t text = syrch_text(name);
  return syrch_run_setting(&text, json);
}
static inline syrch_budget_t syrch_remaining(void) {
  syrch_budget_t budget;
  syrch_run_remaining(&budget);
  return budget;
}
// A number derived from the run's seed: the source for shuffles and samples.
static inline uint64_t syrch_seed(void) { return syrch_run_seed(); }

// wait: those of the tickets that are ready, at least one of them.
static inline syrch_list_u32_t syrch_wait(syrch_list_u32_t tickets) {
  syrch_list_u32_t ready;
  syrch_wait_any(&tickets, &ready);
  return ready;
}
// Waits that many milliseconds: a minute at most, and five minutes in one call of the role.
static inline void syrch_pause(uint32_t milliseconds) { syrch_wait_pause(milliseconds); }

// llm
static inline syrch_list_string_t syrch_models(void) {
  syrch_list_string_t names;
  syrch_llm_models(&names);
  return names;
}
static inline bool syrch_complete(const syrch_request_t *request, syrch_reply_t *reply, syrch_llm_error_t *error) {
  syrch_request_t sent = *request;
  return syrch_llm_complete(&sent, reply, error);
}
// The replies in the order of the requests.
static inline syrch_list_reply_result_t syrch_complete_all(syrch_list_request_t requests) {
  syrch_list_reply_result_t replies;
  syrch_llm_complete_all(&requests, &replies);
  return replies;
}
static inline void syrch_pending_drop_(int32_t handle) { syrch_llm_pending_drop_own((syrch_pending_t){handle}); }
// Sends a request without waiting.
static inline syrch_pending_t syrch_start_reply(const syrch_request_t *request) {
  syrch_request_t sent = *request;
  syrch_pending_t pending = syrch_llm_start(&sent);
  syrch_own(pending.__handle, syrch_pending_drop_);
  return pending;
}
static inline uint32_t syrch_pending_ticket(syrch_pending_t pending) { return syrch_llm_method_pending_ticket(syrch_llm_borrow_pending(pending)); }
static inline void syrch_pending_cancel(syrch_pending_t pending) { syrch_llm_method_pending_cancel(syrch_llm_borrow_pending(pending)); }
// False while the call is in flight.
static inline bool syrch_pending_get(syrch_pending_t pending, syrch_reply_result_t *reply) {
  return syrch_llm_method_pending_get(syrch_llm_borrow_pending(pending), reply);
}
static inline void syrch_pending_drop(syrch_pending_t pending) {
  syrch_disown(pending.__handle, syrch_pending_drop_);
  syrch_pending_drop_(pending.__handle);
}

// inspect
static inline bool syrch_check(syrch_string_t sql, syrch_facts_t *facts, syrch_sql_error_t *error) { return syrch_inspect_check(&sql, facts, error); }
static inline bool syrch_explain(syrch_string_t sql, syrch_plan_t *plan, syrch_sql_error_t *error) { return syrch_inspect_explain(&sql, plan, error); }
static inline bool syrch_column_stats(syrch_string_t table, syrch_list_string_t columns, syrch_list_column_stats_t *stats, syrch_port_error_t *error) {
  return syrch_inspect_column_stats_of(&table, &columns, stats, error);
}
// The statement of a request for metrics, which is JSON.
static inline bool syrch_compile_metric(syrch_string_t request, syrch_compiled_t *compiled, syrch_port_error_t *error) {
  return syrch_inspect_compile_metric(&request, compiled, error);
}

// sql
static inline void syrch_results_drop_(int32_t handle) { syrch_sql_result_set_drop_own((syrch_results_t){handle}); }
static inline bool syrch_run(syrch_string_t sql, syrch_results_t *results, syrch_sql_error_t *error) {
  bool ran = syrch_sql_run(&sql, results, error);
  if (ran) syrch_own(results->__handle, syrch_results_drop_);
  return ran;
}
// The results in the order of the statements.
static inline syrch_list_run_result_t syrch_run_all(syrch_list_string_t statements) {
  syrch_list_run_result_t results;
  syrch_sql_run_all(&statements, &results);
  for (size_t i = 0; i < results.len; i++) {
    if (!results.ptr[i].is_err) syrch_own(results.ptr[i].val.ok.__handle, syrch_results_drop_);
  }
  return results;
}
// The shape of a result.
static inline syrch_profile_t syrch_profile(syrch_results_t results) {
  syrch_profile_t profile;
  syrch_sql_method_result_set_profile(syrch_sql_borrow_result_set(results), &profile);
  return profile;
}
// A text that is equal for equal results: `syrch_fingerprint(results, SYRCH_EQUALITY_BAG, &text)`.
static inline bool syrch_fingerprint(syrch_results_t results, uint8_t equality, syrch_string_t *text) {
  syrch_equality_t under = {.tag = equality};
  return syrch_sql_method_result_set_fingerprint(syrch_sql_borrow_result_set(results), &under, text);
}
static inline void syrch_results_drop(syrch_results_t results) {
  syrch_disown(results.__handle, syrch_results_drop_);
  syrch_results_drop_(results.__handle);
}
static inline void syrch_running_drop_(int32_t handle) { syrch_sql_running_drop_own((syrch_running_t){handle}); }
// Starts a statement without waiting.
static inline syrch_running_t syrch_start_statement(syrch_string_t sql) {
  syrch_running_t running = syrch_sql_start(&sql);
  syrch_own(running.__handle, syrch_running_drop_);
  return running;
}
static inline uint32_t syrch_running_ticket(syrch_running_t running) { return syrch_sql_method_running_ticket(syrch_sql_borrow_running(running)); }
static inline void syrch_running_cancel(syrch_running_t running) { syrch_sql_method_running_cancel(syrch_sql_borrow_running(running)); }
// Takes the result, once. False while the statement is in flight.
static inline bool syrch_running_take(syrch_running_t running, syrch_run_result_t *result) {
  bool is_there = syrch_sql_method_running_take(syrch_sql_borrow_running(running), result);
  if (is_there && !result->is_err) syrch_own(result->val.ok.__handle, syrch_results_drop_);
  return is_there;
}
static inline void syrch_running_drop(syrch_running_t running) {
  syrch_disown(running.__handle, syrch_running_drop_);
  syrch_running_drop_(running.__handle);
}

// rows: cells of a result, as far as the user grants them. Treat `denied` as normal.
static inline bool syrch_read(syrch_results_t results, uint64_t offset, uint32_t limit, syrch_page_t *page, syrch_port_error_t *error) {
  return syrch_rows_read(syrch_sql_borrow_result_set(results), offset, limit, page, error);
}

// cells: `syrch_find_cells(phrases, SYRCH_MATCH_NGRAM, 3, &hits, &error)`
static inline bool syrch_samples(syrch_string_t table, syrch_list_string_t columns, uint32_t limit, syrch_list_sample_t *samples, syrch_port_error_t *error) {
  return syrch_cells_samples(&table, &columns, limit, samples, error);
}
static inline bool syrch_find_cells(syrch_list_string_t phrases, uint8_t match, uint32_t limit, syrch_list_list_hit_t *hits, syrch_port_error_t *error) {
  syrch_match_t how = {.tag = match};
  return syrch_cells_find(&phrases, &how, limit, hits, error);
}

// retrieval
static inline bool syrch_retrieve(const syrch_retrieval_query_t *query, syrch_list_hit_t *hits, syrch_port_error_t *error) {
  syrch_retrieval_query_t sent = *query;
  return syrch_retrieval_find(&sent, hits, error);
}
static inline syrch_list_hits_result_t syrch_retrieve_all(syrch_list_retrieval_query_t queries) {
  syrch_list_hits_result_t hits;
  syrch_retrieval_find_all(&queries, &hits);
  return hits;
}
static inline bool syrch_embed(syrch_list_string_t texts, syrch_list_list_f32_t *vectors, syrch_port_error_t *error) {
  return syrch_retrieval_embed(&texts, vectors, error);
}

// evaluate
static inline bool syrch_calibrated(syrch_list_claim_t claims, syrch_list_f64_t *confidences, syrch_port_error_t *error) {
  return syrch_evaluate_calibrate(&claims, confidences, error);
}
static inline bool syrch_judged(syrch_list_candidate_t candidates, syrch_list_verdict_t *verdicts, syrch_port_error_t *error) {
  return syrch_evaluate_reward(&candidates, verdicts, error);
}
static inline void syrch_judging_drop_(int32_t handle) { syrch_evaluate_judging_drop_own((syrch_judging_t){handle}); }
static inline syrch_judging_t syrch_start_judging(syrch_list_candidate_t candidates) {
  syrch_judging_t judging = syrch_evaluate_start_reward(&candidates);
  syrch_own(judging.__handle, syrch_judging_drop_);
  return judging;
}
static inline uint32_t syrch_judging_ticket(syrch_judging_t judging) { return syrch_evaluate_method_judging_ticket(syrch_evaluate_borrow_judging(judging)); }
static inline void syrch_judging_cancel(syrch_judging_t judging) { syrch_evaluate_method_judging_cancel(syrch_evaluate_borrow_judging(judging)); }
static inline bool syrch_judging_get(syrch_judging_t judging, syrch_verdicts_result_t *verdicts) {
  return syrch_evaluate_method_judging_get(syrch_evaluate_borrow_judging(judging), verdicts);
}
static inline void syrch_judging_drop(syrch_judging_t judging) {
  syrch_disown(judging.__handle, syrch_judging_drop_);
  syrch_judging_drop_(judging.__handle);
}

// trace: what people see of the search. `syrch_note(SYRCH_LEVEL_WARN, text)`
static inline void syrch_note(syrch_level_t level, syrch_string_t message) { syrch_trace_note(level, &message); }
// A candidate exists. Call it before the functions below name the candidate.
static inline void syrch_propose(const syrch_candidate_t *candidate) {
  syrch_candidate_t sent = *candidate;
  syrch_trace_propose(&sent);
}
static inline void syrch_keep(syrch_string_t candidate, syrch_string_t reason) { syrch_trace_keep(&candidate, &reason); }
static inline void syrch_discard(syrch_string_t candidate, syrch_string_t reason) { syrch_trace_discard(&candidate, &reason); }
// A step of the strategy's own; `candidate` may be NULL.
static inline void syrch_event(const syrch_string_t *candidate, const char *name, syrch_string_t json) {
  syrch_string_t id, text = syrch_text(name);
  if (candidate != NULL) id = *candidate;
  syrch_trace_event(candidate == NULL ? NULL : &id, &text, &json);
}

#endif
