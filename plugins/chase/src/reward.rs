//! The reward: the results of one task compete.

use syrch_plugin::draws::groups;
use syrch_plugin::prelude::*;
use syrch_plugin::text::{count, count32};

use crate::Chase;
use crate::compare::{Matter, Shown};
use crate::tournament::{Entrant, Standing, compete};

impl RewardRole for Chase {
    /// One verdict for each rival, by the comparisons that its result won: the score is their
    /// share, and a result that won none is rejected. A result that was not compared, or that the
    /// model did not decide on, is `unavailable`.
    fn judge(
        &self,
        host: &impl RewardHost,
        problem: &Problem,
        catalog: &Catalog,
        task: &Task,
        rivals: &[Rival],
    ) -> Result<Vec<Verdict>, Failure> {
        let grouped = groups(
            &rivals
                .iter()
                .map(|rival: &Rival| {
                    // Without fingerprints each text has its own.
                    rival
                        .results
                        .fingerprint(&Equality::Bag)
                        .unwrap_or_else(|| format!("text {}", rival.candidate.sql))
                })
                .collect::<Vec<_>>(),
        );
        let entrants: Vec<Entrant> = grouped
            .iter()
            .map(|members: &Vec<usize>| {
                let first = &rivals[members[0]];
                let shown = Shown { sql: &first.candidate.sql, results: &first.results };
                Entrant { id: &first.candidate.id, shown, size: count32(members.len()) }
            })
            .collect();
        let matter = Matter { settings: &self.settings, problem, catalog, task };
        let standings = compete(host, &matter, &entrants, self.settings.comparisons);
        Ok((0..rivals.len())
            .map(|place: usize| {
                let group = grouped.iter().position(|members| members.contains(&place));
                verdict(group.and_then(|group| standings.get(group)), grouped.len())
            })
            .collect())
    }
}

fn verdict(standing: Option<&Standing>, results: usize) -> Verdict {
    let Some((standing, share)) = standing.and_then(|standing| Some((standing, standing.share()?)))
    else {
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
