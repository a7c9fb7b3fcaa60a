//! Merges the shards of a run: the same answers in the same order as if one process had given all
//! of them.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use syrch_core::text;

use super::Shard;
use super::changed::find_changes;
use super::graded::Graded;
use super::header::Header;
use super::line::Early;
use super::read::RunRecord;
use crate::Verdict;
use crate::stats::is_decided;

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
        /// The shard of the run that differs from most of them.
        shard: Shard,
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
        "the run `{run}` is shard {shard} and holds the question `{id}`, whose place {place} \
         is not of it"
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
    /// Shards or answers are missing.
    #[error("the run is not whole: {}", describe_holes(holes))]
    Holes {
        /// The shards that lack answers.
        holes: Vec<Hole>,
        /// Of a comparison that may stop early, the number of questions, from the first on, that
        /// all arms have answered and that have not decided it. `None` for other runs.
        undecided: Option<u64>,
    },
}

impl MergeError {
    /// The shards that are to be run again, or on. Empty where the error is not of any.
    #[must_use]
    pub fn shards_to_run(&self) -> Vec<Shard> {
        match self {
            Self::Different { shard, .. } | Self::Foreign { shard, .. } => vec![*shard],
            Self::Holes { holes, .. } => holes.iter().map(|hole| hole.shard).collect(),
            Self::Nothing | Self::Whole { .. } | Self::Parts { .. } | Self::Twice { .. } => {
                Vec::new()
            }
        }
    }
}

/// A shard that lacks answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// The shard.
    pub shard: Shard,
    /// The id of its run; `None` if there is no run of it.
    pub run: Option<String>,
    /// The answers that it holds.
    pub has: u64,
    /// The answers that it is to hold.
    pub of: u64,
}

/// The treatment of shards and answers that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// The merge is refused.
    Refuse,
    /// The rest is merged, and [`Merged::warnings`] say what is missing.
    Report,
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

/// Merges the shards of one run, in any order. A single run over the whole suite is returned
/// unchanged. A comparison that may stop early is decided here, over the questions in the order of
/// the suite up to the first that is not answered, as one process decides it.
///
/// # Errors
/// When they are no shards of one run, overlap, or what is missing is refused.
pub fn merge(mut runs: Vec<RunRecord>, missing: Missing) -> Result<Merged, MergeError> {
    if let [one] = runs.as_mut_slice()
        && one.header.shard.is_none()
    {
        return Ok(Merged { warnings: Vec::new(), record: runs.remove(0) });
    }
    runs.sort_by_key(|run| run.header.shard);
    check(&runs)?;
    let sizes: Vec<(Shard, String, Vec<u64>)> = runs
        .iter()
        .filter_map(|run| {
            let places = run.graded.iter().map(|graded| graded.place).collect();
            Some((run.header.shard?, run.header.id.clone(), places))
        })
        .collect();
    let mut record = join(runs)?;
    let mut undecided = None;
    if record.header.stop_early {
        match decide(&record) {
            Ok(early) => leave_ahead(&mut record, early),
            Err(questions) => undecided = Some(questions),
        }
    }
    let end = record.stopped.as_ref().map_or(record.header.suite.questions, |early| early.at + 1);
    let holes = find_holes(&sizes, end, record.header.arms.len() as u64);
    match missing {
        Missing::Refuse if !holes.is_empty() => Err(MergeError::Holes { holes, undecided }),
        Missing::Refuse | Missing::Report => {
            Ok(Merged { record, warnings: describe_missing(&holes) })
        }
    }
}

/// The answers of all shards in the order of the suite.
fn join(runs: Vec<RunRecord>) -> Result<RunRecord, MergeError> {
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
    record.header = Header { id: run_id(&ids.finalize()), shard: None, ..record.header };
    let order: BTreeMap<String, usize> = record
        .header
        .arms
        .iter()
        .enumerate()
        .map(|(place, arm)| (arm.name.clone(), place))
        .collect();
    record.graded.sort_by_key(|graded: &Graded| (graded.place, order.get(&graded.arm).copied()));
    Ok(record)
}

/// Finds the question at which the comparison of the first two arms is decided. The error is the
/// number of questions that both arms have answered without deciding it.
fn decide(record: &RunRecord) -> Result<Early, u64> {
    let mut names = record.header.arms.iter().map(|arm| arm.name.clone());
    let (Some(first), Some(second)) = (names.next(), names.next()) else { return Err(0) };
    let rule = record.header.rule.clone();
    let mut answers = record.graded.iter().peekable();
    let mut b = 0;
    let mut c = 0;
    for at in 0..record.header.suite.questions {
        let mut verdicts = [None, None];
        while let Some(graded) = answers.next_if(|graded| graded.place == at) {
            let arm = [&first, &second].iter().position(|name| **name == graded.arm);
            if let Some(slot) = arm.and_then(|arm| verdicts.get_mut(arm)) {
                *slot = Some(graded.verdict(&rule));
            }
        }
        let [Some(one), Some(other)] = verdicts else { return Err(at) };
        b += u64::from((one, other) == (Some(Verdict::Right), Some(Verdict::Wrong)));
        c += u64::from((one, other) == (Some(Verdict::Wrong), Some(Verdict::Right)));
        if is_decided(b, c) {
            return Ok(Early { at, first, second, rule, b, c });
        }
    }
    Err(record.header.suite.questions)
}

/// Leaves out the answers that ran ahead of the decision.
fn leave_ahead(record: &mut RunRecord, early: Early) {
    let before = record.graded.len();
    record.graded.retain(|graded| graded.place <= early.at);
    record.ahead = (before - record.graded.len()) as u64;
    record.stopped = Some(early);
}

/// The shards that lack answers to the questions before the place `end`. Each shard that is there
/// comes with its run and with the places of its answers.
fn find_holes(there: &[(Shard, String, Vec<u64>)], end: u64, arms: u64) -> Vec<Hole> {
    let of = there.first().map_or(1, |(shard, ..)| shard.of);
    let mut there = there.iter().peekable();
    (1..=of)
        .filter_map(|index| {
            let shard = Shard { index, of };
            let run = there.next_if(|(one, ..)| *one == shard);
            let of = shard.share(end).saturating_mul(arms);
            let places = run.map_or(&[][..], |(_, _, places)| places.as_slice());
            let has = places.iter().filter(|place| **place < end).count() as u64;
            (has < of).then(|| Hole { shard, run: run.map(|(_, id, _)| id.clone()), has, of })
        })
        .collect()
}

fn check(runs: &[RunRecord]) -> Result<(), MergeError> {
    check_headers(runs)?;
    let mut before: Option<(&RunRecord, Shard)> = None;
    for run in runs {
        let id = run.header.id.clone();
        let shard = run.header.shard.ok_or_else(|| MergeError::Whole { run: id.clone() })?;
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

/// Checks that all runs were started with the same. Of two kinds of runs the smaller is the wrong
/// one.
fn check_headers(runs: &[RunRecord]) -> Result<(), MergeError> {
    if runs.is_empty() {
        return Err(MergeError::Nothing);
    }
    let mut kinds: Vec<(Header, Vec<&Header>)> = Vec::new();
    for run in runs {
        let header = &run.header;
        if header.shard.is_none() {
            return Err(MergeError::Whole { run: header.id.clone() });
        }
        let bare = without_answers(&Header { shard: None, ..header.clone() });
        match kinds.iter_mut().find(|(known, _)| find_changes(known, &bare).is_empty()) {
            Some((_, same)) => same.push(header),
            None => kinds.push((bare, vec![header])),
        }
    }
    // The sort is stable: of equally frequent kinds, that of the first shard comes first.
    kinds.sort_by_key(|(_, same)| std::cmp::Reverse(same.len()));
    let mut kinds = kinds.into_iter();
    let (Some((usual, most)), Some((odd, others))) = (kinds.next(), kinds.next()) else {
        return Ok(());
    };
    let (Some(first), Some(second)) = (most.first(), others.first()) else { return Ok(()) };
    Err(MergeError::Different {
        first: first.id.clone(),
        second: second.id.clone(),
        differing: find_changes(&usual, &odd),
        shard: second.shard.unwrap_or(Shard { index: 1, of: 1 }),
    })
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
fn describe_missing(holes: &[Hole]) -> Vec<String> {
    let absent: Vec<String> =
        holes.iter().filter(|hole| hole.run.is_none()).map(|hole| hole.shard.to_string()).collect();
    let mut warnings = Vec::new();
    match absent.as_slice() {
        [] => {}
        [one] => warnings.push(format!("shard {one} is missing")),
        all => warnings.push(format!("{} shards are missing: {}", all.len(), text::few(all))),
    }
    for Hole { shard, run, has, of } in holes {
        warnings.extend(
            run.as_ref()
                .map(|run| format!("shard {shard} (run {run}) holds {has} of its {of} answers")),
        );
    }
    warnings
}

fn describe_holes(holes: &[Hole]) -> String {
    describe_missing(holes).join("; ")
}

/// An id like that of any run.
fn run_id(digest: &[u8]) -> String {
    syrch_core::text::hex(&digest[..8])
}
