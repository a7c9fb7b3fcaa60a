// The reward: rejects results with more rows than usual.

#include <inttypes.h>

#include "plugin.h"

bool syrch_judge(const syrch_judge_t *in, syrch_list_verdict_t *out) {
  for (size_t i = 0; i < in->rivals.len; i++) {
    uint64_t rows = syrch_profile(in->rivals.ptr[i].results).rows;
    if (rows > syrch_settings.most) {
      syrch_push(out, syrch_rejected(0, syrch_format("%" PRIu64 " rows are too many", rows)));
    } else {
      syrch_push(out, syrch_accepted(1, syrch_format("%" PRIu64 " rows", rows)));
    }
  }
  return true;
}
