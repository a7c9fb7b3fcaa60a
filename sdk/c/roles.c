// The exports of a component: each fills in what the role's function gets, and turns its false into a failure. `plugin build` defines
// SYRCH_ROLE_… for each role of plugin.yml, so that a component exports those and no others.

#ifdef __wasm__

#include "syrch.h"

void exports_syrch_about_describe(syrch_identity_t *ret) {
  *ret = (syrch_identity_t){
      .name = syrch_text(syrch_plugin.name),
      .version = syrch_text(syrch_plugin.version),
      .summary = syrch_text(syrch_plugin.summary),
      .config_schema = syrch_settings_schema(&syrch_plugin),
  };
}

bool exports_syrch_about_configure(syrch_string_t *config, syrch_failure_t *err) {
  syrch_string_t wrong;
  if (syrch_read_settings(&syrch_plugin, *config, &wrong)) return true;
  syrch_string_t message = syrch_concat(syrch_text(syrch_plugin.name), syrch_text(": "), wrong);
  *err = (syrch_failure_t){.kind = {.tag = SYRCH_FAILURE_KIND_INPUT}, .message = message};
  return false;
}

static inline bool end(bool done, syrch_failure_t *err) {
  syrch_drop_all();
  if (!done) *err = syrch_failure();
  return done;
}

#ifdef SYRCH_ROLE_LINKER
bool exports_syrch_linker_link(syrch_problem_t *problem, syrch_catalog_t *catalog, syrch_linked_t *ret, syrch_failure_t *err) {
  syrch_link_t in = {.problem = problem, .catalog = catalog};
  *ret = (syrch_linked_t){0};
  return end(syrch_link(&in, ret), err);
}
#endif

#ifdef SYRCH_ROLE_PLANNER
bool exports_syrch_planner_plan(syrch_problem_t *problem, syrch_catalog_t *catalog, syrch_graph_t *ret, syrch_failure_t *err) {
  syrch_first_plan_t in = {.problem = problem, .catalog = catalog};
  *ret = (syrch_graph_t){0};
  return end(syrch_plan(&in, ret), err);
}

__attribute__((weak)) bool syrch_next(const syrch_next_t *in, syrch_step_t *out) {
  out->memo = in->graph->memo;
  return true;
}

bool exports_syrch_planner_next(syrch_problem_t *problem, syrch_catalog_t *catalog, syrch_graph_t *graph, syrch_list_observation_t *seen, uint32_t fresh,
                                syrch_step_t *ret, syrch_failure_t *err) {
  size_t first = fresh < seen->len ? fresh : seen->len;
  syrch_next_t in = {.problem = problem, .catalog = catalog, .graph = graph, .seen = *seen, .fresh = first};
  *ret = (syrch_step_t){0};
  return end(syrch_next(&in, ret), err);
}
#endif

#ifdef SYRCH_ROLE_SOLVER
bool exports_syrch_solver_solve(syrch_problem_t *problem, syrch_catalog_t *catalog, syrch_task_t *task, syrch_list_parent_t *parents, syrch_outcome_t *ret,
                                syrch_failure_t *err) {
  for (size_t i = 0; i < parents->len; i++) {
    syrch_output_t *output = &parents->ptr[i].output;
    if (output->tag == SYRCH_OUTPUT_RELATION) syrch_own(output->val.relation.results.__handle, syrch_results_drop_);
  }
  syrch_solve_t in = {.problem = problem, .catalog = catalog, .task = task, .parents = *parents};
  *ret = (syrch_outcome_t){0};
  return end(syrch_solve(&in, ret), err);
}
#endif

#ifdef SYRCH_ROLE_CALIBRATOR
void exports_syrch_calibrator_calibrate(syrch_list_claim_t *claims, syrch_list_f64_t *ret) {
  syrch_calibrate_t in = {.claims = *claims};
  *ret = (syrch_list_f64_t){0};
  syrch_failure_t failure;
  // The contract has no failure here, so that the call ends.
  if (!end(syrch_calibrate(&in, ret), &failure)) syrch_panic("%.*s", SYRCH_F(failure.message));
}
#endif

#ifdef SYRCH_ROLE_REWARD
bool exports_syrch_reward_judge(syrch_problem_t *problem, syrch_catalog_t *catalog, syrch_task_t *task, syrch_list_rival_t *rivals,
                                syrch_list_verdict_t *ret, syrch_failure_t *err) {
  for (size_t i = 0; i < rivals->len; i++) syrch_own(rivals->ptr[i].results.__handle, syrch_results_drop_);
  syrch_judge_t in = {.problem = problem, .catalog = catalog, .task = task, .rivals = *rivals};
  *ret = (syrch_list_verdict_t){0};
  return end(syrch_judge(&in, ret), err);
}
#endif

#ifdef SYRCH_ROLE_CLARIFIER
bool exports_syrch_clarifier_assess(syrch_problem_t *problem, syrch_catalog_t *catalog, syrch_graph_t *graph, syrch_list_observation_t *seen,
                                    syrch_list_question_t *ret, syrch_failure_t *err) {
  syrch_assess_t in = {.problem = problem, .catalog = catalog, .graph = graph, .seen = *seen};
  *ret = (syrch_list_question_t){0};
  return end(syrch_assess(&in, ret), err);
}
#endif

#ifdef SYRCH_ROLE_AGGREGATOR
bool exports_syrch_aggregator_aggregate(syrch_problem_t *problem, syrch_graph_t *graph, syrch_list_finished_t *finished, syrch_list_observation_t *seen,
                                        syrch_option_answer_t *ret, syrch_failure_t *err) {
  for (size_t i = 0; i < finished->len; i++) syrch_own(finished->ptr[i].results.__handle, syrch_results_drop_);
  syrch_aggregate_t in = {.problem = problem, .graph = graph, .finished = *finished, .seen = *seen};
  *ret = (syrch_option_answer_t){0};
  return end(syrch_aggregate(&in, ret), err);
}
#endif

#ifdef SYRCH_ROLE_REWRITER
bool exports_syrch_rewriter_rewrite(syrch_string_t *original, syrch_string_t *best, syrch_plan_t *plan, syrch_catalog_t *catalog,
                                    syrch_list_attempt_t *history, syrch_option_proposal_t *ret, syrch_failure_t *err) {
  syrch_rewrite_t in = {.original = *original, .best = *best, .plan = plan, .catalog = catalog, .history = *history};
  *ret = (syrch_option_proposal_t){0};
  return end(syrch_rewrite(&in, ret), err);
}
#endif

#endif
