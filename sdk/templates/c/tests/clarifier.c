#include "fakes.h"
#include "plugin.h"

static void failures_are_asked_about(void) {
  syrch_graph_t graph = syrch_single(syrch_task(syrch_text("A"), syrch_text("the sums")));
  syrch_observation_t seen = {.task = syrch_text("A"), .ending = {.tag = SYRCH_ENDING_FAILED}};
  seen.ending.val.failed.message = syrch_text("no idea");
  syrch_assess_t in = {.graph = &graph};
  syrch_push(&in.seen, seen);
  syrch_list_question_t out = {0};
  SYRCH_CHECK(syrch_assess(&in, &out) && out.len == 1);
  SYRCH_CHECK_TEXT(syrch_at(&out, 0)->text, "\"the sums\" failed: no idea. How else can it be said?");
}

int main(void) {
  syrch_fake_reset();
  failures_are_asked_about();
  syrch_reset();
  return syrch_failed != 0;
}
