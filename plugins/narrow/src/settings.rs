//! The settings of the plugin.

use crate::linker::phrases::Phrases;

syrch_plugin::words! {
    /// The questions for which a model is asked for keywords.
    pub enum Keywords { Foreign = "foreign", Never = "never", Always = "always" }
}

impl Keywords {
    /// Returns true if a model is asked for the keywords of a question.
    pub(crate) fn is_asked(self, phrases: &Phrases) -> bool {
        match self {
            Self::Never => false,
            Self::Foreign => phrases.is_foreign,
            Self::Always => true,
        }
    }
}

syrch_plugin::settings! {
    /// The limits and weights by which a catalog is narrowed.
    pub struct Settings {
        /// Bytes that the tables may fill in a prompt. A catalog that is not longer stays whole.
        catalog_bytes: u32 = 4_200, 500 ..= 200_000;
        /// Share of the bytes for as many tables as possible, each with its keys and the columns
        /// that were found; the rest shows the best tables with more of their columns.
        breadth: f64 = 0.6, 0.0 ..= 1.0;
        /// Weight of what is found by words.
        lexical: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of names that are spelled nearly so.
        path_fuzzy: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of lines of comments and business terms.
        segment_fuzzy: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of tables in whose cells a phrase of the question stands, as far as cells are
        /// granted.
        values: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of what is found by embeddings, where the host has a model for them.
        vector: f64 = 1.0, 0.0 ..= 10.0;
        /// Weight of tables that notes and solved examples name.
        notes: f64 = 1.0, 0.0 ..= 10.0;
        /// Added to ranks when retrievers are fused: the higher, the more a find of many retrievers
        /// counts over the first place of one.
        smoothing: f64 = 10.0, 0.0 ..= 1000.0;
        /// The share of a table's own score that its neighbours by foreign keys have too.
        neighbours: f64 = 0.3, 0.0 ..= 1.0;
        /// Tables whose score is below this share of the best one's are left out, also where they
        /// would fit, as in syrch 0.3.7; but not those of which one retriever is sure.
        least: f64 = 0.3, 0.0 ..= 1.0;
        /// The best tables between which all tables on the shortest join paths are selected.
        closure: u32 = 4, 0 ..= 16;
        /// The questions for which a model is asked for keywords first (CHESS): none, for questions
        /// that are not in English, or all.
        keywords: Keywords = Keywords::Foreign;
        /// Found cells and notes that the other roles get, at most.
        hints: u32 = 8, 0 ..= 20;
        /// Solved examples that the other roles get, at most: those that are most like the
        /// question.
        examples: u32 = 4, 0 ..= 12;
        /// Gives the other roles two to four examples that are made from the tables, where no
        /// solved one is found.
        made_examples: bool = true;
        /// Gives the other roles the values of columns with few, and the ends of numbers and dates,
        /// as far as cells are granted.
        facts: bool = true;
    }
}
