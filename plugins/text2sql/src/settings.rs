//! What the user may set.

syrch_plugin::settings! {
    /// The numbers of tries and executions, the judge, and the prompts.
    pub struct Settings {
        /// Statements that one try executes at most, as far as the policy's attempts allow: 3 executions are 2 repairs.
        max_debug_attempts: u32 = 3, 1 ..= 20;
        /// Whether a repair is shown all earlier statements of its try, and not the last alone.
        self_healing: bool = false;
        /// Tries, of which the most common result wins; a try that fails is dropped.
        votes: u32 = 1, 1 ..= 50;
        /// Whether a judge reads a statement that ran, and one that it does not pass is written anew. Where it cannot judge, which is
        /// neither a yes nor a no, the statement stands with a warning.
        judge: bool = false;
        /// Statements of one try that the judge reads; when none of them passes, the try has failed.
        judge_attempts: u32 = 3, 1 ..= 10;
        /// The judge's score, of 10, from which on a statement passes whatever the verdict.
        pass_score: f64 = 7.0, 0.0 ..= 10.0;
        /// The confidence of a single try without rows.
        unstated: f64 = 0.7, 0.0 ..= 1.0;
        /// The confidence of a single try with rows.
        unstated_with_rows: f64 = 0.85, 0.0 ..= 1.0;
        /// Rows above this number count as more than a good answer has.
        overflow_rows: u64 = 1000, 1 ..= 1_000_000_000;
        /// Rows of a result that the judge sees, and of each finished dependency that stand in the prompt, as far as they are granted.
        shown_rows: u32 = 3, 0 ..= 50;
        /// Bytes of a prompt that the schema may fill.
        schema_bytes: u32 = 48_000, 500 ..= 200_000;
    }
}
