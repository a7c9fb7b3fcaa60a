#include "fakes.h"

#include <math.h>

static double calibrated(double claimed, uint32_t errors) {
  syrch_calibrate_t in = {0};
  syrch_list_f64_t out = {0};
  syrch_push(&in.claims, (syrch_claim_t){.f0 = claimed, .f1 = {.syntax_errors = errors}});
  SYRCH_CHECK(syrch_calibrate(&in, &out) && out.len == 1);
  return *syrch_at(&out, 0);
}

int main(void) {
  syrch_fake_reset();
  SYRCH_CHECK(calibrated(0.1, 0) == 0.2 && calibrated(0.5, 0) == 0.5 && calibrated(1, 0) == 0.8);
  SYRCH_CHECK(fabs(calibrated(0.95, 2) - 0.6) < 1e-9 && calibrated(0.1, 5) == 0);
  syrch_fake_settings("{\"steps\": [[0.3, 0.9], [\"x\", 1]]}");
  SYRCH_CHECK(calibrated(0.2, 0) == 0 && calibrated(0.3, 0) == 0.9);
  syrch_reset();
  return syrch_failed != 0;
}
