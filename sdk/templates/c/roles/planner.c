// The planner: first a task for each table that the question names, then the question itself.

#include "plugin.h"

bool syrch_plan(const syrch_first_plan_t *in, syrch_graph_t *out) {
  syrch_string_t question = syrch_fold(in->problem->question);
  // A tolerant task runs although a dependency failed.
  syrch_task_t answer = syrch_task(syrch_text("A"), in->problem->question);
  answer.tolerant = true;
  for (size_t i = 0; i < in->catalog->tables.len && out->tasks.len < syrch_settings.most; i++) {
    syrch_string_t name = in->catalog->tables.ptr[i].name;
    if (!syrch_contains(question, syrch_fold(name))) continue;
    syrch_string_t id = syrch_format("T%zu", out->tasks.len + 1);
    syrch_push(&out->tasks, syrch_task(id, syrch_concat(in->problem->question, syrch_text(" (table "), name, syrch_text(")"))));
    syrch_push(&answer.depends_on, id);
  }
  syrch_push(&out->tasks, answer);
  out->answer = answer.id;
  return true;
}

// `syrch_next` is called after each observation and may change the graph. Without it the graph stays as it is.
