//! The strategy `progressive`: a statement that grows step by step, the most confident step first.
//!
//! After the design document's pipeline, with the branches and repairs that it only plans. The
//! planner divides the question into sub-tasks with confidences and writes CHASE-SQL's three-step
//! plan. The solver executes the sub-task with the highest confidence, has the statement judged
//! against that sub-task, takes it over, recalculates the remaining confidences, and continues;
//! what is not accepted makes branches. The reward asks a model whether a statement means what was
//! asked. The roles work with others' too: the solver takes a task without sub-tasks as one step,
//! and the reward judges any candidate.
//!
//! Cumulative reward is the sum of the rewards of a branch's sub-tasks: 1.0 for an accepted one,
//! 0.5 for one that was not judged, nothing for a failed one, however many statements it took. A
//! line with more accepted sub-tasks so ranks above one with fewer.
//!
//! When sub-tasks are left undone and the reward did not accept the statement as the whole, its raw
//! confidence is scaled by the share of sub-tasks that are done, and its rationale says so.
//!
//! | setting | default | test that shows its effect |
//! |---|---|---|
//! | `plan` | true | `planning::settings_reach_their_calls` |
//! | `max_subtasks` | 16 | `planning::settings_reach_their_calls` |
//! | `subtask_max_tokens`, `plan_max_tokens` | 2048 | `planning::settings_reach_their_calls` |
//! | `confidence_temperature` | 0 | `planning::settings_reach_their_calls` |
//! | `max_iterations` | 10 | `course::rounds_are_bounded_and_the_rest_is_reported` |
//! | `high_confidence_threshold` | 0.85 | `course::a_sub_task_below_the_threshold_waits_for_a_recalculation` |
//! | `acceptance_threshold` | 1.0 | `beam::what_is_below_the_threshold_gets_alternatives_and_is_better_than_nothing` |
//! | `max_syntax_retries` | 2 | `course::syntax_is_repaired_so_often_and_other_errors_are_not` |
//! | `recalculate_every` | 1 | `course::recalculation_has_an_interval_a_limit_and_a_model` |
//! | `recalculation_max_tokens` | 1024 | `course::recalculation_has_an_interval_a_limit_and_a_model` |
//! | `sql_max_tokens` | 512 | `course::statements_have_a_model_and_a_limit_and_dependencies_rows` |
//! | `parent_rows` | 3 | `course::statements_have_a_model_and_a_limit_and_dependencies_rows` |
//! | `dependents` | repair | `recovery::dependents_of_a_failed_step_are_skipped` and the next two |
//! | `context` | all | `course::the_context_may_be_the_latest_step_alone` |
//! | `most_in_vain` | 9 | `recovery::a_model_that_writes_nothing_that_runs_is_left_alone` |
//! | `judge_steps` | true | `course::steps_may_go_unjudged_and_count_a_half` |
//! | `alternatives` | 3 | `beam::alternatives_have_a_number_and_a_temperature` |
//! | `alternative_temperature` | 0.7 | `beam::alternatives_have_a_number_and_a_temperature` |
//! | `beam_width` | 5 | `beam::the_beam_is_cut_to_its_width` |
//! | `max_branch_depth` | 3 | `beam::rejected_alternatives_branch_again_as_deep_as_allowed` |
//! | `judgment_temperature` | 0 | `judging::settings_and_grants_bound_what_is_shown` |
//! | `judgment_max_tokens` | 512 | `judging::settings_and_grants_bound_what_is_shown` |
//! | `judged_rows` | 3 | `judging::settings_and_grants_bound_what_is_shown` |
//! | `catalog_bytes` | 48000 | `planning::the_catalog_has_as_many_bytes_as_it_is_given` |
//! | `model_subtasks`, `model_plan` | empty | `planning::settings_reach_their_calls` |
//! | `model_sql` | empty | `course::statements_have_a_model_and_a_limit_and_dependencies_rows` |
//! | `model_judge` | empty | `judging::settings_and_grants_bound_what_is_shown` |

mod class;
mod planner;
mod reward;
mod settings;
mod solver;
mod subtask;
#[cfg(test)]
mod tests;

pub use crate::settings::{Accumulation, Dependents, Settings};

syrch_plugin::plugin! {
    /// The planner, the solver and the reward.
    pub struct Progressive(Settings) = "progressive",
        "executes confident sub-tasks one by one, judges what each statement means, and branches \
         where it is wrong";
}

syrch_plugin::export!(Progressive: planner, solver, reward);
