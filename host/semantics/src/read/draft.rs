//! The content of a file before its names are resolved: the value of each key, with its place.

use chrono::NaiveDate;

use crate::{Cardinality, Format, Literal, Place, WeekStart};

/// A text of the file.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) place: Place,
}

/// The content of all files.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) today: Option<(NaiveDate, Place)>,
    pub(super) week_start: Option<(WeekStart, Place)>,
    pub(super) tables: Vec<TableDraft>,
    pub(super) joins: Vec<JoinDraft>,
    pub(super) metrics: Vec<MetricDraft>,
}

#[derive(Debug)]
pub(super) struct TableDraft {
    pub(super) name: Written,
    pub(super) source: Option<String>,
    pub(super) synonyms: Vec<Written>,
    pub(super) description: Option<String>,
    pub(super) grain: Option<String>,
    pub(super) key: Vec<String>,
    pub(super) time: Option<Written>,
    pub(super) filter: Option<Written>,
    pub(super) dimensions: Vec<DimensionDraft>,
}

#[derive(Debug)]
pub(super) struct DimensionDraft {
    pub(super) name: Written,
    pub(super) expression: Option<Written>,
    pub(super) kind: Option<Kind>,
    pub(super) synonyms: Vec<Written>,
    pub(super) labels: Vec<LabelDraft>,
    pub(super) description: Option<String>,
}

/// The type of a dimension, as far as the file states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Time,
    /// A text that names a row of its table.
    Name,
    Text,
    Number,
    Boolean,
}

#[derive(Debug)]
pub(super) struct LabelDraft {
    pub(super) value: Literal,
    pub(super) synonyms: Vec<Written>,
    pub(super) place: Place,
}

#[derive(Debug)]
pub(super) struct JoinDraft {
    pub(super) from: Vec<Written>,
    pub(super) to: Vec<Written>,
    pub(super) cardinality: Cardinality,
    pub(super) place: Place,
}

#[derive(Debug)]
pub(super) struct MetricDraft {
    pub(super) name: Written,
    pub(super) kind: KindDraft,
    pub(super) synonyms: Vec<Written>,
    pub(super) description: Option<String>,
    pub(super) format: Format,
    pub(super) unit: Option<String>,
}

#[derive(Debug)]
pub(super) enum KindDraft {
    Measure {
        aggregate: Written,
        table: Option<Written>,
        filter: Option<Written>,
        time: Option<Written>,
    },
    Ratio {
        numerator: Written,
        denominator: Written,
    },
    Derived(Written),
}
