#include "fakes.h"
#include "plugin.h"

static void the_condition_is_dropped_once(void) {
  syrch_rewrite_t in = {.best = syrch_text("SELECT id FROM orders WHERE 1 = 1")};
  syrch_option_proposal_t first = {0}, second = {0};
  SYRCH_CHECK(syrch_rewrite(&in, &first) && first.is_some);
  SYRCH_CHECK_TEXT(first.val.sql, "SELECT id FROM orders");
  syrch_push(&in.history, (syrch_attempt_t){.sql = first.val.sql, .trial = {.tag = SYRCH_TRIAL_MISMATCH}});
  SYRCH_CHECK(syrch_rewrite(&in, &second) && !second.is_some);
}

int main(void) {
  syrch_fake_reset();
  the_condition_is_dropped_once();
  syrch_reset();
  return syrch_failed != 0;
}
