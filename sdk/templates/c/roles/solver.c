// The solver: asks the model for one statement and runs it.

#include "plugin.h"

bool syrch_solve(const syrch_solve_t *in, syrch_outcome_t *out) {
  // The prompt has the tables, the question, the task, and the rows of the tasks on which this one depends.
  syrch_brief_t brief = syrch_brief(in, 48000, 3);
  syrch_request_t request = syrch_brief_request(&brief, (syrch_list_tried_t){0}, 0);
  syrch_statement_t statement = syrch_ask_statement(&request);
  switch (statement.how) {
    case SYRCH_WROTE_STATEMENT: break;
    // An outcome without a candidate is valid, for example if a provider without a model abstains.
    case SYRCH_WROTE_NOTHING:
    case SYRCH_WROTE_ABSTAINED: return syrch_nothing(out, statement.why);
    case SYRCH_WROTE_TOO_LARGE:
    case SYRCH_WROTE_FAILED: return syrch_fail_with(statement.failure);
  }
  // Checks and runs the statement. More rows than usual count as a sign against it.
  syrch_trials_t trials = {.overflow_rows = syrch_settings.most};
  if (!syrch_try(&trials, &statement.sql, 1)) return false;
  const syrch_trial_run_t *trial = syrch_at(&trials, 0);
  syrch_signals_t signals = trial->signals;
  signals.max_attempts = 1;
  syrch_candidate_t candidate = syrch_statement_candidate(&statement, syrch_candidate_id(in->task->id, 1), "generate", signals);
  syrch_propose(&candidate);
  if (trial->ran == NULL) {
    syrch_discard(candidate.id, trial->wrong);
    return syrch_nothing(out, trial->wrong);
  }
  syrch_keep(candidate.id, syrch_text("it ran"));
  syrch_push(&out->candidates, candidate);
  return true;
}
