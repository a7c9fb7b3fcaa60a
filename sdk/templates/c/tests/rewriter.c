#include "fakes.h"
#include "plugin.h"

static void the_condition_is_dropped_once(void) {
  const syrch_trial_t mismatches[] = {{.tag = SYRCH_TRIAL_MISMATCH}, {.tag = SYRCH_TRIAL_MISMATCH}};
  const syrch_catalog_t catalog = {0};
  syrch_list_proposal_t proposals;
  SYRCH_CHECK(syrch_fake_rewrites(syrch_rewrite, "SELECT id FROM orders WHERE 1 = 1", &catalog, 2, mismatches, &proposals));
  SYRCH_CHECK(proposals.len == 1);
  SYRCH_CHECK_TEXT(proposals.ptr[0].sql, "SELECT id FROM orders");
}

int main(void) {
  syrch_fake_reset();
  the_condition_is_dropped_once();
  syrch_reset();
  return syrch_failed != 0;
}
