//! The next proposal: which rules apply to the best statement, in which order, and which of them
//! were tried.

pub(crate) mod flat;
pub(crate) mod plan;
pub(crate) mod refs;
pub(crate) mod rules;
pub(crate) mod scope;
pub(crate) mod sql;
pub(crate) mod subquery;
pub(crate) mod walk;
pub(crate) mod work;

use sqlparser::ast::Query;
use syrch_plugin::prelude::*;

use self::plan::Signs;
use self::rules::{RULES, Rule};
use self::sql::Engine;
use self::work::Work;
use crate::{RewriteRules, Settings};

impl RewriterRole for RewriteRules {
    fn rewrite(
        &self,
        _host: &impl RewriterHost,
        original: &str,
        best: &str,
        plan: &Plan,
        catalog: &Catalog,
        history: &[Attempt],
    ) -> Result<Option<Proposal>, Failure> {
        let Some(engine) = Engine::for_dialect(&catalog.dialect) else {
            let what = format!("there are no rules for {}", catalog.syntax.title);
            return Err(failure(FailureKind::Unsupported, what));
        };
        let start = if best.is_empty() { original } else { best };
        let mut proposals = proposals(&self.settings, engine, start, &plan.text, catalog);
        // The proposals from one best statement are always the same list. What was tried before it
        // became the best is left out, and of the others the first that has not had its turn is the
        // next.
        let since = history
            .iter()
            .rposition(|attempt: &Attempt| matches!(attempt.trial, Trial::Accepted(_)))
            .map_or(0, |place| place + 1);
        let (earlier, later) = history.split_at(since);
        let written = |text: &str| {
            engine.query(text).map_or_else(|| text.to_owned(), |query| query.to_string())
        };
        let mut known: Vec<String> = earlier.iter().map(|attempt| written(&attempt.sql)).collect();
        known.extend([written(original), written(start)]);
        proposals.retain(|proposal| !known.contains(&proposal.sql));
        Ok(proposals.into_iter().nth(later.len()))
    }
}

/// Returns the proposals for a statement, the most promising first: a rule is applied to all places
/// that it fits, and later to each alone.
pub(crate) fn proposals(
    settings: &Settings,
    engine: Engine,
    text: &str,
    plan: &str,
    catalog: &Catalog,
) -> Vec<Proposal> {
    let query = Some(text).filter(|text| text.len() <= settings.statement_bytes as usize);
    let Some(query) = query.and_then(|text| engine.query(text)) else { return Vec::new() };
    let signs = Signs::from_plan(engine, plan);
    let mut rules: Vec<&Rule> = RULES.iter().collect();
    rules.sort_by_key(|rule| std::cmp::Reverse((rule.promise)(&signs)));
    let mut whole = Vec::new();
    let mut single = Vec::new();
    let apply = |rule: &Rule, only: Option<usize>| {
        let mut work = Work::new(catalog, engine, plan, &query, only);
        let mut new: Query = query.clone();
        (rule.apply)(&mut new, &mut work);
        (new, work.places())
    };
    let proposal =
        |rule: &Rule, query: &Query| Proposal::new(query.to_string(), rule.family, rule.reason);
    for rule in rules {
        let (new, places) = apply(rule, None);
        if places == 0 {
            continue;
        }
        whole.push(proposal(rule, &new));
        if places > 1 {
            let each = (0..places.min(settings.places as usize))
                .map(|place| proposal(rule, &apply(rule, Some(place)).0));
            single.extend(each);
        }
    }
    let mut all: Vec<Proposal> = Vec::new();
    for proposal in whole.into_iter().chain(single) {
        if all.iter().all(|known| known.sql != proposal.sql) {
            all.push(proposal);
        }
    }
    all
}
