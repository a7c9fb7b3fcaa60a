#include "fakes.h"
#include "plugin.h"

static void many_rows_are_rejected(void) {
  syrch_fake_settings("{\"most\": 2}");
  const syrch_value_t cells[] = {syrch_integer(1), syrch_integer(2), syrch_integer(3)};
  syrch_judge_t in = {0};
  syrch_push(&in.rivals, (syrch_rival_t){.results = syrch_fake_results(syrch_fake_column("n", 3, cells))});
  syrch_list_verdict_t out = {0};
  SYRCH_CHECK(syrch_judge(&in, &out) && syrch_at(&out, 0)->tag == SYRCH_VERDICT_REJECTED);
  SYRCH_CHECK_TEXT(syrch_at(&out, 0)->val.rejected.reason, "3 rows are too many");
}

int main(void) {
  syrch_fake_reset();
  many_rows_are_rejected();
  syrch_reset();
  return syrch_failed != 0;
}
