//! The solver `text2sql`: schema, one statement, and repairs by the error, as PocketFlow's text-to-SQL workflow has it; with the judge,
//! the majority vote and the self-healing of its neighbours for those who turn them on.
//!
//! `prompts` and `schema` write the prompts, `work` runs the tries, `judge` asks whether a statement answers the question, `vote`
//! chooses among the tries.

mod prompts;
mod settings;
mod solver;
#[cfg(test)]
mod tests;

pub use crate::settings::Settings;

syrch_plugin::plugin! {
    /// Implements the role `solver`.
    pub struct Text2Sql(Settings) = "text2sql",
        "writes one statement from the schema, executes it, and repairs it by the error";
}

syrch_plugin::export!(Text2Sql: solver);
