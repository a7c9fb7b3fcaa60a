//! Merges the shards of a run: the same answers in the same order as if one process had given all
//! of them.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use syrch_core::text;

use super::changed::find_changes;
use super::graded::Graded;
use super::header::{Header, Shard};
use super::read::RunRecord;

/// The reason why runs are no shards of one run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to put together.
    #[error("there is no run to merge")]
    Nothing,
    /// One run is over the whole suite.
    #[error("the run `{run}` is no shard: it was over the whole suite")]
    Whole {
        /// The id of the run.
        run: String,
    },
    /// The runs were started with different settings.
    #[error(
        "the runs `{first}` and `{second}` are no shards of one run: they differ in: {}",
        text::few(differing)
    )]
    Different {
        /// The id of the first run.
        first: String,
        /// The id of the other run.
        second: String,
        /// The differences, as phrases.
        differing: Vec<String>,
    },
    /// The runs are parts of different numbers of parts.
    #[error("the runs `{first}` and `{second}` are no shards of one run: {one} and {other}")]
    Parts {
        /// The id of the first run.
        first: String,
        /// The id of the other run.
        second: String,
        /// The shard of the first run.
        one: Shard,
        /// The shard of the other run.
        other: Shard,
    },
    /// The same part comes twice.
    #[error("the runs `{first}` and `{second}` are both shard {shard}")]
    Twice {
        /// The id of the first run.
        first: String,
        /// The id of the other run.
        second: String,
        /// The shard of both runs.
        shard: Shard,
    },
    /// A run holds a question of another shard.
    #[error(
        "the run `{run}` is shard {shard} and holds the question `{id}`, whose place {place} is not of it"
    )]
    Foreign {
        /// The id of the run.
        run: String,
        /// The shard of the run.
        shard: Shard,
        /// The id of the question.
        id: String,
        /// The place of the question in the suite, from 0.
        place: u64,
    },
}

/// A run that was merged from its shards.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The run as if one process had executed it. Its id is made from those of the shards, its time
    /// is that of the slowest.
    pub record: RunRecord,
    /// Sentences about missing answers. Empty for a complete run.
    pub warnings: Vec<String>,
}

/// Merges the shards of one run, in any order. Missing shards are reported by warnings. A single
/// run over the whole suite is returned unchanged.
///
/// # Errors
/// When they are no shards of one run, or overlap.
pub fn merge(mut runs: Vec<RunRecord>) -> Result<Merged, MergeError> {
    if let [one] = runs.as_mut_slice()
        && one.header.shard.is_none()
    {
        return Ok(Merged { warnings: Vec::new(), record: runs.remove(0) });
    }
    runs.sort_by_key(|run| run.header.shard);
    check(&runs)?;
    let warnings = missing(&runs);
    let mut runs = runs.into_iter();
    let mut record = runs.next().ok_or(MergeError::Nothing)?;
    let mut ids = Sha256::new_with_prefix(&record.header.id);
    for run in runs {
        ids.update(&run.header.id);
        record.elapsed = record.elapsed.max(run.elapsed);
        record.graded.extend(run.graded);
        for (arm, tries) in run.earlier {
            let together = record.earlier.get(&arm).map_or(tries, |before| before.with(tries));
            record.earlier.insert(arm, together);
        }
    }
    record.header = Header { id: hex(&ids.finalize()), shard: None, ..record.header };
    let order: BTreeMap<String, usize> = record
        .header
        .arms
        .iter()
        .enumerate()
        .map(|(place, arm)| (arm.name.clone(), place))
        .collect();
    record.graded.sort_by_key(|graded: &Graded| (graded.place, order.get(&graded.arm).copied()));
    Ok(Merged { record, warnings })
}

fn check(runs: &[RunRecord]) -> Result<(), MergeError> {
    let first = runs.first().ok_or(MergeError::Nothing)?;
    let mut before: Option<(&RunRecord, Shard)> = None;
    for run in runs {
        let id = run.header.id.clone();
        let shard = run.header.shard.ok_or_else(|| MergeError::Whole { run: id.clone() })?;
        let header = Header { shard: first.header.shard, ..run.header.clone() };
        let differing = find_changes(&without_answers(&first.header), &without_answers(&header));
        if !differing.is_empty() {
            return Err(MergeError::Different {
                first: first.header.id.clone(),
                second: id,
                differing,
            });
        }
        if let Some((other, one)) = before {
            let first = other.header.id.clone();
            if one.of != shard.of {
                return Err(MergeError::Parts { first, second: id, one, other: shard });
            }
            if one == shard {
                return Err(MergeError::Twice { first, second: id, shard });
            }
        }
        if let Some(graded) = run.graded.iter().find(|graded| !shard.holds(graded.place)) {
            let place = graded.place;
            let question = graded.id.clone();
            return Err(MergeError::Foreign { run: id, shard, id: question, place });
        }
        before = Some((run, shard));
    }
    Ok(())
}

/// The header without the setting of files with answers, which each shard may have on its own.
fn without_answers(header: &Header) -> Header {
    let mut header = header.clone();
    for settings in header.arms.iter_mut().filter_map(|arm| arm.settings.as_object_mut()) {
        settings.shift_remove("answers");
    }
    header
}

/// Sentences about missing shards and answers.
fn missing(runs: &[RunRecord]) -> Vec<String> {
    let shards: Vec<Shard> = runs.iter().filter_map(|run| run.header.shard).collect();
    let of = shards.first().map_or(1, |shard| shard.of);
    let absent = (1..=of).map(|index| Shard { index, of }).filter(|shard| !shards.contains(shard));
    let absent: Vec<String> = absent.map(|shard| shard.to_string()).collect();
    let mut warnings = Vec::new();
    match absent.as_slice() {
        [] => {}
        [one] => warnings.push(format!("shard {one} is missing")),
        all => warnings.push(format!("{} shards are missing: {}", all.len(), text::few(all))),
    }
    for run in runs.iter().filter(|run| !run.is_whole()) {
        let shard = run.header.shard.map(|shard| shard.to_string()).unwrap_or_default();
        let id = &run.header.id;
        let has = run.graded.len();
        let of = run.total_answers();
        warnings.push(format!("shard {shard} (run {id}) holds {has} of its {of} answers"));
    }
    warnings
}

/// An id like that of any run.
fn hex(digest: &[u8]) -> String {
    syrch_core::text::hex(&digest[..8])
}
