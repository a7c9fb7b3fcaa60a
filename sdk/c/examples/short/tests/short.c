#include "fakes.h"

static syrch_verdict_t judged(size_t rows) {
  const syrch_value_t cells[] = {syrch_integer(1), syrch_integer(2), syrch_integer(3)};
  syrch_judge_t in = {0};
  syrch_list_verdict_t out = {0};
  syrch_push(&in.rivals, (syrch_rival_t){.results = syrch_fake_results(syrch_fake_column("n", rows, cells))});
  SYRCH_CHECK(syrch_judge(&in, &out) && out.len == 1);
  return *syrch_at(&out, 0);
}

int main(void) {
  syrch_fake_reset();
  syrch_fake_settings("{\"most_rows\": 2}");
  syrch_verdict_t two = judged(2), three = judged(3);
  SYRCH_CHECK(two.tag == SYRCH_VERDICT_ACCEPTED && two.val.accepted.score == 1);
  SYRCH_CHECK_TEXT(two.val.accepted.reason, "2 rows");
  SYRCH_CHECK(three.tag == SYRCH_VERDICT_REJECTED && three.val.rejected.score == 0);
  SYRCH_CHECK_TEXT(three.val.rejected.reason, "3 rows are too many");
  syrch_reset();
  return syrch_failed != 0;
}
