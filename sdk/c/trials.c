// Statements in the database: each text is checked and run once.

#include "syrch.h"

#include <inttypes.h>

// The most columns that a doubt names.
#define NAMED 20u

static bool is_over(syrch_sql_error_kind_t kind) {
  return kind == SYRCH_SQL_ERROR_KIND_BUDGET || kind == SYRCH_SQL_ERROR_KIND_CANCELLED || kind == SYRCH_SQL_ERROR_KIND_UNAVAILABLE;
}

static void tally(syrch_sql_error_kind_t kind, syrch_signals_t *signals) {
  switch (kind) {
    case SYRCH_SQL_ERROR_KIND_SYNTAX: signals->syntax_errors++; break;
    case SYRCH_SQL_ERROR_KIND_UNKNOWN_TABLE:
    case SYRCH_SQL_ERROR_KIND_UNKNOWN_COLUMN:
    case SYRCH_SQL_ERROR_KIND_AMBIGUOUS_NAME:
    case SYRCH_SQL_ERROR_KIND_DENIED: signals->schema_errors++; break;
    default: signals->execution_errors++; break;
  }
}

bool syrch_error_words(const syrch_sql_error_t *error, syrch_signals_t *signals, syrch_string_t *words) {
  if (is_over(error->kind)) return false;
  tally(error->kind, signals);
  syrch_buffer out = {0};
  syrch_put(&out, syrch_line(error->message, 400));
  if (error->position.is_some) syrch_put(&out, syrch_format(", at byte %" PRIu32, error->position.val));
  for (size_t i = 0; i < error->suggestions.len && i < 5; i++) {
    syrch_puts(&out, i == 0 ? "; near: " : ", ");
    syrch_put(&out, syrch_line(error->suggestions.ptr[i], 80));
  }
  *words = syrch_built(&out);
  return true;
}

static void doubt_nulls(const syrch_profile_t *profile, syrch_signals_t *signals, syrch_list_string_t *doubts) {
  syrch_list_string_t named = {0};
  signals->null_columns = 0;
  for (size_t i = 0; i < profile->columns.len; i++) {
    const syrch_column_profile_t *column = &profile->columns.ptr[i];
    if (profile->rows == 0 || column->nulls < profile->rows) continue;
    signals->null_columns++;
    if (named.len < NAMED) syrch_push(&named, syrch_line(column->column.name, 80));
  }
  if (signals->null_columns == 0) return;
  syrch_string_t names = syrch_join(named.ptr, named.len, ", ");
  size_t more = signals->null_columns - named.len;
  syrch_string_t rest = more > 0 ? syrch_format(" and %zu more", more) : syrch_text("");
  const char *head = signals->null_columns == 1 ? "a column is NULL in all rows: " : "columns are NULL in all rows: ";
  syrch_push(doubts, syrch_concat(syrch_text(head), names, rest));
}

syrch_list_string_t syrch_doubts(uint64_t overflow_rows, const syrch_profile_t *profile, syrch_signals_t *signals) {
  syrch_list_string_t doubts = {0};
  signals->empty_result = profile->rows == 0;
  if (signals->empty_result) syrch_push(&doubts, syrch_text("the result has no rows"));
  doubt_nulls(profile, signals, &doubts);
  signals->overflow = profile->truncated || profile->rows > overflow_rows;
  if (signals->overflow) {
    syrch_push(&doubts, syrch_concat(syrch_text("the result has "), syrch_count(profile->rows, "row"), syrch_text(profile->truncated ? " and was cut" : ""),
                                     syrch_format(", where at most %" PRIu64 " are expected", overflow_rows)));
  }
  return doubts;
}

const syrch_trial_run_t *syrch_tried_as(const syrch_trials_t *trials, syrch_string_t sql) {
  for (size_t i = 0; i < trials->len; i++) {
    if (syrch_equal(trials->ptr[i].sql, sql)) return &trials->ptr[i];
  }
  return NULL;
}

typedef struct stop {
  bool is_over;
  syrch_failure_t failure;
} stop;

// Notes a statement that failed. The first failure that holds for all stays in `first`.
static void fail(syrch_trials_t *trials, syrch_string_t sql, const syrch_sql_error_t *error, stop *first) {
  syrch_trial_run_t trial = {.sql = sql};
  if (!syrch_error_words(error, &trial.signals, &trial.wrong)) {
    syrch_failure_t failure = syrch_sql_failure(error);
    trial.wrong = failure.message;
    if (!first->is_over) *first = (stop){.is_over = true, .failure = failure};
  }
  syrch_push(trials, trial);
}

static void ran(syrch_trials_t *trials, syrch_string_t sql, syrch_facts_t facts, syrch_results_t results) {
  syrch_trial_run_t trial = {.sql = sql};
  syrch_ran_t *made = SYRCH_NEW(syrch_ran_t);
  *made = (syrch_ran_t){.facts = facts, .results = results, .profile = syrch_profile(results)};
  made->doubts = syrch_doubts(trials->overflow_rows, &made->profile, &trial.signals);
  // If the host has no fingerprints, each text has its own.
  if (!syrch_fingerprint(results, SYRCH_EQUALITY_BAG, &made->fingerprint)) made->fingerprint = facts.normalized;
  trial.ran = made;
  syrch_push(trials, trial);
}

static bool has_text(syrch_list_string_t texts, syrch_string_t text) {
  for (size_t i = 0; i < texts.len; i++) {
    if (syrch_equal(texts.ptr[i], text)) return true;
  }
  return false;
}

bool syrch_try(syrch_trials_t *trials, const syrch_string_t *statements, size_t count) {
  stop first = {0};
  syrch_list_string_t passed = {0};
  struct {
    syrch_facts_t *ptr;
    size_t len;
  } facts = {0};
  for (size_t i = 0; i < count; i++) {
    syrch_string_t sql = statements[i];
    if (syrch_tried_as(trials, sql) != NULL || has_text(passed, sql)) continue;
    if (first.is_over) {
      syrch_push(trials, (syrch_trial_run_t){.sql = sql, .wrong = first.failure.message});
      continue;
    }
    syrch_facts_t found;
    syrch_sql_error_t error;
    if (syrch_check(sql, &found, &error)) {
      syrch_push(&passed, sql);
      syrch_push(&facts, found);
    } else {
      fail(trials, sql, &error, &first);
    }
  }
  syrch_list_run_result_t results = {0};
  if (passed.len > 0) results = syrch_run_all(passed);
  for (size_t i = 0; i < passed.len && i < results.len; i++) {
    if (results.ptr[i].is_err) {
      fail(trials, passed.ptr[i], &results.ptr[i].val.err, &first);
    } else {
      ran(trials, passed.ptr[i], facts.ptr[i], results.ptr[i].val.ok);
    }
  }
  return !first.is_over || syrch_fail_with(first.failure);
}

bool syrch_nothing(syrch_outcome_t *out, syrch_string_t why) {
  syrch_note(SYRCH_LEVEL_WARN, why);
  syrch_writer memo = {0};
  syrch_write_object(&memo);
  syrch_write_key(&memo, "reason");
  syrch_write_string(&memo, syrch_line(why, 600));
  syrch_write_end(&memo);
  *out = (syrch_outcome_t){.memo = syrch_some(syrch_written(&memo))};
  return true;
}
