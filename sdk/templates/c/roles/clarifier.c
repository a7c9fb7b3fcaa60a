// The clarifier: asks about the tasks that failed.

#include "plugin.h"

bool syrch_assess(const syrch_assess_t *in, syrch_list_question_t *out) {
  for (size_t i = 0; i < in->seen.len && out->len < syrch_settings.most; i++) {
    const syrch_observation_t *seen = &in->seen.ptr[i];
    if (seen->ending.tag != SYRCH_ENDING_FAILED) continue;
    const syrch_task_t *task = syrch_find_task(in->graph, seen->task);
    syrch_question_t question = {
        .text = syrch_concat(syrch_text("\""), task == NULL ? seen->task : task->text, syrch_text("\" failed: "),
                             seen->ending.val.failed.message, syrch_text(". How else can it be said?")),
        .choices = {0},  // any answer
        .ambiguity = 0.5,
    };
    syrch_push(out, question);
  }
  return true;
}
