// The plugin of the conformance cases: it answers what its case says, in all eight roles and in the same way in every language.

#include "plugin.h"

#include <string.h>

SYRCH_PLUGIN("conformance", "1.0.0", "answers what its case says", SETTINGS)

bool has_habit(const char *habit) { return syrch_is(syrch_settings.habit, habit); }

bool returns(void) {
  if (has_habit("raise")) syrch_panic("%.*s", SYRCH_F(syrch_settings.text));
  if (has_habit("fail")) {
    syrch_failure_t failure = {.kind = {.tag = SYRCH_FAILURE_KIND_UNSUPPORTED}, .message = syrch_settings.text, .retryable = syrch_settings.flag};
    return syrch_fail_with(failure);
  }
  // A loop without an effect may be left out by the compiler.
  for (volatile unsigned turns = 0; has_habit("loop");) turns++;
  return true;
}

syrch_string_t large_text(void) {
  size_t length = (size_t)syrch_settings.size * 1024;
  syrch_string_t text = {.ptr = syrch_alloc(length), .len = length};
  memset(text.ptr, 'x', length);
  return text;
}
