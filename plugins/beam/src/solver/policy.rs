//! Decides when to explore another table: the policies `beam` and `exhaustive` of syrch 0.3.7, over
//! groups of equal results.

use serde_json::json;
use syrch_plugin::prelude::*;

use crate::solver::explore::Explorer;
use crate::solver::outcome;
use crate::solver::path::{Found, Path};
use crate::solver::weigh::{Cluster, clusters, count_tied, margin};

/// Explores as far as the policy says, and makes the outcome.
pub(crate) fn search<H: SolverHost>(mut explorer: Explorer<'_, H>) -> Result<Outcome, Failure> {
    let settings = explorer.settings;
    if settings.exhaustive {
        explorer.explore(explorer.left());
    } else {
        let budget = settings.candidate_budget as usize;
        explorer.explore(budget.min(settings.beam_width as usize));
        while explorer.paths.len() < budget && is_open(&explorer) && explorer.explore(1) {}
        let mut extra = 0;
        while extra < settings.expansion
            && count_tied(&standing(&explorer.paths)) > 1
            && explorer.explore(1)
        {
            extra += 1;
        }
    }
    if explorer.paths.iter().all(|path| path.viable.is_none() && path.unsound.is_none()) {
        explorer.last_resort();
    }
    outcome::outcome(&explorer)
}

/// Returns the viable results in groups, best first.
pub(crate) fn standing<'p>(paths: &'p [Path<'_>]) -> Vec<Cluster<'p>> {
    clusters(paths.iter().filter_map(|path| path.viable.as_ref()))
}

/// Returns true if there are too few viable results yet, or the best is not far enough ahead.
fn is_open<H: SolverHost>(explorer: &Explorer<'_, H>) -> bool {
    let clusters = standing(&explorer.paths);
    let viable: Vec<&Found> =
        explorer.paths.iter().filter_map(|path| path.viable.as_ref()).collect();
    let margin = margin(&clusters, explorer.settings.agreement);
    // Standings are sums of shares: rounding must not decide.
    let is_open = viable.len() < 2 || margin + 1e-9 < explorer.settings.stop_margin;
    let reported = json!({
        "viable": viable.len(), "results": clusters.len(), "margin": margin, "go_on": is_open
    });
    explorer.host.event(None, "weigh", &reported);
    is_open
}
