//! The promises, each with the file that measures it.

mod arrow;
mod doubts;
mod equality;
mod extism;
mod files;
mod flights;
mod guard;
mod judges;
mod languages;
mod makespan;
#[cfg(target_os = "linux")]
mod mcp;
mod metrics;
mod neighbours;
mod overhead;
#[cfg(unix)]
mod postgres;
mod questions;
mod recorded;
mod role_call;
mod serve;
mod signs;
#[cfg(unix)]
mod slow;
pub(crate) mod soak;
mod start;
mod suites;
mod tally;
mod unseen;

use crate::Outcome;
use crate::figure::Figure;
use crate::world::World;

/// The figures that show whether one promise holds.
pub(crate) struct Group {
    /// Its name for `--only`.
    pub(crate) name: &'static str,
    /// The name of the subject.
    pub(crate) what: &'static str,
    /// The function that measures the figures.
    pub(crate) measure: fn(&World) -> Outcome<Vec<Figure>>,
}

/// All promises, in the order of the table.
pub(crate) const GROUPS: &[Group] = &[
    Group { name: "schema", what: "`schema` from process start", measure: start::schema },
    Group {
        name: "first",
        what: "the first search on a new machine",
        measure: start::first_search,
    },
    Group {
        name: "cached",
        what: "a search that the cache answers, from process start",
        measure: start::search_from_cache,
    },
    Group { name: "role-call", what: "a role call of a Rust guest", measure: role_call::measure },
    Group { name: "languages", what: "role calls by language", measure: languages::measure },
    Group { name: "flights", what: "five model calls of one guest", measure: flights::measure },
    Group { name: "overhead", what: "a whole search in process", measure: overhead::measure },
    #[cfg(target_os = "linux")]
    Group { name: "mcp", what: "the MCP server", measure: mcp::measure },
    Group { name: "makespan", what: "makespans of uneven graphs", measure: makespan::measure },
    // Before the large reads, so that what they leave behind disturbs nothing.
    Group { name: "guard", what: "the guard on a statement", measure: guard::measure },
    Group {
        name: "equality",
        what: "what the optimizer checks before it measures",
        measure: equality::measure,
    },
    Group {
        name: "metrics",
        what: "semantics files, and the requests for their metrics",
        measure: metrics::measure,
    },
    Group { name: "arrow", what: "SQLite to Arrow", measure: arrow::measure },
    Group {
        name: "files",
        what: "a large CSV file, and a question on it",
        measure: files::measure,
    },
    #[cfg(unix)]
    Group { name: "postgres", what: "PostgreSQL to Arrow", measure: postgres::measure },
    #[cfg(unix)]
    Group { name: "slow", what: "slow statements that rules make faster", measure: slow::measure },
    Group { name: "recorded", what: "strategies on recorded answers", measure: recorded::measure },
    Group {
        name: "signs",
        what: "the findings of `discern`, chosen without the database they are measured on",
        measure: signs::measure,
    },
    Group { name: "doubts", what: "doubts about recorded answers", measure: doubts::measure },
    Group {
        name: "judges",
        what: "the reward `execution` against the truth",
        measure: judges::measure,
    },
    Group {
        name: "unseen",
        what: "the rules without a model on unseen questions",
        measure: unseen::measure,
    },
    Group {
        name: "questions",
        what: "the rules without a model on public tables",
        measure: questions::measure,
    },
    Group { name: "suite-pace", what: "a suite against a slow endpoint", measure: suites::pace },
    Group {
        name: "suite-rate",
        what: "a suite against an endpoint that answers at once",
        measure: suites::rate,
    },
    Group { name: "suite-memory", what: "memory over a long suite", measure: suites::memory },
    Group {
        name: "neighbours",
        what: "searches beside those of hostile plugins",
        measure: neighbours::searches,
    },
    Group {
        name: "neighbour-arms",
        what: "a comparison with hostile arms",
        measure: neighbours::arms,
    },
    Group { name: "serve", what: "64 clients of `serve` at once", measure: serve::measure },
    Group { name: "grid", what: "a grid of one question", measure: suites::grid },
    Group { name: "soak", what: "memory over many searches", measure: soak::measure },
    Group { name: "extism", what: "role calls against Extism", measure: extism::measure },
];
