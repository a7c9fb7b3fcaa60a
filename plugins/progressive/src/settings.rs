//! The settings of the plugin. The defaults are those of the design document where it names one.

use serde_json::{Value, json};
use syrch_plugin::settings::Setting;

syrch_plugin::settings! {
    /// All settings of the three roles; a role reads its own and leaves the others alone.
    pub struct Settings {
        /// Planner: whether to ask for the three-step plan that every later prompt shows.
        plan: bool = true;
        /// Planner: the most sub-tasks; later ones are cut off.
        max_subtasks: u32 = 16, 1 ..= 64;
        /// Planner: output tokens of the reply with sub-tasks.
        subtask_max_tokens: u32 = 2048, 16 ..= 65_536;
        /// Planner: output tokens of the reply with the plan.
        plan_max_tokens: u32 = 2048, 16 ..= 65_536;
        /// Planner and solver: temperature of calls that state confidences.
        confidence_temperature: f64 = 0.0, 0.0 ..= 2.0;
        /// Solver: rounds in which every open branch executes one sub-task.
        max_iterations: u32 = 10, 1 ..= 100;
        /// Solver: a sub-task at or above it is executed at once; one below it waits for a
        /// recalculation with all that was executed since the last. It has an effect where
        /// `recalculate_every` is above 1: at 1, the default, every step is followed by a
        /// recalculation anyway, and at 0 by none.
        high_confidence_threshold: f64 = 0.85, 0.0 ..= 1.0;
        /// Solver: an accepted statement whose reward is below it gets alternatives.
        acceptance_threshold: f64 = 1.0, 0.0 ..= 1.0;
        /// Solver: repairs of a statement that does not parse, within the attempts that the user
        /// allows; other errors are analysed instead.
        max_syntax_retries: u32 = 2, 0 ..= 10;
        /// Solver: executed sub-tasks between two recalculations of the remaining confidences; 0:
        /// never.
        recalculate_every: u32 = 1, 0 ..= 100;
        /// Solver: output tokens of a recalculation.
        recalculation_max_tokens: u32 = 1024, 16 ..= 65_536;
        /// Solver: output tokens of a statement. Models that think aloud need more.
        sql_max_tokens: u32 = 512, 16 ..= 65_536;
        /// Solver: what becomes of sub-tasks that wait for a failed one. `skip`: they are not
        /// executed; `proceed`: they go on without it; `repair`: the failed one is tried once more
        /// after the others, and then as `skip`.
        dependents: Dependents = Dependents::Repair;
        /// Solver: what a prompt states of the executed sub-tasks. `all`: each with the number of
        /// rows that the statement then gave, and the names in the statement so far; `latest`: the
        /// last one, with that number.
        context: Accumulation = Accumulation::All;
        /// Solver: whether each step is judged, or the whole statement alone.
        judge_steps: bool = true;
        /// Solver: replies in a row without a statement that runs, after which no more are asked
        /// for.
        most_in_vain: u32 = 9, 1 ..= 1000;
        /// Solver: alternatives of a step that was not accepted; 0: none, and so no branches.
        alternatives: u32 = 3, 0 ..= 16;
        /// Solver: temperature of alternatives.
        alternative_temperature: f64 = 0.7, 0.0 ..= 2.0;
        /// Solver: branches that stay open, best by cumulative reward.
        beam_width: u32 = 5, 1 ..= 32;
        /// Solver: how often a line of branches may branch.
        max_branch_depth: u32 = 3, 0 ..= 8;
        /// Solver: rows of each finished dependency that stand in the prompt, as far as they are
        /// granted.
        parent_rows: u32 = 3, 0 ..= 50;
        /// Reward: temperature of judgements.
        judgment_temperature: f64 = 0.0, 0.0 ..= 2.0;
        /// Reward: output tokens of a judgement.
        judgment_max_tokens: u32 = 512, 16 ..= 65_536;
        /// Reward: rows that the judge sees, as far as they are granted.
        judged_rows: u32 = 3, 0 ..= 50;
        /// All: bytes of a prompt that the catalog may fill.
        catalog_bytes: u32 = 48_000, 500 ..= 200_000;
        /// The configured model for sub-tasks and recalculations; empty: the one for the purpose.
        model_subtasks: String = String::new();
        /// The configured model for the plan; empty: the one for the purpose.
        model_plan: String = String::new();
        /// The configured model for statements; empty: the one for the purpose.
        model_sql: String = String::new();
        /// The configured model for judgements; empty: the one for the purpose.
        model_judge: String = String::new();
    }
}

/// A model's name as a request has it; `None` if it is empty.
pub(crate) fn model_name(model: &str) -> Option<String> {
    let name = model.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

macro_rules! words {
    (
        $(#[doc = $doc:literal])+ $name:ident {
            $($(#[doc = $about:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $about])+ $variant,)+
        }

        impl Setting for $name {
            const TYPE: &'static str = "string";
            const WORDS: &'static [&'static str] = &[$($word),+];

            fn from_json(value: &Value) -> Option<Self> {
                match value.as_str()? {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            fn to_json(&self) -> Value {
                match self {
                    $(Self::$variant => json!($word),)+
                }
            }
        }
    };
}

words! {
    /// The treatment of sub-tasks that wait for a failed one.
    Dependents {
        /// They are not executed.
        Skip = "skip",
        /// They go on without it.
        Proceed = "proceed",
        /// The failed one is tried once more after the others.
        Repair = "repair",
    }
}

words! {
    /// The part of the executed sub-tasks that a prompt states.
    Accumulation {
        /// Each, with the number of rows that the statement then gave, and the names in the
        /// statement so far.
        All = "all",
        /// The last one, with that number.
        Latest = "latest",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syrch_plugin::settings::Settings as _;

    #[test]
    fn words_are_read_and_others_refused_by_name() {
        let settings = Settings::read(r#"{"dependents": "proceed", "context": "latest"}"#).unwrap();
        assert_eq!(
            (settings.dependents, settings.context),
            (Dependents::Proceed, Accumulation::Latest)
        );
        assert_eq!(Settings::schema()["properties"]["dependents"]["default"], "repair");
        assert!(Settings::read(r#"{"dependents": "hope"}"#).unwrap_err().contains("`dependents`"));
        assert!(
            Settings::read(r#"{"acceptance_threshold": 1.5}"#)
                .unwrap_err()
                .contains("from 0.0 to 1.0")
        );
    }

    // The design document's table of hyperparameters, and its code's further ones.
    #[test]
    fn the_defaults_are_the_documents() {
        let settings = Settings::default();
        assert_eq!(
            (settings.high_confidence_threshold, settings.acceptance_threshold),
            (0.85, 1.0)
        );
        assert_eq!((settings.max_iterations, settings.max_syntax_retries), (10, 2));
        assert_eq!((settings.judgment_temperature, settings.judgment_max_tokens), (0.0, 512));
        assert_eq!(
            (settings.alternatives, settings.beam_width, settings.max_branch_depth),
            (3, 5, 3)
        );
        assert_eq!((settings.subtask_max_tokens, settings.plan_max_tokens), (2048, 2048));
        assert_eq!(
            (settings.recalculation_max_tokens, settings.sql_max_tokens, settings.judged_rows),
            (1024, 512, 3)
        );
    }
}
