// The role solver.

#include <inttypes.h>

#include "plugin.h"

syrch_request_t generate_request(const syrch_problem_t *problem, uint32_t sample) {
  syrch_request_t request = {
      .purpose = {.tag = SYRCH_PURPOSE_GENERATE},
      .expect = {.tag = SYRCH_SHAPE_SQL},
      .sample = sample,
  };
  syrch_push(&request.messages, (syrch_message_t){.speaker = SYRCH_SPEAKER_USER, .text = problem->question});
  return request;
}

static syrch_candidate_t candidate(const char *id, syrch_string_t sql) {
  return (syrch_candidate_t){.id = syrch_text(id), .origin = syrch_text("conformance"), .sql = sql};
}

static void answer_parent(const syrch_parent_t *parent, syrch_list_candidate_t *out) {
  const syrch_output_t *output = &parent->output;
  syrch_candidate_t made = {0};
  switch (output->tag) {
    case SYRCH_OUTPUT_RELATION:
      made = output->val.relation.candidate;
      made.rationale = syrch_some(syrch_concat(output->val.relation.name, syrch_format(": %" PRIu64 " rows", syrch_profile(output->val.relation.results).rows)));
      break;
    case SYRCH_OUTPUT_HITS:
      made = candidate("", syrch_format("SELECT %zu", output->val.hits.len));
      made.id = syrch_format("hits-%zu", output->val.hits.len);
      break;
    case SYRCH_OUTPUT_FAILED:
      made = candidate("failed", syrch_text("SELECT 0"));
      made.rationale = syrch_some(output->val.failed.message);
      break;
    default: return;
  }
  if (made.origin.len == 0) made.origin = syrch_text("conformance");
  syrch_push(out, made);
}

static void echo(const syrch_solve_t *in, syrch_outcome_t *out) {
  for (size_t i = 0; i < in->parents.len; i++) answer_parent(&in->parents.ptr[i], &out->candidates);
  if (in->parents.len == 0) {
    syrch_candidate_t only = candidate("only", syrch_text("SELECT 1"));
    only.raw_confidence = syrch_some_f64(syrch_settings.share);
    syrch_push(&out->candidates, only);
  }
  if (syrch_settings.text.len > 0) {
    syrch_question_t ask = {.text = syrch_settings.text, .ambiguity = syrch_settings.share};
    syrch_push(&ask.choices, syrch_text("yes"));
    syrch_push(&ask.choices, syrch_text("no"));
    out->ask = (syrch_option_question_t){.is_some = true, .val = ask};
  }
  syrch_writer memo = {0};
  syrch_write_object(&memo);
  syrch_write_key(&memo, "task");
  syrch_write_string(&memo, in->task->id);
  syrch_write_end(&memo);
  out->memo = syrch_some(syrch_written(&memo));
}

// Waits until all tickets are ready.
static void wait_for_all(syrch_list_u32_t tickets) {
  while (tickets.len > 0) {
    syrch_list_u32_t ready = syrch_wait(tickets), waiting = {0};
    for (size_t i = 0; i < tickets.len; i++) {
      bool is_ready = false;
      for (size_t at = 0; at < ready.len; at++) is_ready |= ready.ptr[at] == tickets.ptr[i];
      if (!is_ready) syrch_push(&waiting, tickets.ptr[i]);
    }
    tickets = waiting;
  }
}

// What a call gave, which has ended.
static syrch_reply_result_t ended(syrch_pending_t pending) {
  syrch_reply_result_t reply;
  if (!syrch_pending_get(pending, &reply)) reply = (syrch_reply_result_t){.is_err = true, .val = {.err = {.tag = SYRCH_LLM_ERROR_CANCELLED}}};
  syrch_pending_drop(pending);
  return reply;
}

typedef struct sample {
  syrch_candidate_t candidate;
  syrch_pending_t pending;
  syrch_running_t running;
  syrch_string_t print;
} sample;

typedef struct samples {
  sample *ptr;
  size_t len;
} samples;

static samples call_models(const syrch_problem_t *problem) {
  samples all = {0};
  syrch_list_u32_t tickets = {0};
  for (uint32_t number = 0; number < syrch_settings.size; number++) {
    syrch_request_t request = generate_request(problem, number);
    sample made = {.candidate = candidate("", syrch_text("")), .pending = syrch_start_reply(&request)};
    made.candidate.id = syrch_format("s%" PRIu32, number);
    syrch_push(&all, made);
    syrch_push(&tickets, syrch_pending_ticket(made.pending));
  }
  wait_for_all(tickets);
  return all;
}

// Starts the statements of the replies that have one, and waits for them.
static samples start_statements(samples all) {
  samples started = {0};
  syrch_list_u32_t tickets = {0};
  for (size_t i = 0; i < all.len; i++) {
    sample made = all.ptr[i];
    syrch_reply_result_t reply = ended(made.pending);
    syrch_sql_reply_t read;
    if (reply.is_err || !syrch_read_sql(&reply.val.ok, &read)) continue;
    made.candidate.sql = read.sql;
    made.candidate.raw_confidence = read.confidence;
    made.running = syrch_start_statement(read.sql);
    syrch_push(&started, made);
    syrch_push(&tickets, syrch_running_ticket(made.running));
  }
  wait_for_all(tickets);
  return started;
}

static bool solve_in_parallel(const syrch_solve_t *in, syrch_outcome_t *out) {
  samples started = start_statements(call_models(in->problem)), ran = {0};
  for (size_t i = 0; i < started.len; i++) {
    sample made = started.ptr[i];
    syrch_run_result_t result;
    bool is_there = syrch_running_take(made.running, &result) && !result.is_err;
    syrch_running_drop(made.running);
    if (!is_there) continue;
    if (!syrch_fingerprint(result.val.ok, SYRCH_EQUALITY_BAG, &made.print)) made.print = syrch_text("");
    syrch_results_drop(result.val.ok);
    syrch_push(&ran, made);
  }
  for (size_t i = 0; i < ran.len; i++) {
    syrch_candidate_t made = ran.ptr[i].candidate;
    made.signals.samples = (uint32_t)syrch_settings.size;
    for (size_t at = 0; at < ran.len; at++) made.signals.agreeing += syrch_equal(ran.ptr[at].print, ran.ptr[i].print);
    syrch_push(&out->candidates, made);
  }
  return true;
}

static bool solve_with_cancelling(const syrch_solve_t *in, syrch_outcome_t *out) {
  syrch_request_t requests[] = {generate_request(in->problem, 0), generate_request(in->problem, 1)};
  syrch_pending_t first = syrch_start_reply(&requests[0]), second = syrch_start_reply(&requests[1]);
  syrch_pending_cancel(second);
  syrch_list_u32_t tickets = {0};
  syrch_push(&tickets, syrch_pending_ticket(first));
  wait_for_all(tickets);
  syrch_reply_result_t reply = ended(first);
  syrch_sql_reply_t read;
  if (reply.is_err) return syrch_fail_with(syrch_llm_failure(&reply.val.err));
  if (!syrch_read_sql(&reply.val.ok, &read)) return syrch_fail(SYRCH_FAILURE_KIND_MODEL, "the reply held no statement");
  syrch_candidate_t only = candidate("only", read.sql);
  only.raw_confidence = read.confidence;
  syrch_push(&out->candidates, only);
  return true;
}

static bool solve(const syrch_solve_t *in, syrch_outcome_t *out) {
  if (has_habit("parallel")) return solve_in_parallel(in, out);
  if (has_habit("cancel")) return solve_with_cancelling(in, out);
  if (has_habit("ports")) {
    out->memo = syrch_some(call_ports(in));
    syrch_push(&out->candidates, candidate("only", in->task->text));
    return true;
  }
  echo(in, out);
  return true;
}

bool syrch_solve(const syrch_solve_t *in, syrch_outcome_t *out) {
  if (!returns() || !solve(in, out)) return false;
  for (size_t i = 0; i < out->candidates.len; i++) {
    syrch_candidate_t *made = &out->candidates.ptr[i];
    if (has_habit("large")) made->rationale = syrch_some(large_text());
    if (has_habit("wrong")) made->id = syrch_text("");
    syrch_propose(made);
  }
  return true;
}
