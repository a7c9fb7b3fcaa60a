// The discount of a claim by what happened on the way to its statement, and how unclear a task is after its attempts.

#include "syrch.h"

#define DEFAULT_(type, name, value, ...) .name = value,
const syrch_weights_t syrch_default_weights = {SYRCH_WEIGHTS(DEFAULT_)};

const syrch_ambiguity_weights_t syrch_default_ambiguity = {.doubt = 0.35, .variance = 0.15, .error = 0.30, .empty = 0.20};

// Nothing for the first attempt, and nothing when only one is allowed.
static double retry_share(uint32_t attempts, uint32_t most) {
  if (most <= 1) return 0;
  if (attempts < 1) attempts = 1;
  if (attempts > most) attempts = most;
  return (double)(attempts - 1) / most;
}

double syrch_discounted(const syrch_weights_t *weights, double raw, const syrch_signals_t *signals) {
  double confidence = syrch_clamp01(raw);
  if (signals->syntax_errors > 0) confidence *= 1 - weights->syntax;
  if (signals->schema_errors > 0) confidence *= 1 - weights->schema;
  if (signals->execution_errors > 0) confidence *= 1 - weights->execution;
  if (signals->empty_result) confidence *= 1 - weights->empty;
  if (signals->null_columns > 0) confidence *= 1 - weights->null_column;
  if (signals->overflow) confidence *= 1 - weights->overflow;
  double retries = weights->retry * retry_share(signals->attempts, signals->max_attempts);
  return syrch_clamp01(confidence * (1 - retries));
}

// The population variance.
static double variance(const double *values, size_t count) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++) sum += syrch_clamp01(values[i]);
  double mean = sum / (double)count;
  for (size_t i = 0; i < count; i++) {
    double distance = syrch_clamp01(values[i]) - mean;
    squares += distance * distance;
  }
  return squares / (double)count;
}

double syrch_ambiguity(const syrch_ambiguity_weights_t *weights, const double *confidences, size_t count, bool is_error, bool is_empty) {
  if (count == 0) return 1;
  double best = 0;
  for (size_t i = 0; i < count; i++) {
    double sure = syrch_clamp01(confidences[i]);
    if (sure > best) best = sure;
  }
  double score = weights->doubt * (1 - best);
  if (count >= 2) {
    double spread = variance(confidences, count);
    score += weights->variance * (spread < 1 ? spread : 1);
  }
  if (is_error) {
    score += weights->error * 0.5;
  } else if (is_empty) {
    score += weights->empty * 0.3;
  }
  return syrch_clamp01(score);
}

bool syrch_has_no_rows(const syrch_observation_t *seen) {
  return seen->ending.tag == SYRCH_ENDING_EMPTY || (seen->profile.is_some && seen->profile.val.rows == 0);
}

syrch_option_f64_t syrch_ambiguity_of(const syrch_ambiguity_weights_t *weights, const syrch_observation_t *seen) {
  if (seen->ending.tag == SYRCH_ENDING_SKIPPED || seen->ending.tag == SYRCH_ENDING_CANCELLED) return (syrch_option_f64_t){0};
  syrch_list_f64_t sure = {0};
  for (size_t i = 0; i < seen->candidates.len; i++) syrch_push(&sure, syrch_sureness(&seen->candidates.ptr[i]));
  bool is_error = seen->ending.tag == SYRCH_ENDING_FAILED;
  return syrch_some_f64(syrch_ambiguity(weights, sure.ptr, sure.len, is_error, !is_error && syrch_has_no_rows(seen)));
}
