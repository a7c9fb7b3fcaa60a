//! The sections of the report on a statement.

syrch_report::sections! {
    /// A section of the report on a statement. The report on a run over a corpus has these for each
    /// statement, below its own gates.
    pub(crate) enum Section {
        /// The result, in one sentence.
        Verdict: ["outcome", "reason", "interrupted"],
        /// Warnings about the measurement and the run.
        Notes: ["warnings"],
        /// Both statements, before and after, and what they read.
        Statements: ["given", "original", "best", "tables", "columns", "is_ordered"],
        /// The plans of both statements.
        Plans: ["plans"],
        /// The last measurement, with its pairs and the noise of the clock.
        Timings: ["confirmation", "probe"],
        /// The proposals, with their reasons and what became of them.
        Iterations: ["iterations"],
        /// The host, the database, the cost and the settings of the run.
        Setup: ["schema", "run", "host", "database", "rewriter", "cost", "settings"],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use syrch_report::Keys;

    use super::super::made;
    use super::*;

    #[test]
    fn every_key_of_the_document_belongs_to_a_section() {
        let document = serde_json::to_value(made::make_optimized()).unwrap();
        let written: BTreeSet<&str> =
            document.as_object().unwrap().keys().map(String::as_str).collect();
        let shown: BTreeSet<&str> =
            Section::ALL.iter().flat_map(|section| section.keys()).copied().collect();
        assert_eq!(shown, written);
    }
}
