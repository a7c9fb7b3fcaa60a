#include "fakes.h"
#include "plugin.h"

static void a_long_result_has_a_caveat(void) {
  syrch_fake_settings("{\"most\": 2}");
  const syrch_value_t cells[] = {syrch_integer(1), syrch_integer(2), syrch_integer(3)};
  syrch_task_t task = syrch_task(syrch_text("A"), syrch_text("Who?"));
  syrch_graph_t graph = syrch_single(task);
  syrch_aggregate_t in = {.graph = &graph};
  syrch_finished_t finished = {.task = task, .results = syrch_fake_results(syrch_fake_column("n", 3, cells))};
  finished.candidate.confidence = syrch_some_f64(0.75);
  syrch_push(&in.finished, finished);
  syrch_option_answer_t out = {0};
  SYRCH_CHECK(syrch_aggregate(&in, &out) && out.is_some);
  SYRCH_CHECK_TEXT(out.val.text, "3 rows");
  SYRCH_CHECK_TEXT(*syrch_at(&out.val.caveats, 0), "the result is long");
  SYRCH_CHECK(out.val.confidence == 0.75);
}

int main(void) {
  syrch_fake_reset();
  a_long_result_has_a_caveat();
  syrch_reset();
  return syrch_failed != 0;
}
