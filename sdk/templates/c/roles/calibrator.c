// The calibrator: halves what is claimed after more attempts than usual.

#include "plugin.h"

bool syrch_calibrate(const syrch_calibrate_t *in, syrch_list_f64_t *out) {
  for (size_t i = 0; i < in->claims.len; i++) {
    double claimed = in->claims.ptr[i].f0;
    bool has_many = in->claims.ptr[i].f1.attempts > syrch_settings.most;
    syrch_push(out, has_many ? claimed / 2 : claimed);
  }
  return true;
}
