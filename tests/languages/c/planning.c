// The roles linker, planner and clarifier.

#include "plugin.h"

bool syrch_link(const syrch_link_t *in, syrch_linked_t *out) {
  if (!returns()) return false;
  for (size_t i = 0; i < in->catalog->tables.len; i++) {
    const syrch_table_t *table = &in->catalog->tables.ptr[i];
    syrch_relevant_t relevant = {.table = table->name, .score = has_habit("wrong") ? 2 : syrch_settings.share};
    for (size_t at = 0; at < table->columns.len; at++) syrch_push(&relevant.columns, table->columns.ptr[at].name);
    if (table->comment.is_some) relevant.reason = table->comment.val;
    if (has_habit("large")) relevant.reason = large_text();
    syrch_push(&out->tables, relevant);
  }
  out->hints = in->problem->hints;
  return true;
}

static syrch_string_t object_of(const char *key, syrch_string_t text) {
  syrch_writer to = {0};
  syrch_write_object(&to);
  syrch_write_key(&to, key);
  syrch_write_string(&to, text);
  syrch_write_end(&to);
  return syrch_written(&to);
}

static void plan_answers(const syrch_problem_t *problem, syrch_list_task_t *tasks) {
  for (size_t i = 0; i < problem->answers.len; i++) {
    syrch_task_t task = syrch_task(problem->answers.ptr[i].f0, problem->answers.ptr[i].f1);
    if (i > 0) syrch_push(&task.depends_on, tasks->ptr[i - 1].id);
    task.context = syrch_some(syrch_format("{\"n\":%zu}", i));
    syrch_push(tasks, task);
  }
  if (tasks->len == 0) syrch_push(tasks, syrch_task(syrch_text("A"), problem->question));
}

bool syrch_plan(const syrch_first_plan_t *in, syrch_graph_t *out) {
  if (!returns()) return false;
  plan_answers(in->problem, &out->tasks);
  if (has_habit("wrong")) {
    out->tasks.len = 0;
    syrch_push(&out->tasks, syrch_task(syrch_text("a b"), in->problem->question));
  }
  for (size_t i = 0; i < out->tasks.len && has_habit("large"); i++) out->tasks.ptr[i].text = large_text();
  out->answer = out->tasks.ptr[out->tasks.len - 1].id;
  out->memo = syrch_some(object_of("question", in->problem->question));
  return true;
}

static void edit(const syrch_graph_t *graph, const syrch_observation_t *seen, syrch_list_edit_t *edits) {
  const syrch_task_t *task = syrch_find_task(graph, seen->task);
  syrch_task_t changed = {0};
  switch (seen->ending.tag) {
    case SYRCH_ENDING_SOLVED: syrch_push(edits, (syrch_edit_t){.tag = SYRCH_EDIT_FINISH}); break;
    case SYRCH_ENDING_FAILED:
      changed = syrch_task(syrch_concat(seen->task, syrch_text("-again")), seen->ending.val.failed.message);
      syrch_push(edits, (syrch_edit_t){.tag = SYRCH_EDIT_ADD, .val = {.add = changed}});
      break;
    case SYRCH_ENDING_EMPTY: syrch_push(edits, (syrch_edit_t){.tag = SYRCH_EDIT_ANSWER, .val = {.answer = seen->task}}); break;
    case SYRCH_ENDING_SKIPPED: syrch_push(edits, (syrch_edit_t){.tag = SYRCH_EDIT_CANCEL, .val = {.cancel = seen->task}}); break;
    case SYRCH_ENDING_CANCELLED:
      if (task == NULL) break;
      changed = *task;
      changed.priority = 2;
      syrch_push(edits, (syrch_edit_t){.tag = SYRCH_EDIT_UPDATE, .val = {.update = changed}});
      break;
    default: break;
  }
}

bool syrch_next(const syrch_next_t *in, syrch_step_t *out) {
  if (!returns()) return false;
  for (size_t i = in->fresh; i < in->seen.len; i++) edit(in->graph, &in->seen.ptr[i], &out->edits);
  out->memo = in->graph->memo;
  return true;
}

bool syrch_assess(const syrch_assess_t *in, syrch_list_question_t *out) {
  if (!returns()) return false;
  for (size_t i = 0; i < in->seen.len; i++) {
    const syrch_observation_t *seen = &in->seen.ptr[i];
    if (seen->ending.tag != SYRCH_ENDING_FAILED) continue;
    syrch_question_t question = {.text = seen->ending.val.failed.message, .ambiguity = has_habit("wrong") ? 2 : syrch_settings.share};
    for (size_t at = 0; at < seen->candidates.len; at++) syrch_push(&question.choices, seen->candidates.ptr[at].origin);
    if (has_habit("large")) question.text = large_text();
    syrch_push(out, question);
  }
  return true;
}
