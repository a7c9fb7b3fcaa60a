// A planner and a solver in C: one task with the problem's question, one statement for it.
// Arguments belong to the callee, which frees them; what is returned is freed by the bindings, so it must come from malloc.

#include <stdlib.h>
#include <string.h>

#include "both.h"

#define NAME "toolchain-c"
#define STATEMENT "SELECT 1 AS n"

static both_string_t text(const char *literal) {
  both_string_t made;
  both_string_dup(&made, literal);
  return made;
}

static void *zeroed(size_t size) {
  void *made = calloc(1, size);
  if (made == NULL) abort();
  return made;
}

// The text goes to the caller.
static both_string_t take(both_string_t *from) {
  both_string_t taken = *from;
  memset(from, 0, sizeof *from);
  return taken;
}

void exports_syrch_plugin_about_describe(exports_syrch_plugin_about_identity_t *ret) {
  ret->name = text(NAME);
  ret->version = text("0.1.0");
  ret->summary = text("one task and one statement, from C");
  ret->config_schema = text("{\"type\":\"object\",\"additionalProperties\":false}");
}

bool exports_syrch_plugin_about_configure(exports_syrch_plugin_about_json_t *config, exports_syrch_plugin_about_failure_t *err) {
  (void)err;
  both_string_free(config);
  return true;
}

bool exports_syrch_plugin_planner_plan(
    exports_syrch_plugin_planner_problem_t *problem, exports_syrch_plugin_planner_catalog_t *catalog,
    exports_syrch_plugin_planner_graph_t *ret, exports_syrch_plugin_planner_failure_t *err) {
  (void)err;
  // What is zero: no option is there, no list has elements, nothing is tolerated.
  syrch_plugin_types_task_t *task = zeroed(sizeof *task);
  task->id = text("answer");
  task->text = take(&problem->question);
  task->operation.tag = SYRCH_PLUGIN_TYPES_OPERATION_SOLVE;
  task->join.tag = SYRCH_PLUGIN_TYPES_JOIN_ALL_OF;
  task->priority = 1;

  memset(ret, 0, sizeof *ret);
  ret->tasks.ptr = task;
  ret->tasks.len = 1;
  ret->answer = text("answer");

  syrch_plugin_types_problem_free(problem);
  syrch_plugin_types_catalog_free(catalog);
  return true;
}

bool exports_syrch_plugin_planner_next(
    exports_syrch_plugin_planner_problem_t *problem, exports_syrch_plugin_planner_catalog_t *catalog,
    exports_syrch_plugin_planner_graph_t *graph, exports_syrch_plugin_planner_list_observation_t *seen, uint32_t fresh,
    exports_syrch_plugin_planner_step_t *ret, exports_syrch_plugin_planner_failure_t *err) {
  (void)fresh;
  (void)err;
  memset(ret, 0, sizeof *ret);
  if (graph->memo.is_some) {
    ret->memo.is_some = true;
    ret->memo.val = take(&graph->memo.val);
  }
  syrch_plugin_types_problem_free(problem);
  syrch_plugin_types_catalog_free(catalog);
  syrch_plugin_types_graph_free(graph);
  exports_syrch_plugin_planner_list_observation_free(seen);
  return true;
}

// What happened: one attempt, which ran.
static void count(syrch_plugin_types_signals_t *signals, const syrch_plugin_types_profile_t *profile) {
  syrch_plugin_run_policy_t policy;
  syrch_plugin_run_current_policy(&policy);
  signals->attempts = 1;
  signals->max_attempts = policy.max_attempts;
  signals->empty_result = profile->rows == 0;
  signals->overflow = profile->truncated;
  for (size_t i = 0; i < profile->columns.len; i++) {
    if (profile->rows > 0 && profile->columns.ptr[i].nulls == profile->rows) signals->null_columns++;
  }
}

bool exports_syrch_plugin_solver_solve(
    exports_syrch_plugin_solver_problem_t *problem, exports_syrch_plugin_solver_catalog_t *catalog,
    exports_syrch_plugin_solver_task_t *task, exports_syrch_plugin_solver_list_parent_t *parents,
    exports_syrch_plugin_solver_outcome_t *ret, exports_syrch_plugin_solver_failure_t *err) {
  syrch_plugin_types_problem_free(problem);
  syrch_plugin_types_catalog_free(catalog);
  syrch_plugin_types_task_free(task);
  exports_syrch_plugin_solver_list_parent_free(parents);

  both_string_t statement;
  both_string_set(&statement, STATEMENT);
  syrch_plugin_sql_own_result_set_t results;
  syrch_plugin_sql_sql_error_t refused;
  if (!syrch_plugin_sql_run(&statement, &results, &refused)) {
    static const char said[] = STATEMENT ": ";
    size_t head = sizeof said - 1;
    memset(err, 0, sizeof *err);
    err->kind.tag = SYRCH_PLUGIN_TYPES_FAILURE_KIND_DATABASE;
    err->message.len = head + refused.message.len;
    err->message.ptr = zeroed(err->message.len);
    memcpy(err->message.ptr, said, head);
    if (refused.message.len > 0) memcpy(err->message.ptr + head, refused.message.ptr, refused.message.len);
    syrch_plugin_types_sql_error_free(&refused);
    return false;
  }
  syrch_plugin_types_profile_t profile;
  syrch_plugin_sql_method_result_set_profile(syrch_plugin_sql_borrow_result_set(results), &profile);
  syrch_plugin_sql_result_set_drop_own(results);

  syrch_plugin_types_candidate_t *candidate = zeroed(sizeof *candidate);
  candidate->id = text("c-1");
  candidate->origin = text(NAME);
  candidate->sql = text(STATEMENT);
  candidate->raw_confidence.is_some = true;
  candidate->raw_confidence.val = 0.5;
  candidate->rationale.is_some = true;
  candidate->rationale.val = text("always the same statement");
  count(&candidate->signals, &profile);
  syrch_plugin_types_profile_free(&profile);
  syrch_plugin_trace_propose(candidate);

  memset(ret, 0, sizeof *ret);
  ret->candidates.ptr = candidate;
  ret->candidates.len = 1;
  return true;
}
