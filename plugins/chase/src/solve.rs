//! The solver: candidates from several generators, grouped by what they return, and the choice among the groups.

use serde_json::json;
use syrch_plugin::prelude::*;
use syrch_plugin::text::{count, line};

use crate::Habits;
use crate::cluster::{counted, grouped, mark};
use crate::compare::{Matter, Shown};
use crate::draw::{Contender, Drawing, Drawn};
use crate::generate::{Prompts, lots};
use crate::tournament::{Entrant, Standing, compete};

/// One candidate for each result that was found, best first. With nothing found, an outage or a spent budget is a failure, and anything
/// else an honest empty outcome.
pub(crate) fn solve(
    host: &impl SolverHost,
    habits: &Habits,
    problem: &Problem,
    catalog: &Catalog,
    task: &Task,
    parents: &[Parent],
) -> Result<Outcome, Failure> {
    let lots = lots(habits);
    if lots.is_empty() {
        let why = "no generator is turned on: query_plan, divide_and_conquer and direct are all 0";
        return Err(failure(FailureKind::Input, why));
    }
    let prompts = Prompts::new(host, habits, problem, catalog, task, parents);
    let drawn = Drawing::new(host, habits, task, prompts, &lots).run();
    if drawn.contenders.is_empty() {
        return nothing(host, drawn);
    }
    if let Some(failure) = &drawn.failed {
        host.note(Level::Warn, &format!("{}: going on with what there is: {}", task.id, failure.message));
    }
    let matter = Matter { habits, problem, catalog, task };
    Ok(Outcome { candidates: select(host, &matter, drawn), ..Outcome::default() })
}

fn nothing(host: &impl SolverHost, drawn: Drawn) -> Result<Outcome, Failure> {
    if let Some(failure) = drawn.failed {
        return Err(failure);
    }
    let last = drawn.wrong.unwrap_or_else(|| "the model gave no statement".to_owned());
    let why = match drawn.heard {
        0 => last,
        heard => format!("none of {} did: {last}", count(u64::from(heard), "candidate")),
    };
    // The host tells the user the last warning when a task comes to nothing; the clarifier reads the memo.
    host.note(Level::Warn, &why);
    Ok(Outcome { memo: Some(json!({ "reason": line(&why, 600) }).to_string()), ..Outcome::default() })
}

/// Those of the same result, by the earliest of them.
struct Group {
    /// The places of its members, ascending.
    members: Vec<usize>,
    size: u32,
    standing: Standing,
}

fn select(host: &impl SolverHost, matter: &Matter, drawn: Drawn) -> Vec<Candidate> {
    let Drawn { contenders, heard, .. } = drawn;
    let marks: Vec<String> =
        contenders.iter().map(|contender| mark(&contender.results, &contender.candidate.sql)).collect();
    let grouped = grouped(&marks);
    let ids =
        |members: &[usize]| members.iter().map(|place| contenders[*place].candidate.id.clone()).collect::<Vec<_>>();
    for members in &grouped {
        let (ids, rows) = (ids(members), contenders[members[0]].rows);
        host.event(ids.first().map(String::as_str), "cluster", &json!({ "members": ids, "of": heard, "rows": rows }));
        for other in ids.iter().skip(1) {
            host.discard(other, &format!("it has the same result as {}", ids[0]));
        }
    }
    let standings =
        compete(host, matter, &entrants(&contenders, &grouped), comparisons(matter.habits, &grouped, heard));
    let mut groups: Vec<Group> = grouped
        .into_iter()
        .zip(standings)
        .map(|(members, standing)| Group { size: counted(members.len()), members, standing })
        .collect();
    // Stable: equal points leave the order of the agreement, which is that of the sizes and then of the draws.
    groups.sort_by(|a, b| b.standing.points.total_cmp(&a.standing.points));
    let candidates: Vec<Candidate> =
        groups.iter().map(|group| candidate(matter.habits, &contenders, group, heard)).collect();
    tell(host, &candidates, &groups, heard);
    candidates
}

/// None where agreement has decided already.
fn comparisons(habits: &Habits, grouped: &[Vec<usize>], heard: u32) -> u32 {
    let leading = grouped.first().map_or(0, |members| counted(members.len()));
    let is_clear = f64::from(leading) >= habits.clear_lead * f64::from(heard);
    if is_clear { 0 } else { habits.comparisons }
}

fn entrants<'a>(contenders: &'a [Contender], grouped: &[Vec<usize>]) -> Vec<Entrant<'a>> {
    let entrant = |members: &Vec<usize>| {
        let first = &contenders[members[0]];
        let shown = Shown { sql: &first.candidate.sql, results: &first.results };
        Entrant { id: &first.candidate.id, shown, size: counted(members.len()) }
    };
    grouped.iter().map(entrant).collect()
}

/// The candidate that stands for a group, with the confidence of [`claim`]. Its score is the share of the points that it could have.
fn candidate(habits: &Habits, contenders: &[Contender], group: &Group, heard: u32) -> Candidate {
    let first = &contenders[group.members[0]].candidate;
    let mut signals = first.signals.clone();
    // A draw without rivals agrees with nothing.
    if heard > 1 {
        (signals.samples, signals.agreeing) = (heard, group.size);
    }
    signals.extra.push(("comparisons-won".to_owned(), f64::from(group.standing.won)));
    signals.extra.push(("comparisons-lost".to_owned(), f64::from(group.standing.lost)));
    let pairs = contenders.len().saturating_sub(1) as f64;
    Candidate {
        raw_confidence: Some(claim(habits, first, group, heard)),
        score: (pairs > 0.0).then(|| group.standing.points / pairs),
        signals,
        ..first.clone()
    }
}

/// The share of the draws that agree on a result, out of all for which the model replied; where the result was compared, the mean of that
/// and the share of comparisons won. Of a draw without rivals what the model says itself.
fn claim(habits: &Habits, first: &Candidate, group: &Group, heard: u32) -> f64 {
    if heard <= 1 {
        return first.raw_confidence.unwrap_or(habits.unstated);
    }
    let agreement = f64::from(group.size) / f64::from(heard);
    group.standing.share().map_or(agreement, |share| f64::midpoint(agreement, share))
}

/// Tells which result was kept and why the others were not.
fn tell(host: &impl SolverHost, candidates: &[Candidate], groups: &[Group], heard: u32) {
    let mut ranked = candidates.iter().zip(groups);
    let Some((best, kept)) = ranked.next() else { return };
    let agreement = match heard {
        0 | 1 => "the only candidate".to_owned(),
        heard => format!("{} of {heard} candidates agree", kept.size),
    };
    host.keep(&best.id, &format!("{agreement}{}", compared(&kept.standing)));
    for (other, group) in ranked {
        let (points, most) = (group.standing.points, kept.standing.points);
        let why = if points < most {
            format!("{points} points against {most} of {}", best.id)
        } else {
            format!("as many points as {}, but later", best.id)
        };
        host.discard(&other.id, &format!("{why}{}", compared(&group.standing)));
    }
}

fn compared(standing: &Standing) -> String {
    match standing.won + standing.lost {
        0 => String::new(),
        decided => format!(", {} of {} won", standing.won, count(u64::from(decided), "comparison")),
    }
}
