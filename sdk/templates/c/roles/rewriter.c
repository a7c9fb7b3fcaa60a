// The rewriter: drops a condition that always holds.

#include "plugin.h"

bool syrch_rewrite(const syrch_rewrite_t *in, syrch_option_proposal_t *out) {
  syrch_string_t sql = syrch_replace(in->best, " WHERE 1 = 1", "");
  bool is_new = !syrch_equal(sql, in->best) && in->history.len < syrch_settings.most;
  for (size_t i = 0; i < in->history.len; i++) is_new = is_new && !syrch_equal(in->history.ptr[i].sql, sql);
  // No proposal ends the optimization.
  if (!is_new) return true;
  out->is_some = true;
  out->val = syrch_proposal(sql, "drop-condition", syrch_text("the condition always holds"));
  return true;
}
