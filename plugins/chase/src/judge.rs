//! The reward: the rivals of one task compete, each for the result that it shares with others.

use syrch_plugin::prelude::*;
use syrch_plugin::text::count;

use crate::Habits;
use crate::cluster::{counted, grouped, mark};
use crate::compare::{Matter, Shown};
use crate::tournament::{Entrant, Standing, compete};

/// One verdict for each rival, by the comparisons that its result won: the score is their share, and a result that won none is rejected.
/// Results that were not compared, or on which the model had no word, are `unavailable`: a tournament tells nothing of a single result.
pub(crate) fn judge(
    host: &impl RewardHost,
    habits: &Habits,
    problem: &Problem,
    catalog: &Catalog,
    task: &Task,
    rivals: &[Rival],
) -> Vec<Verdict> {
    let marks: Vec<String> = rivals.iter().map(|rival| mark(&rival.results, &rival.candidate.sql)).collect();
    let grouped = grouped(&marks);
    let entrant = |members: &Vec<usize>| {
        let first = &rivals[members[0]];
        let shown = Shown { sql: &first.candidate.sql, results: &first.results };
        Entrant { id: &first.candidate.id, shown, size: counted(members.len()) }
    };
    let entrants: Vec<Entrant> = grouped.iter().map(entrant).collect();
    let matter = Matter { habits, problem, catalog, task };
    let standings = compete(host, &matter, &entrants, habits.comparisons);
    let verdict = |place: usize| {
        let group = grouped.iter().position(|members| members.contains(&place));
        verdict(group.and_then(|group| standings.get(group)), grouped.len())
    };
    (0..rivals.len()).map(verdict).collect()
}

fn verdict(standing: Option<&Standing>, results: usize) -> Verdict {
    let Some((standing, share)) = standing.and_then(|standing| Some((standing, standing.share()?))) else {
        let why = if results < 2 {
            "there is no other result to compare it with"
        } else {
            "no comparison came to a word on it"
        };
        return Verdict::Unavailable(why.to_owned());
    };
    let decided = count(u64::from(standing.won + standing.lost), "comparison");
    let reason = format!("its result won {} of {decided}", standing.won);
    if standing.won == 0 { rejected(0.0, reason) } else { accepted(share, reason) }
}
