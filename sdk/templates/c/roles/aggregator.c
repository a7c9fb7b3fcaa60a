// The aggregator: makes the answer from the task that the graph names.

#include "plugin.h"

static syrch_answer_t answer_of(const syrch_aggregate_t *in, const syrch_finished_t *last) {
  uint64_t rows = syrch_profile(last->results).rows;
  syrch_answer_t answer = {
      .text = syrch_count(rows, "row"),
      .task = last->task.id,
      .candidate = syrch_some(last->candidate.id),
      .sql = {0},  // or a statement that names finished tasks in FROM, as `finished.name`
      .confidence = syrch_sureness(&last->candidate),
  };
  for (size_t i = 0; i < in->finished.len; i++) syrch_push(&answer.basis, in->finished.ptr[i].task.text);
  if (rows > syrch_settings.most) syrch_push(&answer.caveats, syrch_text("the result is long"));
  return answer;
}

bool syrch_aggregate(const syrch_aggregate_t *in, syrch_option_answer_t *out) {
  for (size_t i = 0; i < in->finished.len; i++) {
    const syrch_finished_t *last = &in->finished.ptr[i];
    if (!syrch_equal(last->task.id, in->graph->answer)) continue;
    *out = (syrch_option_answer_t){.is_some = true, .val = answer_of(in, last)};
    break;
  }
  // Without that task nothing here answers the question.
  return true;
}
