#include "fakes.h"
#include "plugin.h"

static void many_attempts_halve_a_claim(void) {
  syrch_fake_settings("{\"most\": 2}");
  syrch_calibrate_t in = {0};
  syrch_push(&in.claims, (syrch_claim_t){.f0 = 0.5, .f1 = {.attempts = 2}});
  syrch_push(&in.claims, (syrch_claim_t){.f0 = 0.5, .f1 = {.attempts = 3}});
  syrch_list_f64_t out = {0};
  SYRCH_CHECK(syrch_calibrate(&in, &out) && out.len == 2);
  SYRCH_CHECK(*syrch_at(&out, 0) == 0.5 && *syrch_at(&out, 1) == 0.25);
}

int main(void) {
  syrch_fake_reset();
  many_attempts_halve_a_claim();
  syrch_reset();
  return syrch_failed != 0;
}
