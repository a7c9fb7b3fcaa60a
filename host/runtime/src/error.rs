//! Errors of loading a plugin, and of a call that failed.

use syrch_core::validate::Invalid;
use syrch_core::{RoleError, text};
use wasmtime::Trap;
use wasmtime_wasi::I32Exit;

use crate::limiter::SumLimiter;
use crate::state::LimitHit;

/// The reason why a plugin was refused. Nothing of it has run with any grant by then.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no file `{path}`")]
    Missing {
        /// The path that was given.
        path: String,
        /// Component files beside it with a similar name.
        similar: Vec<String>,
    },
    /// The file cannot be read, or is not a regular file.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The file is larger than the limit.
    #[error("has {bytes} bytes, over the limit of {limit}")]
    TooLarge {
        /// The size of the file.
        bytes: u64,
        /// The greatest size that is allowed.
        limit: u64,
    },
    /// The file is not a component.
    #[error("{found}, expected a WebAssembly component")]
    NotAComponent {
        /// A description of what the file is instead.
        found: String,
    },
    /// The file is a component, but not a valid one.
    #[error("is not a valid component: {0}")]
    Broken(String),
    /// The component names another version of the contract.
    #[error("speaks `{found}`, this host offers `{offered}`")]
    Version {
        /// The name in the component.
        found: String,
        /// The name that the host offers.
        offered: String,
    },
    /// The component exports no role.
    #[error("exports no role of the contract{}", and_exports(.exports))]
    NoRole {
        /// The first of its exports.
        exports: Vec<String>,
    },
    /// The component lacks a function, or one has another type.
    #[error("export `{export}`: {detail}")]
    Export {
        /// The interface, with the function where it is known.
        export: String,
        /// The error in it.
        detail: String,
    },
    /// The component imports something that the worlds of its roles do not import.
    #[error("imports `{import}`: {detail}")]
    Import {
        /// The interface, with the function where it is known.
        import: String,
        /// A description of what the host offers instead.
        detail: String,
    },
    /// The component's code could cost far more to compile than its size suggests.
    #[error("is too complex to compile: {found} {what}, over the limit of {limit}")]
    TooComplex {
        /// The number that is over the limit.
        found: u64,
        /// The greatest number that is allowed.
        limit: u64,
        /// The things that were counted, in the plural.
        what: &'static str,
    },
    /// Compiling the component exceeded the limit that is named.
    #[error("took more than {0} to compile")]
    CompileLimit(String),
    /// The plugin does not implement the role that it was given.
    #[error("does not implement the role {wanted}; it implements {implemented}")]
    WrongRole {
        /// The role that it was given.
        wanted: String,
        /// The roles that it implements.
        implemented: String,
    },
    /// The settings do not match the plugin's schema.
    #[error("config: {0}")]
    Config(String),
    /// The plugin's description of itself is unusable, or describing itself failed.
    #[error("{0}")]
    About(String),
    /// The host has no free slot or memory for the plugin, which is not the plugin's fault.
    #[error("{0}")]
    Unavailable(String),
    /// The host's engine failed.
    #[error("the engine cannot be started: {0}")]
    Engine(String),
}

/// The number of bytes of a guest's output that the error of its trap shows, from the beginning and
/// from the end: some languages print the cause first, and some last.
const PRINTED: usize = 400;

/// The beginning of the engine's error when a call copies more bytes than it may; its type is
/// private.
const COPIED: &str = "too much data is being copied between the host and the guest";

/// Converts the error of a failed call. The engine's message is cut to one line; what the guest
/// printed before it trapped follows.
pub(crate) fn role_error(
    plugin: &str,
    export: &str,
    error: &wasmtime::Error,
    limiter: &SumLimiter,
    printed: &str,
) -> RoleError {
    let plugin = plugin.to_owned();
    let export = export.to_owned();
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
    if let Some((refused, value)) = limiter.refusal() {
        return limit(refused, format!("{value}; the plugin asked for more and then gave up"));
    }
    if error.root_cause().to_string().starts_with(COPIED) {
        return limit(
            "hostcall-bytes",
            "the bytes that one call may pass to the host or return".to_owned(),
        );
    }
    if is_hosts_own(error) {
        let reason = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
        return RoleError::Unavailable { plugin, reason: text::clip(&reason, 200).to_owned() };
    }
    if error.is::<I32Exit>() {
        // The code that the guest gave is none of WASI's.
        let reason = "it ended its process (by exit, or by an error that nothing caught)";
        return RoleError::Trap { plugin, export, reason: with_printed(reason, printed) };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => limit("wasm-stack", "the call stack is exhausted".to_owned()),
        Some(trap) => {
            RoleError::Trap { plugin, export, reason: with_printed(&trap.to_string(), printed) }
        }
        None => {
            let cause = error.root_cause().to_string();
            let line = cause.lines().next().unwrap_or_default();
            RoleError::Trap { plugin, export, reason: with_printed(text::clip(line, 200), printed) }
        }
    }
}

/// The error of a call for which no worker process can be started.
pub(crate) fn no_worker(plugin: &str, error: &std::io::Error) -> RoleError {
    let reason = format!("its worker process cannot be started: {error}");
    RoleError::Unavailable {
        plugin: plugin.to_owned(),
        reason: text::clip(&reason, 200).to_owned(),
    }
}

/// Describes the exports of a component without the role, for a message.
fn and_exports(exports: &[String]) -> String {
    if exports.is_empty() {
        "; it exports nothing".to_owned()
    } else {
        format!("; it exports {}", exports.join(", "))
    }
}

/// The reason, followed by what the guest printed on one line.
fn with_printed(reason: &str, printed: &str) -> String {
    // Rust's advice is for programs that have an environment.
    let lines: Vec<&str> = printed
        .lines()
        .map(str::trim)
        .filter(|line: &&str| {
            !line.is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE")
        })
        .collect();
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

/// Returns whether the host had no capacity for a store: the pool was full, or the system gave no
/// memory.
fn is_hosts_own(error: &wasmtime::Error) -> bool {
    error.is::<wasmtime::PoolConcurrencyLimitError>()
        || error
            .chain()
            .any(|cause| cause.is::<std::io::Error>() || cause.is::<rustix::io::Errno>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_a_guest_follow_the_reason() {
        let rust = "\nthread '<unnamed>' panicked at src/lib.rs:4:5:\nno rows\n\
                    note: run with `RUST_BACKTRACE=1` environment variable\n";
        let said = with_printed("unreachable", rust);
        assert_eq!(
            said,
            "unreachable; it printed: thread '<unnamed>' panicked at src/lib.rs:4:5: | no rows"
        );
        let python = format!(
            "Traceback (most recent call last):\n{}ValueError: no rows\n",
            "  File \"app.py\", line 1\n".repeat(200)
        );
        let said = with_printed("unreachable", &python);
        assert!(
            said.ends_with("ValueError: no rows")
                && said.contains("printed: Traceback")
                && said.len() < 1_000,
            "{said}"
        );
        assert_eq!(with_printed("unreachable", " \n"), "unreachable");
    }
}
