//! The metrics that are defined for a host, as the ports of a search use them: requests for them
//! are compiled, and statements are compared with them.

use std::sync::Arc;

use chrono::NaiveDate;
use syrch_core::ports::{CompiledMetric, Definitions, Facts, RowsGrant};
use syrch_core::{Catalog, Dialect, Problem, Term};
use syrch_journal::RowRetention;
use syrch_offline::{describe_origin, question_day};
use syrch_semantics::{RequestText, Semantics, compile, describe_terms, find_departures};

use crate::{Host, Settings};

/// The definitions of a search.
pub(crate) struct Defined {
    semantics: Arc<Semantics>,
    dialect: Dialect,
    /// The day that "last month" and the like count from.
    today: NaiveDate,
}

impl Defined {
    /// The definitions of a search that begins now.
    pub(crate) fn new(semantics: &Arc<Semantics>, dialect: Dialect, problem: &Problem) -> Self {
        let today = question_day(semantics, problem);
        Self { semantics: Arc::clone(semantics), dialect, today }
    }
}

impl Definitions for Defined {
    fn compile(&self, request: &str) -> Result<CompiledMetric, String> {
        let text = RequestText::from_json(request).map_err(|error| error.to_string())?;
        let request = text.read(self.today, self.semantics.week_start);
        let request = request.map_err(|error| error.to_string())?.with_named_groups();
        let compiled = compile(&self.semantics, &request, &self.dialect, self.today);
        let compiled = compiled.map_err(|error| error.to_string())?;
        let origin = describe_origin(&compiled.applied, &compiled.columns);
        Ok(CompiledMetric { sql: compiled.sql, applied: compiled.applied.words(), origin })
    }

    fn find_departures(&self, question: &str, facts: &Facts) -> Vec<String> {
        find_departures(&self.semantics, question, facts)
    }
}

/// The problem with the terms that the plugins of a search are shown. Values of dimensions are
/// cells: they need the grant, and a journal that retains them, since it holds the problem.
pub(crate) fn add_terms(host: &Host, problem: Problem, catalog: &Catalog) -> Problem {
    let Some(semantics) = host.semantics() else { return problem };
    let Settings { rows, journal, .. } = host.settings();
    let shows_cells = matches!(rows, RowsGrant::Sample(_) | RowsGrant::Full)
        && (journal.folder.is_none() || journal.rows != RowRetention::None);
    let terms = describe_terms(semantics, catalog, &problem.question, shows_cells);
    Problem { terms, ..problem }
}

/// The tables that the metrics of a question are computed from.
pub(crate) fn list_needed(terms: &[Term]) -> Vec<&str> {
    let mut needed: Vec<&str> = Vec::new();
    for table in terms.iter().filter(|term| term.mentioned).flat_map(|term| &term.tables) {
        if !needed.contains(&table.as_str()) {
            needed.push(table);
        }
    }
    needed
}
