//! The sections of a report. Each renderer matches all of them, so the compiler names every place
//! that a new section needs.

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident: $keys:expr,)*) => {
        /// A section of the report on a statement. The report on a run over a corpus has these for
        /// each statement, below its own gates.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Section {
            $($(#[$doc])* $name,)*
        }

        impl Section {
            /// All sections in the order in which they are shown.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            /// The keys of the document that the section shows.
            #[cfg(test)]
            fn keys(self) -> &'static [&'static str] {
                match self { $(Self::$name => &$keys,)* }
            }
        }
    };
}

sections! {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
