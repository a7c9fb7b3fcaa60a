//! The metrics that are defined for a host, as the ports of a search use them: requests for them
//! are compiled, and statements are compared with them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::NaiveDate;
use syrch_core::ports::{CompiledMetric, Definitions, Facts, RowsGrant};
use syrch_core::{Catalog, Dialect, Problem, Term};
use syrch_journal::RowRetention;
use syrch_offline::{describe_origin, question_day};
use syrch_semantics::{
    Request, RequestText, Semantics, compile, describe_terms, find_added, find_departures,
    find_missing, spell_request,
};

use crate::{Host, Settings};

/// The limit on the requests that a search remembers.
const REQUESTS: usize = 256;

/// The requests of which statements were compiled, by these: the latest of a search.
#[derive(Debug, Default)]
pub(crate) struct Requests(Mutex<VecDeque<(String, Request)>>);

impl Requests {
    fn add(&self, sql: &str, request: Request) {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|(known, _)| known != sql);
        list.push_back((sql.to_owned(), request));
        if list.len() > REQUESTS {
            list.pop_front();
        }
    }

    /// Returns the request of which a statement was compiled.
    pub(crate) fn find(&self, sql: &str) -> Option<Request> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().find(|(known, _)| known == sql.trim()).map(|(_, request)| request.clone())
    }
}

/// The definitions of a search.
pub(crate) struct Defined {
    semantics: Arc<Semantics>,
    /// The requests of the search, in all wordings of its problem; conversations go on from them.
    requests: Arc<Requests>,
    /// True if the question stands alone: an explanation, or what it goes on from, may ask for
    /// more.
    is_alone: bool,
    dialect: Dialect,
    /// The day that "last month" and the like count from.
    today: NaiveDate,
}

impl Defined {
    /// The definitions of a search that begins now.
    pub(crate) fn new(
        semantics: &Arc<Semantics>,
        requests: &Arc<Requests>,
        dialect: Dialect,
        problem: &Problem,
    ) -> Self {
        let today = question_day(semantics, problem);
        let is_alone = problem.evidence.is_none() && problem.answers.is_empty();
        Self {
            semantics: Arc::clone(semantics),
            requests: Arc::clone(requests),
            is_alone,
            dialect,
            today,
        }
    }
}

impl Definitions for Defined {
    fn compile(&self, request: &str) -> Result<CompiledMetric, String> {
        let text = RequestText::from_json(request).map_err(|error| error.to_string())?;
        let request = text.read(self.today, self.semantics.week_start);
        let request = request.map_err(|error| error.to_string())?;
        let named = request.clone().with_named_groups();
        let compiled = compile(&self.semantics, &named, &self.dialect, self.today);
        let compiled = compiled.map_err(|error| error.to_string())?;
        let request = spell_request(&self.semantics, &request);
        let request = request.map_err(|error| error.to_string())?;
        self.requests.add(&compiled.sql, request);
        let origin = describe_origin(&compiled.applied, &compiled.columns);
        Ok(CompiledMetric { sql: compiled.sql, applied: compiled.applied.words(), origin })
    }

    fn find_departures(&self, question: &str, sql: &str, facts: &Facts) -> Vec<String> {
        let mut found = find_departures(&self.semantics, question, facts);
        if let Some(request) = self.requests.find(sql) {
            found.extend(find_missing(&self.semantics, question, &request, self.today));
            if self.is_alone {
                found.extend(find_added(&self.semantics, question, &request, self.today));
            }
        }
        found
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
