//! The planner `direct`: the whole question is one task. No model is called.

mod planner;
#[cfg(test)]
mod tests;

use syrch_plugin::prelude::NoSettings;

syrch_plugin::plugin! {
    /// Implements the role `planner`.
    pub struct Direct(NoSettings) = "direct",
        "takes the whole question as one task, without a model";
}

syrch_plugin::export!(Direct: planner);
