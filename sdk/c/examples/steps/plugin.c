// A calibrator that reads the probability of a claim from a list of steps.

#include "syrch.h"

#define PAIRS                                                                                                 \
  "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {\"type\": \"number\", \"minimum\": 0, " \
  "\"maximum\": 1}, \"minItems\": 2, \"maxItems\": 2}}"
#define SETTINGS(X) \
  X(document, steps, "[[0, 0.2], [0.5, 0.5], [0.9, 0.8]]", PAIRS, "Pairs of a claim and the probability from there on, ascending.")
SYRCH_SETTINGS(SETTINGS)
SYRCH_PLUGIN("steps", "1.0.0", "reads probabilities from a list of steps", SETTINGS)

static double probability(double claimed, const syrch_signals_t *signals) {
  double reached = 0;
  for (size_t i = 0; i < syrch_json_length(syrch_settings.steps); i++) {
    const syrch_json *pair = syrch_json_at(syrch_settings.steps, i);
    double start = 0, value = 0;
    bool is_pair = syrch_json_number(syrch_json_at(pair, 0), &start) && syrch_json_number(syrch_json_at(pair, 1), &value);
    if (is_pair && start <= claimed) reached = value;
  }
  double errors = (double)signals->syntax_errors + signals->schema_errors + signals->execution_errors;
  return syrch_clamp01(reached - 0.1 * errors);
}

bool syrch_calibrate(const syrch_calibrate_t *in, syrch_list_f64_t *out) {
  for (size_t i = 0; i < in->claims.len; i++) syrch_push(out, probability(in->claims.ptr[i].f0, &in->claims.ptr[i].f1));
  return true;
}
