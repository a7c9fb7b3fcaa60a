// Draws that have ended, which of them agree, and the vote from a task to its candidates.

#include "syrch.h"

#include <inttypes.h>

const syrch_draw_t *syrch_pool_draw(const syrch_pool_t *pool, uint32_t number) {
  for (size_t i = 0; i < pool->len; i++) {
    if (pool->ptr[i].number == number) return &pool->ptr[i];
  }
  return NULL;
}

uint32_t syrch_pool_ran(const syrch_pool_t *pool) {
  uint32_t ran = 0;
  for (size_t i = 0; i < pool->len; i++) ran += pool->ptr[i].ran != NULL;
  return ran;
}

// The reason why a result was rejected; NULL if it was not.
static const syrch_string_t *rejection(const syrch_pool_t *pool, syrch_string_t fingerprint) {
  for (size_t i = 0; i < pool->rejected.len; i++) {
    if (syrch_equal(pool->rejected.ptr[i].fingerprint, fingerprint)) return &pool->rejected.ptr[i].reason;
  }
  return NULL;
}

syrch_list_cluster_t syrch_clusters(const syrch_pool_t *pool, bool empty) {
  syrch_list_cluster_t clusters = {0};
  for (size_t i = 0; i < pool->len; i++) {
    const syrch_ran_t *ran = pool->ptr[i].ran;
    if (ran == NULL || (!empty && ran->profile.rows == 0) || rejection(pool, ran->fingerprint) != NULL) continue;
    size_t at = 0;
    while (at < clusters.len && !syrch_equal(clusters.ptr[at].fingerprint, ran->fingerprint)) at++;
    if (at == clusters.len) syrch_push(&clusters, (syrch_cluster_t){.fingerprint = ran->fingerprint});
    syrch_push(&clusters.ptr[at].members, pool->ptr[i].number);
  }
  // Equally large groups stay in the order of their earliest members.
  for (size_t i = 1; i < clusters.len; i++) {
    syrch_cluster_t moved = clusters.ptr[i];
    size_t at = i;
    for (; at > 0 && clusters.ptr[at - 1].members.len < moved.members.len; at--) clusters.ptr[at] = clusters.ptr[at - 1];
    clusters.ptr[at] = moved;
  }
  return clusters;
}

static bool wrong(const syrch_pool_t *pool, const syrch_draw_t *draw, bool empty, syrch_string_t *out) {
  if (draw->ran == NULL) {
    *out = draw->wrong;
    return true;
  }
  const syrch_string_t *reason = rejection(pool, draw->ran->fingerprint);
  if (reason != NULL) {
    *out = syrch_concat(syrch_text("rejected: "), syrch_line(*reason, 400));
    return true;
  }
  if (draw->ran->profile.rows > 0 || empty) return false;
  *out = syrch_join(draw->ran->doubts.ptr, draw->ran->doubts.len, "; ");
  return true;
}

syrch_list_tried_t syrch_pool_tried(const syrch_pool_t *pool, bool empty) {
  syrch_list_tried_t tried = {0};
  for (size_t i = 0; i < pool->len; i++) {
    syrch_tried_t one = {.sql = pool->ptr[i].sql};
    if (wrong(pool, &pool->ptr[i], empty, &one.wrong)) syrch_push(&tried, one);
  }
  return tried;
}

// The number of statements from the first one of a chain to this repair of it. A repair is later than what it repairs.
static uint32_t chain(const syrch_pool_t *pool, const syrch_draw_t *draw) {
  uint32_t length = 1;
  while (draw->repairs.is_some && draw->repairs.val < draw->number) {
    draw = syrch_pool_draw(pool, draw->repairs.val);
    if (draw == NULL) break;
    length++;
  }
  return length;
}

syrch_list_tried_t syrch_pool_tried_lately(const syrch_pool_t *pool, bool empty, uint32_t attempts) {
  size_t first = pool->len;
  syrch_string_t why;
  while (first > 0 && chain(pool, &pool->ptr[first - 1]) < attempts && wrong(pool, &pool->ptr[first - 1], empty, &why)) first--;
  syrch_list_tried_t tried = {0};
  for (size_t i = first; i < pool->len; i++) {
    syrch_tried_t one = {.sql = pool->ptr[i].sql};
    if (wrong(pool, &pool->ptr[i], empty, &one.wrong)) syrch_push(&tried, one);
  }
  return tried;
}

syrch_candidate_t syrch_draw_candidate(const syrch_pool_t *pool, const syrch_task_t *task, const syrch_draw_t *draw, uint32_t most) {
  syrch_candidate_t candidate = {
      .id = syrch_candidate_id(task->id, draw->number),
      .origin = syrch_text(draw->repairs.is_some ? "repair" : "generate"),
      .sql = draw->sql,
      .raw_confidence = draw->confidence,
      .signals = draw->signals,
  };
  candidate.signals.attempts = draw->number;
  candidate.signals.max_attempts = most;
  for (size_t i = 0; i < pool->len && pool->ptr[i].number < draw->number; i++) {
    candidate.signals.syntax_errors += pool->ptr[i].signals.syntax_errors;
    candidate.signals.schema_errors += pool->ptr[i].signals.schema_errors;
    candidate.signals.execution_errors += pool->ptr[i].signals.execution_errors;
  }
  if (draw->repairs.is_some) syrch_push(&candidate.parents, syrch_candidate_id(task->id, draw->repairs.val));
  return candidate;
}

syrch_request_t syrch_draw_request(const syrch_brief_t *brief, syrch_list_tried_t tried, uint32_t number, syrch_option_f64_t temperature) {
  syrch_request_t request = syrch_brief_request(brief, tried, number == 0 ? 0 : number - 1);
  if (request.purpose.tag == SYRCH_PURPOSE_REPAIR) {
    // A repair of draw n is the n-th sample again, and two draws never share both prompt and sample.
    request.sample = request.sample > request.subjects.len ? request.sample - (uint32_t)request.subjects.len : 0;
  } else if (temperature.is_some) {
    request.temperature = syrch_some_f32((float)temperature.val);
  }
  return request;
}

typedef struct verdict {
  syrch_string_t fingerprint;
  syrch_verdict_t verdict;
} verdict;

typedef struct poll {
  const syrch_task_t *task;
  uint32_t most;
  const syrch_pool_t *pool;
  // The reward's verdicts by the fingerprints of the results.
  struct {
    verdict *ptr;
    size_t len;
  } verdicts;
} poll;

static const syrch_verdict_t *verdict_of(const poll *from, syrch_string_t fingerprint) {
  for (size_t i = 0; i < from->verdicts.len; i++) {
    if (syrch_equal(from->verdicts.ptr[i].fingerprint, fingerprint)) return &from->verdicts.ptr[i].verdict;
  }
  return NULL;
}

static uint32_t first_of(const syrch_standing_t *standing) { return standing->cluster.members.len > 0 ? standing->cluster.members.ptr[0] : 0; }

static syrch_list_candidate_t candidates_of(const poll *from, syrch_list_standing_t standings) {
  syrch_list_candidate_t candidates = {0};
  for (size_t i = 0; i < standings.len; i++) {
    const syrch_draw_t *draw = syrch_pool_draw(from->pool, first_of(&standings.ptr[i]));
    if (draw == NULL) continue;
    syrch_candidate_t candidate = syrch_draw_candidate(from->pool, from->task, draw, from->most);
    candidate.raw_confidence = syrch_some_f64(standings.ptr[i].confidence);
    candidate.rationale = syrch_some(standings.ptr[i].reason);
    candidate.signals.samples = syrch_pool_ran(from->pool);
    candidate.signals.agreeing = (uint32_t)standings.ptr[i].cluster.members.len;
    syrch_push(&candidates, candidate);
  }
  return candidates;
}

// Has the results judged that were not judged yet, together. Without a reward there are no verdicts.
static void judge(poll *from, syrch_list_standing_t standings, syrch_list_candidate_t candidates) {
  syrch_list_candidate_t asked = {0};
  syrch_list_string_t fresh = {0};
  for (size_t i = 0; i < standings.len && i < candidates.len; i++) {
    if (verdict_of(from, standings.ptr[i].cluster.fingerprint) != NULL) continue;
    syrch_push(&asked, candidates.ptr[i]);
    syrch_push(&fresh, standings.ptr[i].cluster.fingerprint);
  }
  if (asked.len == 0) return;
  syrch_list_verdict_t verdicts;
  syrch_port_error_t error;
  if (!syrch_judged(asked, &verdicts, &error)) {
    syrch_note(SYRCH_LEVEL_INFO, syrch_concat(from->task->id, syrch_text(": no result was judged: "), syrch_port_failure(&error).message));
    return;
  }
  for (size_t i = 0; i < fresh.len && i < verdicts.len; i++) syrch_push(&from->verdicts, (verdict){fresh.ptr[i], verdicts.ptr[i]});
}

// Rejects the results that the reward rejects; false if there is none.
static bool reject(const poll *from, syrch_list_standing_t standings, syrch_pool_t *pool) {
  bool has_rejected = false;
  for (size_t i = 0; i < standings.len; i++) {
    syrch_string_t fingerprint = standings.ptr[i].cluster.fingerprint;
    const syrch_verdict_t *known = verdict_of(from, fingerprint);
    if (known == NULL || known->tag != SYRCH_VERDICT_REJECTED) continue;
    syrch_push(&pool->rejected, (syrch_rejected_result_t){fingerprint, known->val.rejected.reason});
    has_rejected = true;
  }
  return has_rejected;
}

static syrch_string_t beaten(const poll *from, const syrch_draw_t *draw, const syrch_standing_t *own, const syrch_standing_t *best) {
  if (first_of(own) != draw->number) return syrch_concat(syrch_text("the same result as "), syrch_candidate_id(from->task->id, first_of(own)));
  return syrch_concat(own->reason, syrch_text(", where "), syrch_candidate_id(from->task->id, first_of(best)), syrch_text(" has "), best->reason);
}

static const syrch_standing_t *standing_of(syrch_list_standing_t standings, uint32_t number) {
  for (size_t i = 0; i < standings.len; i++) {
    for (size_t at = 0; at < standings.ptr[i].cluster.members.len; at++) {
      if (standings.ptr[i].cluster.members.ptr[at] == number) return &standings.ptr[i];
    }
  }
  return NULL;
}

// Logs why each statement that ran was chosen or not; what was wrong with the others was logged when they failed.
static void report(const poll *from, syrch_list_standing_t standings) {
  for (size_t i = 0; i < from->pool->len; i++) {
    const syrch_draw_t *draw = &from->pool->ptr[i];
    if (draw->ran == NULL) continue;
    syrch_string_t id = syrch_candidate_id(from->task->id, draw->number), why = syrch_text("it has no vote");
    const syrch_standing_t *own = standing_of(standings, draw->number);
    if (own == NULL) {
      wrong(from->pool, draw, false, &why);
      syrch_discard(id, why);
    } else if (own == standings.ptr && first_of(own) == draw->number) {
      syrch_keep(id, own->reason);
    } else {
      syrch_discard(id, beaten(from, draw, own, standings.ptr));
    }
  }
}

static bool nothing(const poll *from, const syrch_stopped_t *stopped, uint32_t started, syrch_outcome_t *out) {
  if (stopped->how == SYRCH_STOP_FAILED) return syrch_fail_with(stopped->failure);
  if (stopped->how == SYRCH_STOP_ABSTAINED) return syrch_nothing(out, stopped->why);
  syrch_list_tried_t tried = syrch_pool_tried(from->pool, false);
  syrch_string_t last = tried.len > 0 ? tried.ptr[tried.len - 1].wrong : syrch_text("the model gave no statement");
  return syrch_nothing(out, syrch_concat(syrch_format("no statement did after %" PRIu32 " of %" PRIu32 " attempts: ", started, from->most), last));
}

static void carry_on(const poll *from, const syrch_stopped_t *stopped) {
  if (stopped->how == SYRCH_STOP_DONE) return;
  // That a model has no more statements is nothing to warn of.
  bool abstained = stopped->how == SYRCH_STOP_ABSTAINED;
  syrch_string_t why = abstained ? stopped->why : stopped->failure.message;
  syrch_note(abstained ? SYRCH_LEVEL_INFO : SYRCH_LEVEL_WARN, syrch_concat(from->task->id, syrch_text(": going on with what there is: "), why));
}

bool syrch_elect(const syrch_task_t *task, uint32_t most, uint64_t overflow_rows, const syrch_voter_t *voter, syrch_outcome_t *out) {
  syrch_drawing_t *drawing = syrch_drawing(task, most, overflow_rows);
  syrch_stopped_t stopped = syrch_draw(drawing, voter);
  poll from = {.task = task, .most = most, .pool = syrch_drawn(drawing)};
  for (;;) {
    syrch_list_standing_t standings = voter->standings(voter->self, from.pool);
    if (standings.len == 0) {
      report(&from, standings);
      return nothing(&from, &stopped, syrch_started(drawing), out);
    }
    syrch_list_candidate_t candidates = candidates_of(&from, standings);
    judge(&from, standings, candidates);
    if (!reject(&from, standings, syrch_drawn(drawing))) {
      carry_on(&from, &stopped);
      report(&from, standings);
      for (size_t i = 0; i < candidates.len && i < standings.len; i++) {
        const syrch_verdict_t *known = verdict_of(&from, standings.ptr[i].cluster.fingerprint);
        if (known == NULL || known->tag != SYRCH_VERDICT_ACCEPTED) continue;
        candidates.ptr[i].score = syrch_some_f64(known->val.accepted.score);
        candidates.ptr[i].signals.reward = candidates.ptr[i].score;
      }
      *out = (syrch_outcome_t){.candidates = candidates};
      return true;
    }
    if (stopped.how == SYRCH_STOP_DONE) stopped = syrch_draw(drawing, voter);
  }
}

uint64_t syrch_random(syrch_dice_t *dice) {
  uint64_t value = dice->state += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

bool syrch_coin(syrch_dice_t *dice) { return (syrch_random(dice) & 1) == 1; }

size_t syrch_one_of(syrch_dice_t *dice, size_t sides) {
  if (sides <= 1) return 0;
  // The upper half of a product (Lemire 2019).
  uint64_t number = syrch_random(dice), low = (number & 0xffffffffu) * (uint64_t)sides;
  uint64_t high = (number >> 32) * (uint64_t)sides + (low >> 32);
  return (size_t)(high >> 32);
}
