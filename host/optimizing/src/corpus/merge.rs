//! Merges the shards of a run over a corpus: the lines of all statements in the order of the
//! manifest, as if one process had written them.

use sha2::{Digest, Sha256};
use syrch_suites::run::Shard;

use super::{CorpusHeader, CorpusLine};

/// The reason why runs over a corpus are no shards of one run, or not all of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorpusMergeError {
    /// There is nothing to merge.
    #[error("there is no run to merge")]
    Nothing,
    /// Several runs are named, and one is over all statements.
    #[error("the run `{run}` is no shard: it was over all statements")]
    Whole {
        /// The id of the run.
        run: String,
    },
    /// The runs were started with different settings, or are of different numbers of shards.
    #[error("the runs `{first}` and `{second}` are no shards of one run: {reason}")]
    Different {
        /// The id of the first run.
        first: String,
        /// The id of the other run.
        second: String,
        /// The difference.
        reason: String,
        /// The shard of the other run.
        shard: Shard,
    },
    /// The same shard comes twice.
    #[error("the runs `{first}` and `{second}` are both shard {shard}")]
    Twice {
        /// The id of the first run.
        first: String,
        /// The id of the other run.
        second: String,
        /// The shard of both runs.
        shard: Shard,
    },
    /// Statements are missing.
    #[error("the run is not whole: shard {shard} has {has} of its {of} statements")]
    Hole {
        /// The first shard that lacks statements.
        shard: Shard,
        /// The statements that it has.
        has: u64,
        /// The statements that it is to have.
        of: u64,
    },
    /// A line is of another shard, or comes twice.
    #[error(
        "the run `{run}` is shard {shard} and has a line of the statement at place {place}, which \
         is not of it or comes twice"
    )]
    Foreign {
        /// The id of the run.
        run: String,
        /// The shard of the run.
        shard: Shard,
        /// The place of the statement, from 0.
        place: u64,
    },
}

impl CorpusMergeError {
    /// The shard that is to be run again, or on. `None` where the error is not of any.
    #[must_use]
    pub fn shard_to_run(&self) -> Option<Shard> {
        match self {
            Self::Different { shard, .. }
            | Self::Hole { shard, .. }
            | Self::Foreign { shard, .. } => Some(*shard),
            Self::Nothing | Self::Whole { .. } | Self::Twice { .. } => None,
        }
    }
}

/// A run over a corpus as its folder holds it.
pub type SavedCorpusRun = (CorpusHeader, Vec<CorpusLine>);

/// Merges the shards of one run, in any order. A single run is returned unchanged, finished or not.
///
/// # Errors
/// When they are no shards of one run, overlap, or a statement is missing.
pub fn merge_corpus_runs(
    mut runs: Vec<SavedCorpusRun>,
) -> Result<(CorpusHeader, Vec<CorpusLine>), CorpusMergeError> {
    if runs.len() <= 1 {
        let (header, lines) = runs.pop().ok_or(CorpusMergeError::Nothing)?;
        return Ok((header, lines));
    }
    runs.sort_by_key(|(header, _)| header.shard);
    check(&runs)?;
    let ids = runs.iter().fold(Sha256::new(), |ids, (header, _)| ids.chain_update(&header.id));
    let id = syrch_core::text::hex(&ids.finalize()[..8]);
    let mut runs = runs.into_iter();
    let (header, mut lines) = runs.next().ok_or(CorpusMergeError::Nothing)?;
    lines.extend(runs.flat_map(|(_, lines)| lines));
    lines.sort_by_key(|line| line.place);
    Ok((CorpusHeader { id, shard: None, ..header }, lines))
}

/// Checks that the runs, in the order of their shards, are all shards of one run.
fn check(runs: &[SavedCorpusRun]) -> Result<(), CorpusMergeError> {
    let (first, _) = runs.first().ok_or(CorpusMergeError::Nothing)?;
    let Some(parts) = first.shard.map(|shard| shard.of) else {
        return Err(CorpusMergeError::Whole { run: first.id.clone() });
    };
    let mut before: Option<(&str, Shard)> = None;
    for (header, _) in runs {
        let id = header.id.clone();
        let shard = header.shard.ok_or_else(|| CorpusMergeError::Whole { run: id.clone() })?;
        let other = (shard.of != parts).then(|| format!("one of {parts} shards and {shard}"));
        if let Some(reason) = first.difference(header).or(other) {
            let first = first.id.clone();
            return Err(CorpusMergeError::Different { first, second: id, reason, shard });
        }
        if let Some((first, _)) = before.filter(|(_, one)| *one == shard) {
            return Err(CorpusMergeError::Twice { first: first.to_owned(), second: id, shard });
        }
        before = Some((&header.id, shard));
    }
    let mut there = runs.iter().peekable();
    (1..=parts).try_for_each(|index| {
        let shard = Shard { index, of: parts };
        check_lines(shard, first.queries, there.next_if(|(one, _)| one.shard == Some(shard)))
    })
}

/// Checks that a shard has a line of each of its statements, and no other.
fn check_lines(
    shard: Shard,
    queries: u64,
    run: Option<&SavedCorpusRun>,
) -> Result<(), CorpusMergeError> {
    let mut places: Vec<u64> =
        run.iter().flat_map(|(_, lines)| lines.iter().map(|line| line.place)).collect();
    places.sort_unstable();
    let twice = places.windows(2).find(|pair| pair.first() == pair.last());
    let foreign = places.iter().find(|place| !shard.holds(**place) || **place >= queries);
    if let (Some((header, _)), Some(place)) = (run, foreign.or(twice.and_then(<[u64]>::first))) {
        return Err(CorpusMergeError::Foreign { run: header.id.clone(), shard, place: *place });
    }
    let of = shard.share(queries);
    let has = places.len() as u64;
    if has < of { Err(CorpusMergeError::Hole { shard, has, of }) } else { Ok(()) }
}
