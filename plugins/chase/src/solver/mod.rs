//! The solver: candidates from several generators, grouped by what they return, and the choice
//! among the groups.

mod draw;

use serde_json::json;
use syrch_plugin::attempt::{carry_on, nothing};
use syrch_plugin::draws::groups;
use syrch_plugin::prelude::*;
use syrch_plugin::text::{count, count32};

use crate::compare::{Matter, Shown};
use crate::prompts::{Prompts, generators};
use crate::tournament::{Entrant, Standing, compete};
use crate::{Chase, Settings};
use draw::{Contender, Drawing, Drawn};

impl SolverRole for Chase {
    /// One candidate for each result, best first. Without one, an unavailable model or database and
    /// a used-up budget are failures, and everything else is an empty outcome.
    fn solve(
        &self,
        host: &impl SolverHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        parents: &[Parent],
    ) -> Result<Outcome, Failure> {
        let settings = &self.settings;
        let generators = generators(settings);
        if generators.is_empty() {
            let why =
                "no generator is turned on: query_plan, divide_and_conquer and direct are all 0";
            return Err(failure(FailureKind::Input, why));
        }
        let prompts = Prompts::new(host, settings, problem, catalog, task, parents);
        let drawn = Drawing::new(host, settings, task, prompts, &generators).run();
        match drawn.failed {
            Some(failure) if drawn.contenders.is_empty() => return Err(failure),
            Some(ref failure) => carry_on(host, task, Level::Warn, &failure.message),
            None if drawn.contenders.is_empty() => {
                let last = drawn.wrong.unwrap_or_else(|| "the model gave no statement".to_owned());
                let why = match drawn.replied {
                    0 => last,
                    replied => {
                        format!("none of {} did: {last}", count(u64::from(replied), "candidate"))
                    }
                };
                return Ok(nothing(host, &why));
            }
            None => {}
        }
        let matter = Matter { settings, problem, catalog, task };
        Ok(Outcome { candidates: select(host, &matter, drawn), ..Outcome::default() })
    }
}

/// The weight of the model's stated confidence against the agreement, as a number of further draws.
const CLAIM_WEIGHT: f64 = 2.0;

/// The candidates with one result.
struct Group {
    /// The places of the members, ascending.
    members: Vec<usize>,
    size: u32,
    standing: Standing,
}

fn select(host: &impl SolverHost, matter: &Matter, drawn: Drawn) -> Vec<Candidate> {
    let Drawn { contenders, replied, .. } = drawn;
    let fingerprints: Vec<&str> =
        contenders.iter().map(|contender| contender.ran.fingerprint.as_str()).collect();
    let grouped = groups(&fingerprints);
    let ids = |members: &[usize]| {
        members.iter().map(|place| contenders[*place].candidate.id.clone()).collect::<Vec<_>>()
    };
    for members in &grouped {
        let ids = ids(members);
        let rows = contenders[members[0]].ran.profile.rows;
        host.event(
            ids.first().map(String::as_str),
            "cluster",
            &json!({ "members": ids, "of": replied, "rows": rows }),
        );
        for other in ids.iter().skip(1) {
            host.discard(other, &format!("it has the same result as {}", ids[0]));
        }
    }
    let standings = compete(
        host,
        matter,
        &entrants(&contenders, &grouped),
        comparisons(matter.settings, &grouped, replied),
    );
    let mut groups: Vec<Group> = grouped
        .into_iter()
        .zip(standings)
        .map(|(members, standing)| Group { size: count32(members.len()), members, standing })
        .collect();
    // The sort is stable: with equal points, larger groups come first, and then earlier draws.
    groups.sort_by(|a, b| b.standing.points.total_cmp(&a.standing.points));
    let candidates: Vec<Candidate> = groups
        .iter()
        .map(|group| candidate(matter.settings, &contenders, group, replied))
        .collect();
    log(host, &candidates, &groups, replied);
    candidates
}

/// The number of comparisons: 0 if agreement has already decided.
fn comparisons(settings: &Settings, grouped: &[Vec<usize>], replied: u32) -> u32 {
    let leading = grouped.first().map_or(0, |members| count32(members.len()));
    let is_clear = f64::from(leading) >= settings.clear_lead * f64::from(replied);
    if is_clear { 0 } else { settings.comparisons }
}

fn entrants<'a>(contenders: &'a [Contender], grouped: &[Vec<usize>]) -> Vec<Entrant<'a>> {
    grouped
        .iter()
        .map(|members: &Vec<usize>| {
            let first = &contenders[members[0]];
            let shown = Shown { sql: &first.candidate.sql, results: &first.ran.results };
            Entrant { id: &first.candidate.id, shown, size: count32(members.len()) }
        })
        .collect()
}

/// The candidate that represents a group, with the confidence of [`claim`]. Its score is the share
/// of the points that it could have.
fn candidate(
    settings: &Settings,
    contenders: &[Contender],
    group: &Group,
    replied: u32,
) -> Candidate {
    let first = &contenders[group.members[0]].candidate;
    let mut signals = first.signals.clone();
    // A single draw agrees with nothing.
    if replied > 1 {
        (signals.samples, signals.agreeing) = (replied, group.size);
    }
    signals.extra.push(("comparisons-won".to_owned(), f64::from(group.standing.won)));
    signals.extra.push(("comparisons-lost".to_owned(), f64::from(group.standing.lost)));
    let pairs = contenders.len().saturating_sub(1) as f64;
    Candidate {
        raw_confidence: Some(
            contenders[group.members[0]].ran.limit(claim(settings, contenders, group, replied)),
        ),
        score: (pairs > 0.0).then(|| group.standing.points / pairs),
        signals,
        ..first.clone()
    }
}

/// The share of the draws that agree on a result, out of all with a reply; where the result was
/// compared, the mean of that and the share of comparisons won. The mean confidence that the model
/// states for them counts as [`CLAIM_WEIGHT`] further draws in the place of one, and is all that a
/// single draw has.
fn claim(settings: &Settings, contenders: &[Contender], group: &Group, replied: u32) -> f64 {
    let members = group.members.iter().map(|place| &contenders[*place].candidate);
    let stated: Vec<f64> = members.filter_map(|member| member.raw_confidence).collect();
    let claim = stated.iter().sum::<f64>() / stated.len().max(1) as f64;
    if replied <= 1 {
        return if stated.is_empty() { settings.unstated } else { claim };
    }
    let size = f64::from(group.size);
    let agreement = match stated.is_empty() {
        true => size / f64::from(replied),
        false => (size - 1.0 + CLAIM_WEIGHT * claim) / (f64::from(replied) - 1.0 + CLAIM_WEIGHT),
    };
    group.standing.share().map_or(agreement, |share| f64::midpoint(agreement, share))
}

/// Logs which result was chosen and why the others were not.
fn log(host: &impl SolverHost, candidates: &[Candidate], groups: &[Group], replied: u32) {
    let mut ranked = candidates.iter().zip(groups);
    let Some((best, first)) = ranked.next() else { return };
    let agreement = match replied {
        0 | 1 => "the only candidate".to_owned(),
        replied => format!("{} of {replied} candidates agree", first.size),
    };
    host.keep(&best.id, &format!("{agreement}{}", describe_record(&first.standing)));
    for (other, group) in ranked {
        let points = group.standing.points;
        let most = first.standing.points;
        let why = if points < most {
            format!("{points} points against {most} of {}", best.id)
        } else {
            format!("as many points as {}, but later", best.id)
        };
        host.discard(&other.id, &format!("{why}{}", describe_record(&group.standing)));
    }
}

fn describe_record(standing: &Standing) -> String {
    match standing.won + standing.lost {
        0 => String::new(),
        decided => format!(", {} of {} won", standing.won, count(u64::from(decided), "comparison")),
    }
}
