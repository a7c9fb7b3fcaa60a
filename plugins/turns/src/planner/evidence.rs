//! The evidence that searches found and that is retained: the newest first, nothing twice, and no
//! more than the limit.

use serde::{Deserialize, Serialize};
use syrch_plugin::prelude::*;
use syrch_plugin::text::{clamp01, clip, line};

// Bounds of what a hit leaves in the memo and in prompts, in characters.
const PATH: usize = 120;
const SNIPPET: usize = 160;

/// One hit. `task`: the search that found it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evidence {
    pub(crate) task: String,
    pub(crate) corpus: String,
    pub(crate) path: String,
    pub(crate) snippet: Option<String>,
    pub(crate) score: f64,
}

impl Evidence {
    pub(crate) fn from_hit(task: &str, hit: &Hit) -> Self {
        fn shorten(text: &str, limit: usize) -> String {
            clip(&line(text, limit), 2 * limit).to_owned()
        }
        Self {
            task: task.to_owned(),
            corpus: corpus_name(&hit.corpus).to_owned(),
            path: shorten(&hit.path, PATH),
            snippet: hit
                .snippet
                .as_deref()
                .map(|text| shorten(text, SNIPPET))
                .filter(|text| !text.is_empty()),
            score: clamp01(hit.score),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.corpus, &self.path, &self.snippet) == (&other.corpus, &other.path, &other.snippet)
    }
}

fn corpus_name(corpus: &Corpus) -> &str {
    match corpus {
        Corpus::Tables => "tables",
        Corpus::Columns => "columns",
        Corpus::Cells => "cells",
        Corpus::Notes => "notes",
        Corpus::Examples => "examples",
        Corpus::Other(name) => clip(name, PATH),
    }
}

/// The outcome of a retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Retained {
    /// Fresh pieces that were not known and are retained.
    pub(crate) gained: u32,
    /// Pieces let go for the limit's sake.
    pub(crate) let_go: u32,
}

/// Puts the fresh pieces before the known ones, each once (by corpus, path and snippet), and cuts
/// to the limit (sift, retained evidence; its merge did neither).
pub(crate) fn retain(known: &mut Vec<Evidence>, fresh: Vec<Evidence>, limit: u32) -> Retained {
    let limit = limit as usize;
    let mut pieces: Vec<Evidence> = Vec::new();
    let mut gained = 0;
    let mut let_go = 0;
    let prior = std::mem::take(known);
    fn is_new(prior: &[Evidence], piece: &Evidence) -> bool {
        !prior.iter().any(|old| old.is_same(piece))
    }
    let marked: Vec<(Evidence, bool)> =
        fresh.into_iter().map(|piece| (piece.clone(), is_new(&prior, &piece))).collect();
    for (piece, new) in marked.into_iter().chain(prior.into_iter().map(|piece| (piece, false))) {
        if pieces.iter().any(|other| other.is_same(&piece)) {
            continue;
        }
        if pieces.len() >= limit {
            let_go += 1;
            continue;
        }
        gained += u32::from(new);
        pieces.push(piece);
    }
    *known = pieces;
    Retained { gained, let_go }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(task: &str, path: &str) -> Evidence {
        let hit = Hit {
            corpus: Corpus::Columns,
            id: path.into(),
            path: path.into(),
            table: None,
            column: None,
            snippet: Some("a line".into()),
            payload: None,
            score: 2.0,
        };
        Evidence::from_hit(task, &hit)
    }

    fn paths(pieces: &[Evidence]) -> Vec<&str> {
        pieces.iter().map(|piece| piece.path.as_str()).collect()
    }

    #[test]
    fn the_newest_come_first_and_nothing_twice() {
        let mut known = vec![piece("s1", "a"), piece("s1", "b"), piece("s1", "c")];
        let retained =
            retain(&mut known, vec![piece("s2", "d"), piece("s2", "b"), piece("s2", "d")], 3);
        assert_eq!(paths(&known), ["d", "b", "a"]);
        assert_eq!(retained, Retained { gained: 1, let_go: 1 });
        assert_eq!(known[1].task, "s2");
        assert_eq!(known[0].score, 1.0);
    }

    #[test]
    fn what_is_known_is_no_gain() {
        let mut known = vec![piece("s1", "a")];
        assert_eq!(
            retain(&mut known, vec![piece("s2", "a")], 5),
            Retained { gained: 0, let_go: 0 }
        );
        assert_eq!(known.len(), 1);
    }
}
