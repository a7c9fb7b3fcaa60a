//! The formats of rows that a command prints.

use clap::ValueEnum;
use syrch::report::json_value;
use syrch::syrch_core::ResultSet;
pub(crate) use syrch_report::terminal::{self, table};
pub(crate) use syrch_report::{Grid, csv, json, markdown, plain};

/// The format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people: the same as `table`
    #[default]
    Auto,
    /// A drawn table
    Table,
    /// One JSON document, also for errors
    Json,
    /// One JSON object a row
    Jsonl,
    /// Comma-separated values; text that a spreadsheet would compute gets a leading '
    Csv,
    /// GitHub's Markdown
    Markdown,
}

impl Format {
    /// Returns true if programs read it as JSON, so that errors are documents too.
    pub(crate) fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }

    /// The grid in this format; `None` for [`Format::Json`], whose documents differ by command.
    pub(crate) fn render(self, grid: &Grid, width: Option<u16>) -> Option<String> {
        match self {
            Self::Auto | Self::Table => Some(table::render(grid, width)),
            Self::Jsonl => Some(json::lines(grid)),
            Self::Csv => Some(csv::render(grid)),
            Self::Markdown => Some(markdown::table(grid)),
            Self::Json => None,
        }
    }
}

/// All rows of a result.
pub(crate) fn grid(result: &ResultSet) -> Grid {
    let rows = result.rows(0, u64::MAX);
    Grid {
        columns: result.columns().into_iter().map(|column| column.name).collect(),
        rows: rows.into_iter().map(|row| row.iter().map(json_value).collect()).collect(),
    }
}
