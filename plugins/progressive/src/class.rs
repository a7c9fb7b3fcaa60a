//! Error analysis: what kind of error a statement shows, and what mends it.
//!
//! The five semantic classes come first, syntax last, as in the design document. The engine's
//! errors have typed kinds; what only the meaning shows, such as a wrong filter, comes from the
//! judge's answers.

use syrch_plugin::prelude::*;

use crate::reward::verdict::Aspect;

/// A class of errors, the most important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ErrorClass {
    WrongTable,
    WrongColumn,
    WrongJoin,
    WrongFilter,
    WrongAggregation,
    Timeout,
    InvalidOperation,
    Syntax,
}

use ErrorClass::{
    InvalidOperation, Syntax, Timeout, WrongAggregation, WrongColumn, WrongFilter, WrongJoin,
    WrongTable,
};

// Beginnings of words by which a judge's prose names a class.
const SPOKEN: &[(&str, ErrorClass)] = &[
    ("table", WrongTable),
    ("column", WrongColumn),
    ("join", WrongJoin),
    ("filter", WrongFilter),
    ("where", WrongFilter),
    ("condition", WrongFilter),
    ("aggregat", WrongAggregation),
    ("group", WrongAggregation),
    ("count", WrongAggregation),
    ("sum", WrongAggregation),
    ("average", WrongAggregation),
];

impl ErrorClass {
    /// All classes, the most important first.
    pub(crate) const ALL: [Self; 8] = [
        WrongTable,
        WrongColumn,
        WrongJoin,
        WrongFilter,
        WrongAggregation,
        Timeout,
        InvalidOperation,
        Syntax,
    ];

    /// The name in the design document.
    pub(crate) fn name(self) -> &'static str {
        match self {
            WrongTable => "wrong_table",
            WrongColumn => "wrong_column",
            WrongJoin => "wrong_join",
            WrongFilter => "wrong_filter",
            WrongAggregation => "wrong_aggregation",
            Timeout => "execution_timeout",
            InvalidOperation => "invalid_operation",
            Syntax => "syntax_error",
        }
    }

    /// Returns true if the error is about the meaning of the statement.
    pub(crate) fn is_semantic(self) -> bool {
        self <= WrongAggregation
    }

    /// Returns advice for the next statement.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            WrongTable => {
                "Look again at which listed table holds each thing that is asked about, and read \
                 from that one."
            }
            WrongColumn => {
                "Take each column from the listed columns of its own table, and select the ones \
                 that are asked for."
            }
            WrongJoin => {
                "Join along the listed keys, qualify every column with its table, and see that no \
                 join drops or doubles rows."
            }
            WrongFilter => {
                "Go through the conditions of the question one by one: the right column, the value \
                 as it is stored, AND or OR."
            }
            WrongAggregation => {
                "Decide what one row of the result stands for, group by exactly that, and count \
                 distinct things where rows repeat."
            }
            Timeout => {
                "Make it cheaper: filter before joining, and drop joins and columns that the \
                 result does not need."
            }
            InvalidOperation => {
                "Use a single SELECT with functions that this dialect has, on values of \
                 the right type."
            }
            Syntax => {
                "Write one complete statement in this dialect, with balanced \
                 parentheses and quotes."
            }
        }
    }

    /// The class of an engine's error.
    pub(crate) fn from_kind(kind: SqlErrorKind) -> Self {
        match kind {
            SqlErrorKind::Syntax => Syntax,
            SqlErrorKind::UnknownTable => WrongTable,
            SqlErrorKind::UnknownColumn => WrongColumn,
            SqlErrorKind::AmbiguousName => WrongJoin,
            SqlErrorKind::Timeout | SqlErrorKind::TooLarge => Timeout,
            _ => InvalidOperation,
        }
    }

    /// The class that a judge's opinion shows: the most important failed check, else what its words
    /// name first.
    pub(crate) fn from_opinion(opinion: &Opinion) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|class: &&Self| {
                Aspect::ALL.into_iter().any(|aspect| {
                    aspect.class() == Some(**class)
                        && opinion
                            .checks
                            .iter()
                            .any(|(name, passed)| !passed && name == aspect.check())
                })
            })
            .copied()
            .or_else(|| Self::from_words(&opinion.reason))
    }

    /// The class that a text names, else the one that it names first.
    pub(crate) fn from_words(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let named = Self::ALL.into_iter().find(|class| text.contains(class.name()));
        named.or_else(|| {
            text.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|word: &str| {
                SPOKEN.iter().find(|(start, _)| word.starts_with(start)).map(|(_, class)| *class)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_errors_have_their_classes_by_kind() {
        let class = ErrorClass::from_kind;
        assert_eq!(class(SqlErrorKind::UnknownTable), WrongTable);
        assert_eq!(class(SqlErrorKind::UnknownColumn), WrongColumn);
        assert_eq!(class(SqlErrorKind::AmbiguousName), WrongJoin);
        assert_eq!(class(SqlErrorKind::Timeout), Timeout);
        assert_eq!(class(SqlErrorKind::TooLarge), Timeout);
        assert_eq!(class(SqlErrorKind::FunctionRefused), InvalidOperation);
        assert_eq!(class(SqlErrorKind::WriteRefused), InvalidOperation);
        assert_eq!(class(SqlErrorKind::Syntax), Syntax);
    }

    // EP-14: the reference could never say `wrong_filter` or `wrong_aggregation`.
    #[test]
    fn a_judges_answers_give_all_five_semantic_classes() {
        for aspect in Aspect::ALL {
            let checks =
                vec![("right tables".to_owned(), true), (aspect.check().to_owned(), false)];
            let opinion = Opinion { score: 0.0, reason: "it is off".to_owned(), checks };
            assert_eq!(ErrorClass::from_opinion(&opinion), aspect.class());
        }
        let checks = [Aspect::Filters, Aspect::Columns]
            .map(|aspect| (aspect.check().to_owned(), false))
            .to_vec();
        let both = Opinion { score: 0.0, reason: "where?".to_owned(), checks };
        assert_eq!(ErrorClass::from_opinion(&both), Some(WrongColumn));
    }

    #[test]
    fn without_answers_the_words_decide() {
        assert_eq!(
            ErrorClass::from_words("The WHERE clause tests the wrong column."),
            Some(WrongFilter)
        );
        assert_eq!(
            ErrorClass::from_words("It should be counted per customer"),
            Some(WrongAggregation)
        );
        assert_eq!(ErrorClass::from_words("wrong_join: the table is doubled"), Some(WrongJoin));
        assert_eq!(ErrorClass::from_words("It is off."), None);
    }

    #[test]
    fn each_class_has_a_hint_of_its_own_and_a_place() {
        let mut hints: Vec<&str> = ErrorClass::ALL.iter().map(|class| class.hint()).collect();
        hints.sort_unstable();
        hints.dedup();
        assert_eq!(hints.len(), 8);
        assert!(ErrorClass::ALL.is_sorted());
        assert_eq!(ErrorClass::ALL.iter().filter(|class| class.is_semantic()).count(), 5);
    }
}
