//! Why a plugin is refused when it is loaded, and how a failed call is told.

use syrch_core::validate::Invalid;
use syrch_core::{RoleError, text};
use wasmtime::Trap;

use crate::limiter::SumLimiter;
use crate::state::LimitHit;

/// Why a plugin was refused. Nothing of it has run with any grant by then.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file; `similar` are names beside it that nearly match.
    #[error("there is no file `{path}`")]
    Missing {
        /// What was asked for.
        path: String,
        /// Component files with nearly that name.
        similar: Vec<String>,
    },
    /// It cannot be read, or is not a regular file.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It is larger than the limit.
    #[error("has {bytes} bytes, over the limit of {limit}")]
    TooLarge {
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
    },
    /// It is not a component: what it is, and what was expected.
    #[error("{found}, expected a WebAssembly component")]
    NotAComponent {
        /// What it is.
        found: String,
    },
    /// It is a component, but broken.
    #[error("is not a valid component: {0}")]
    Broken(String),
    /// It speaks another version of the contract.
    #[error("speaks `{found}`, this host offers `{offered}`")]
    Version {
        /// What the plugin names.
        found: String,
        /// What the host offers.
        offered: String,
    },
    /// It plays no role.
    #[error("exports no role of the contract; it exports {exports:?}")]
    NoRole {
        /// What it exports.
        exports: Vec<String>,
    },
    /// It lacks a function, or one has another type.
    #[error("export `{export}`: {detail}")]
    Export {
        /// Interface and function.
        export: String,
        /// What is wrong.
        detail: String,
    },
    /// It imports what its roles' worlds do not.
    #[error("imports `{import}`: {detail}")]
    Import {
        /// Interface and function.
        import: String,
        /// What the host offers instead.
        detail: String,
    },
    /// Its code could cost far more to compile than its size says.
    #[error("is too complex to compile: {found} {what}, over the limit of {limit}")]
    TooComplex {
        /// How much there is.
        found: u64,
        /// How much there may be.
        limit: u64,
        /// Of what.
        what: &'static str,
    },
    /// Compiling it went over the limit that is named.
    #[error("took more than {0} to compile")]
    CompileLimit(String),
    /// It does not play the role that it was given.
    #[error("does not play the role {wanted}; it plays {plays}")]
    WrongRole {
        /// The role it was given.
        wanted: String,
        /// The roles it plays.
        plays: String,
    },
    /// Its config does not match its schema.
    #[error("config: {0}")]
    Config(String),
    /// Its own description is unusable, or describing itself failed.
    #[error("{0}")]
    About(String),
    /// The host has no free slot or memory for it, which is not the fault of the plugin.
    #[error("{0}")]
    Unavailable(String),
    /// The host's engine failed.
    #[error("the engine cannot be started: {0}")]
    Engine(String),
}

/// Bytes of what a guest printed that the error of its trap shows, from the beginning and from the end: some languages say first what went wrong,
/// and some last.
const PRINTED: usize = 400;

/// Tells a failed call in the words of `core`. The engine's words are cut to one line; what the guest printed before it trapped follows them.
pub(crate) fn role_error(
    plugin: &str,
    export: &str,
    error: &wasmtime::Error,
    limiter: &SumLimiter,
    printed: &str,
) -> RoleError {
    let (plugin, export) = (plugin.to_owned(), export.to_owned());
    let limit = |limit: &str, detail: String| RoleError::Limit {
        plugin: plugin.clone(),
        export: export.clone(),
        limit: limit.to_owned(),
        detail,
    };
    if let Some(hit) = error.downcast_ref::<LimitHit>() {
        return limit(hit.limit, hit.detail.clone());
    }
    if let Some(Invalid(detail)) = error.downcast_ref::<Invalid>() {
        return RoleError::Invalid { plugin, export, detail: detail.clone() };
    }
    if let Some(refused) = limiter.refused() {
        return limit(refused, "the plugin asked for more and then gave up".to_owned());
    }
    if is_hosts_own(error) {
        let reason = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
        return RoleError::Unavailable { plugin, reason: text::clip(&reason, 200).to_owned() };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => limit("wasm-stack", "the call stack is exhausted".to_owned()),
        Some(trap) => RoleError::Trap { plugin, export, reason: with_printed(&trap.to_string(), printed) },
        None => {
            let cause = error.root_cause().to_string();
            let line = cause.lines().next().unwrap_or_default();
            RoleError::Trap { plugin, export, reason: with_printed(text::clip(line, 200), printed) }
        }
    }
}

/// A reason, with what the guest printed on one line.
fn with_printed(reason: &str, printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let printed = lines.join(" | ");
    if printed.is_empty() {
        return reason.to_owned();
    }
    if printed.len() <= 2 * PRINTED {
        return format!("{reason}; it printed: {printed}");
    }
    let end = printed.ceil_char_boundary(printed.len() - PRINTED);
    format!("{reason}; it printed: {} … {}", text::clip(&printed, PRINTED), &printed[end..])
}

/// Whether the host had no room for a store: the pool was full, or the system gave no memory.
fn is_hosts_own(error: &wasmtime::Error) -> bool {
    error.is::<wasmtime::PoolConcurrencyLimitError>()
        || error.chain().any(|cause| cause.is::<std::io::Error>() || cause.is::<rustix::io::Errno>())
}
