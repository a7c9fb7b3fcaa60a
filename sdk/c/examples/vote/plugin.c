// A solver that draws several statements and returns the result on which most of them agree.

#include <inttypes.h>

#include "syrch.h"

#define SETTINGS(X)                                              \
  X(integer, samples, 3, 1, 16, "How many statements are drawn.") \
  X(number, temperature, 0.7, 0, 2, "The temperature of the model.")
SYRCH_SETTINGS(SETTINGS)
SYRCH_PLUGIN("vote", "1.0.0", "returns the result on which most samples agree", SETTINGS)

// A draw that has a statement. `group`: the place of its group; `ran` is NULL if the statement failed.
typedef struct draw {
  syrch_candidate_t candidate;
  const syrch_ran_t *ran;
  syrch_string_t wrong;
  size_t group;
} draw;
typedef struct draws {
  draw *ptr;
  size_t len;
} draws;

// Draws with equal results. `first`: the place of the first drawn; `best`: the greatest confidence that was stated.
typedef struct group {
  size_t first;
  uint32_t votes;
  double best;
} group;
typedef struct groups {
  group *ptr;
  size_t len;
} groups;

// Sends all requests together. Returns the replies with a statement, and the reason of the first one without.
static draws draw_statements(const syrch_solve_t *in, syrch_string_t *wrong) {
  syrch_brief_t brief = syrch_brief(in, 48000, 3);
  syrch_list_request_t requests = {0};
  for (uint32_t number = 1; number <= syrch_settings.samples; number++) {
    syrch_push(&requests, syrch_draw_request(&brief, (syrch_list_tried_t){0}, number, syrch_some_f64(syrch_settings.temperature)));
  }
  syrch_list_reply_result_t replies = syrch_complete_all(requests);
  draws drawn = {0};
  for (size_t i = 0; i < replies.len; i++) {
    syrch_statement_t statement = syrch_statement_of(&replies.ptr[i]);
    if (statement.how == SYRCH_WROTE_STATEMENT) {
      syrch_candidate_t candidate = {.origin = syrch_text("generate"), .sql = statement.sql, .raw_confidence = statement.confidence};
      candidate.id = syrch_candidate_id(in->task->id, (uint32_t)i + 1);
      syrch_push(&drawn, (draw){.candidate = candidate});
    } else if (wrong->len == 0) {
      *wrong = statement.why;
    }
  }
  return drawn;
}

// Checks and runs the statements, each text once.
static bool run_statements(draws drawn) {
  syrch_trials_t trials = {.overflow_rows = 1000};
  syrch_list_string_t statements = {0};
  for (size_t i = 0; i < drawn.len; i++) syrch_push(&statements, drawn.ptr[i].candidate.sql);
  if (!syrch_try(&trials, statements.ptr, statements.len)) return false;
  for (size_t i = 0; i < drawn.len; i++) {
    const syrch_trial_run_t *trial = syrch_tried_as(&trials, drawn.ptr[i].candidate.sql);
    if (trial == NULL) return syrch_fail(SYRCH_FAILURE_KIND_INTERNAL, "a statement was not run");
    drawn.ptr[i].ran = trial->ran;
    drawn.ptr[i].wrong = trial->wrong;
  }
  return true;
}

static groups count_votes(draws drawn) {
  syrch_list_u32_t ran = {0};
  syrch_list_string_t fingerprints = {0};
  for (size_t i = 0; i < drawn.len; i++) {
    if (drawn.ptr[i].ran == NULL) continue;
    syrch_push(&ran, (uint32_t)i);
    syrch_push(&fingerprints, drawn.ptr[i].ran->fingerprint);
  }
  syrch_groups_t equal = syrch_groups(fingerprints);
  groups counted = {0};
  for (size_t i = 0; i < equal.len; i++) {
    group own = {.first = ran.ptr[equal.ptr[i].ptr[0]], .votes = (uint32_t)equal.ptr[i].len};
    for (size_t at = 0; at < equal.ptr[i].len; at++) {
      draw *one = &drawn.ptr[ran.ptr[equal.ptr[i].ptr[at]]];
      one->group = i;
      if (one->candidate.raw_confidence.is_some && one->candidate.raw_confidence.val > own.best) own.best = one->candidate.raw_confidence.val;
    }
    syrch_push(&counted, own);
  }
  return counted;
}

// What the vote says of each draw that ran.
static void describe(draws drawn, groups counted) {
  uint32_t samples = 0;
  for (size_t i = 0; i < counted.len; i++) samples += counted.ptr[i].votes;
  for (size_t i = 0; i < drawn.len; i++) {
    if (drawn.ptr[i].ran == NULL) continue;
    uint32_t votes = counted.ptr[drawn.ptr[i].group].votes;
    syrch_candidate_t *candidate = &drawn.ptr[i].candidate;
    candidate->rationale = syrch_some(syrch_format("%" PRIu32 " of %" PRIu32 " results", votes, samples));
    candidate->signals.samples = samples;
    candidate->signals.agreeing = votes;
  }
}

static bool is_better(const group *a, const group *b) { return a->votes != b->votes ? a->votes > b->votes : a->best > b->best; }

// The best group first; of equal ones that which was drawn first.
static groups ranked(groups counted) {
  groups order = {0};
  for (size_t i = 0; i < counted.len; i++) {
    syrch_push(&order, counted.ptr[i]);
    for (size_t at = order.len - 1; at > 0 && is_better(&order.ptr[at], &order.ptr[at - 1]); at--) {
      group better = order.ptr[at];
      order.ptr[at] = order.ptr[at - 1];
      order.ptr[at - 1] = better;
    }
  }
  return order;
}

static void report(draws drawn, groups counted, size_t winner) {
  for (size_t i = 0; i < drawn.len; i++) syrch_propose(&drawn.ptr[i].candidate);
  for (size_t i = 0; i < drawn.len; i++) {
    const draw *one = &drawn.ptr[i];
    size_t first = one->ran == NULL ? i : counted.ptr[one->group].first;
    if (one->ran == NULL) {
      syrch_discard(one->candidate.id, one->wrong);
    } else if (first != i) {
      syrch_discard(one->candidate.id, syrch_concat(syrch_text("the same result as "), drawn.ptr[first].candidate.id));
    } else if (i == winner) {
      syrch_keep(one->candidate.id, one->candidate.rationale.val);
    } else {
      syrch_discard(one->candidate.id, one->candidate.rationale.val);
    }
  }
}

bool syrch_solve(const syrch_solve_t *in, syrch_outcome_t *out) {
  syrch_string_t wrong = {0};
  draws drawn = draw_statements(in, &wrong);
  if (drawn.len == 0) return syrch_nothing(out, syrch_concat(syrch_text("no statement: "), wrong));
  if (!run_statements(drawn)) return false;
  groups counted = count_votes(drawn);
  describe(drawn, counted);
  groups order = ranked(counted);
  report(drawn, counted, order.len > 0 ? order.ptr[0].first : drawn.len);
  if (order.len == 0) return syrch_nothing(out, syrch_concat(syrch_text("no statement ran: "), drawn.ptr[0].wrong));
  for (size_t i = 0; i < order.len; i++) syrch_push(&out->candidates, drawn.ptr[order.ptr[i].first].candidate);
  return true;
}
