// Rejects results with many rows.

#include <inttypes.h>

#include "syrch.h"

#define SETTINGS(X) X(integer, most_rows, 100, 1, 1000000, "Results with more rows are rejected.")
SYRCH_SETTINGS(SETTINGS)
SYRCH_PLUGIN("short", "1.0.0", "likes short results", SETTINGS)

bool syrch_judge(const syrch_judge_t *in, syrch_list_verdict_t *out) {
  for (size_t i = 0; i < in->rivals.len; i++) {
    uint64_t rows = syrch_profile(in->rivals.ptr[i].results).rows;
    if (rows > syrch_settings.most_rows) {
      syrch_push(out, syrch_rejected(0, syrch_format("%" PRIu64 " rows are too many", rows)));
    } else {
      syrch_push(out, syrch_accepted(1, syrch_format("%" PRIu64 " rows", rows)));
    }
  }
  return true;
}
