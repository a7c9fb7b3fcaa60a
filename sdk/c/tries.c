// A statement and its repairs, and several such tries at a task, in rounds.

#include "syrch.h"

syrch_chain_t syrch_chain(uint32_t max_attempts) { return (syrch_chain_t){.signals = {.max_attempts = max_attempts}}; }

size_t syrch_chain_statements(const syrch_chain_t *chain) {
  size_t count = 0;
  for (size_t i = 0; i < chain->tried.len; i++) count += chain->tried.ptr[i].sql.len > 0;
  return count;
}

const char *syrch_chain_origin(const syrch_chain_t *chain) { return syrch_chain_statements(chain) > 0 ? "repair" : "generate"; }

void syrch_chain_fail(syrch_chain_t *chain, syrch_string_t sql, syrch_string_t wrong) { syrch_push(&chain->tried, (syrch_tried_t){sql, wrong}); }

void syrch_chain_fail_without_statement(syrch_chain_t *chain, syrch_string_t wrong) {
  chain->signals.syntax_errors++;
  syrch_chain_fail(chain, syrch_text(""), wrong);
}

syrch_candidate_t syrch_chain_candidate(syrch_chain_t *chain, syrch_string_t id, const char *origin, const syrch_statement_t *statement,
                                        const syrch_signals_t *own) {
  chain->signals.syntax_errors += own->syntax_errors;
  chain->signals.schema_errors += own->schema_errors;
  chain->signals.execution_errors += own->execution_errors;
  syrch_signals_t signals = chain->signals;
  signals.empty_result = own->empty_result;
  signals.null_columns = own->null_columns;
  signals.overflow = own->overflow;
  syrch_candidate_t candidate = syrch_statement_candidate(statement, id, origin, signals);
  if (chain->last_id.is_some) syrch_push(&candidate.parents, chain->last_id.val);
  chain->last_id = syrch_some(id);
  return candidate;
}

typedef struct replies {
  syrch_try_reply_t *ptr;
  size_t len;
} replies;

// Fills `again` with the places among the replies whose requests are to be made again. The prompts are adapted once to each kind of error.
static syrch_list_u32_t adapted(const syrch_list_reply_result_t *results, const syrch_tries_t *tries) {
  syrch_list_u32_t again = {0};
  for (size_t i = 0; i < results->len && again.len == 0 && tries->adapt != NULL; i++) {
    if (!results->ptr[i].is_err) continue;
    const syrch_llm_error_t *error = &results->ptr[i].val.err;
    bool is_first = true;
    for (size_t at = 0; at < i; at++) is_first &= !results->ptr[at].is_err || results->ptr[at].val.err.tag != error->tag;
    if (!is_first || !tries->adapt(tries->self, error)) continue;
    for (size_t at = i; at < results->len; at++) {
      if (results->ptr[at].is_err && results->ptr[at].val.err.tag == error->tag) syrch_push(&again, (uint32_t)at);
    }
  }
  return again;
}

// Asks for a statement of each open try.
static void ask(replies *open, syrch_chain_t *chains, const syrch_tries_t *tries) {
  syrch_list_reply_result_t results = {0};
  syrch_list_u32_t again = {0};
  syrch_resize(&results, open->len);
  for (size_t i = 0; i < open->len; i++) syrch_push(&again, (uint32_t)i);
  while (again.len > 0) {
    syrch_list_request_t requests = {0};
    for (size_t i = 0; i < again.len; i++) {
      size_t place = open->ptr[again.ptr[i]].place;
      syrch_push(&requests, tries->request(tries->self, place, &chains[place]));
    }
    syrch_list_reply_result_t made = syrch_complete_all(requests);
    for (size_t i = 0; i < again.len && i < made.len; i++) results.ptr[again.ptr[i]] = made.ptr[i];
    again = adapted(&results, tries);
  }
  for (size_t i = 0; i < open->len; i++) {
    open->ptr[i].written = syrch_statement_of(&results.ptr[i]);
    open->ptr[i].goes_on = open->ptr[i].written.how == SYRCH_WROTE_STATEMENT;
  }
}

void syrch_run_tries(const syrch_task_t *task, size_t number, uint32_t attempts, uint64_t overflow_rows, const syrch_tries_t *tries) {
  syrch_chain_t *chains = syrch_alloc_array(number, sizeof *chains);
  for (size_t place = 0; place < number; place++) chains[place] = syrch_chain(attempts);
  syrch_trials_t trials = {.overflow_rows = overflow_rows};
  uint32_t proposed = 0;
  for (;;) {
    replies open = {0};
    for (size_t place = 0; place < number; place++) {
      if (tries->is_open(tries->self, place, &chains[place])) syrch_push(&open, (syrch_try_reply_t){.place = place});
    }
    if (open.len == 0) return;
    ask(&open, chains, tries);
    tries->read(tries->self, open.ptr, open.len, chains);
    syrch_list_string_t texts = {0};
    for (size_t i = 0; i < open.len; i++) {
      if (open.ptr[i].goes_on) syrch_push(&texts, open.ptr[i].written.sql);
    }
    // What stopped the database is in the trials, too.
    syrch_try(&trials, texts.ptr, texts.len);
    for (size_t i = 0; i < open.len; i++) {
      const syrch_try_reply_t *reply = &open.ptr[i];
      const syrch_trial_run_t *trial = reply->goes_on ? syrch_tried_as(&trials, reply->written.sql) : NULL;
      if (trial == NULL) continue;
      syrch_chain_t *chain = &chains[reply->place];
      proposed++;
      chain->signals.attempts++;
      const char *origin = tries->origin == NULL ? syrch_chain_origin(chain) : tries->origin(tries->self, reply->place, chain);
      syrch_candidate_t candidate = syrch_chain_candidate(chain, syrch_candidate_id(task->id, proposed), origin, &reply->written, &trial->signals);
      syrch_propose(&candidate);
      if (trial->ran == NULL) {
        syrch_discard(candidate.id, trial->wrong);
        syrch_chain_fail(chain, candidate.sql, trial->wrong);
      }
      tries->settled(tries->self, reply->place, &candidate, trial, chain);
    }
    if (tries->finish_round != NULL) tries->finish_round(tries->self, chains);
  }
}
