// The roles calibrator, reward, aggregator and rewriter.

#include <inttypes.h>

#include "plugin.h"

bool syrch_calibrate(const syrch_calibrate_t *in, syrch_list_f64_t *out) {
  if (!returns()) return false;
  if (has_habit("large")) {
    syrch_resize(out, (size_t)syrch_settings.size);
    for (size_t i = 0; i < out->len; i++) out->ptr[i] = 0.5;
    return true;
  }
  for (size_t i = 0; i < in->claims.len; i++) {
    double claimed = in->claims.ptr[i].f0, attempts = in->claims.ptr[i].f1.attempts;
    syrch_push(out, has_habit("wrong") ? 2 : syrch_clamp01(claimed * syrch_settings.share + attempts / 1000));
  }
  return true;
}

static syrch_verdict_t verdict(syrch_results_t results) {
  syrch_profile_t profile = syrch_profile(results);
  if (profile.rows == 0) return syrch_rejected(0, syrch_text("no rows"));
  if (profile.truncated) return syrch_unavailable(syrch_text("truncated"));
  syrch_string_t reason = syrch_format("%" PRIu64 " rows of %zu columns", profile.rows, profile.columns.len);
  syrch_verdict_t accepted = syrch_accepted(syrch_settings.share, reason);
  for (size_t i = 0; i < profile.columns.len; i++) {
    const syrch_column_profile_t *column = &profile.columns.ptr[i];
    syrch_push(&accepted.val.accepted.checks, (syrch_named_check_t){column->column.name, column->nulls == 0});
  }
  return accepted;
}

bool syrch_judge(const syrch_judge_t *in, syrch_list_verdict_t *out) {
  if (!returns()) return false;
  for (size_t i = 0; i < in->rivals.len; i++) syrch_push(out, verdict(in->rivals.ptr[i].results));
  for (size_t i = 0; i < out->len && has_habit("large"); i++) out->ptr[i] = syrch_accepted(syrch_settings.share, large_text());
  if (has_habit("wrong")) syrch_push(out, syrch_rejected(0, syrch_text("one too many")));
  return true;
}

static syrch_answer_t answer(const syrch_aggregate_t *in, const syrch_finished_t *last) {
  const syrch_candidate_t *candidate = &last->candidate;
  syrch_answer_t made = {.text = candidate->sql, .task = last->task.id, .candidate = syrch_some(candidate->id)};
  if (candidate->confidence.is_some) made.confidence = candidate->confidence.val;
  if (syrch_settings.flag) made.sql = syrch_some(syrch_concat(syrch_text("SELECT * FROM "), last->name));
  for (size_t i = 0; i < in->finished.len; i++) syrch_push(&made.basis, in->finished.ptr[i].task.text);
  for (size_t i = 0; i < in->seen.len; i++) {
    if (in->seen.ptr[i].ending.tag == SYRCH_ENDING_SKIPPED) syrch_push(&made.caveats, in->seen.ptr[i].task);
  }
  if (has_habit("large")) made.text = large_text();
  if (has_habit("wrong")) made.confidence = 2;
  return made;
}

bool syrch_aggregate(const syrch_aggregate_t *in, syrch_option_answer_t *out) {
  if (!returns()) return false;
  for (size_t i = 0; i < in->finished.len && !out->is_some; i++) {
    const syrch_finished_t *last = &in->finished.ptr[i];
    if (syrch_equal(last->task.id, in->graph->answer)) *out = (syrch_option_answer_t){.is_some = true, .val = answer(in, last)};
  }
  return true;
}

static syrch_string_t trial_words(const syrch_trial_t *trial) {
  switch (trial->tag) {
    case SYRCH_TRIAL_ACCEPTED: return syrch_format("accepted %.1f", trial->val.accepted);
    case SYRCH_TRIAL_SLOWER: return syrch_format("slower %.1f", trial->val.slower);
    case SYRCH_TRIAL_MISMATCH: return syrch_text("mismatch");
    case SYRCH_TRIAL_REORDERED: return syrch_text("reordered");
    case SYRCH_TRIAL_OTHER_COLUMNS: return syrch_text("other-columns");
    case SYRCH_TRIAL_REFUSED: return syrch_concat(syrch_text("refused: "), trial->val.refused);
    case SYRCH_TRIAL_FAILED: return syrch_concat(syrch_text("failed: "), trial->val.failed);
    case SYRCH_TRIAL_TOO_LARGE: return syrch_text("too-large");
    default: return trial->val.other;
  }
}

bool syrch_rewrite(const syrch_rewrite_t *in, syrch_option_proposal_t *out) {
  if (!returns()) return false;
  size_t number = in->history.len;
  out->is_some = true;
  if (has_habit("large")) {
    out->val = syrch_proposal(in->best, "large", large_text());
  } else if (has_habit("wrong")) {
    out->val = syrch_proposal(in->best, "in to exists", syrch_text("a family with a space"));
  } else if (number < syrch_settings.size) {
    out->val.sql = syrch_concat(in->best, syrch_format(" -- %zu", number));
    out->val.family = syrch_format("f%zu", number);
    out->val.reason = number > 0 ? trial_words(&in->history.ptr[number - 1].trial) : syrch_text("first");
  } else {
    out->is_some = false;
  }
  return true;
}
