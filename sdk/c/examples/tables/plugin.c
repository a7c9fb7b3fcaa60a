// A planner that may look at each table of the question by itself first.

#include "syrch.h"

#define SETTINGS(X) X(boolean, per_table, false, "Whether each table that the question names gets a task of its own.")
SYRCH_SETTINGS(SETTINGS)
SYRCH_PLUGIN("tables", "1.0.0", "plans one task, or one for each table of the question", SETTINGS)

bool syrch_plan(const syrch_first_plan_t *in, syrch_graph_t *out) {
  syrch_task_t answer = syrch_task(syrch_text("A"), in->problem->question);
  syrch_string_t question = syrch_fold(in->problem->question);
  for (size_t i = 0; i < in->catalog->tables.len && syrch_settings.per_table; i++) {
    syrch_string_t name = in->catalog->tables.ptr[i].name;
    if (!syrch_contains(question, syrch_fold(name))) continue;
    syrch_string_t text = syrch_concat(in->problem->question, syrch_text(" (table "), name, syrch_text(")"));
    syrch_task_t task = syrch_task(syrch_format("T%zu", out->tasks.len + 1), text);
    syrch_push(&out->tasks, task);
    syrch_push(&answer.depends_on, task.id);
  }
  answer.tolerant = answer.depends_on.len > 0;
  syrch_push(&out->tasks, answer);
  out->answer = answer.id;
  return true;
}
