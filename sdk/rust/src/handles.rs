//! A plugin's handles of things that live in the host: results, and calls in flight. In a test they
//! are the fakes' own.

use crate::bindings::evaluate;
use crate::bindings::llm::{self, LlmError, Reply};
use crate::bindings::sql::{self, Equality};
use crate::bindings::types::{PortError, Profile, SqlError, Verdict};
#[cfg(not(target_arch = "wasm32"))]
use crate::fakes::{FakeCall, FakeRows};

/// A result: its rows stay in the host, its shape is known here.
#[derive(Debug)]
pub struct ResultSet(pub(crate) ResultHandle);

#[derive(Debug)]
pub(crate) enum ResultHandle {
    Host(sql::ResultSet),
    #[cfg(not(target_arch = "wasm32"))]
    Fake(FakeRows),
}

impl ResultSet {
    pub(crate) fn lent(handle: sql::ResultSet) -> Self {
        Self(ResultHandle::Host(handle))
    }

    /// Returns the number of rows, and the columns.
    #[must_use]
    pub fn profile(&self) -> Profile {
        match &self.0 {
            ResultHandle::Host(handle) => handle.profile(),
            #[cfg(not(target_arch = "wasm32"))]
            ResultHandle::Fake(rows) => rows.profile(),
        }
    }

    /// Equal for equal results under that equality, salted per run; `None` if the host does not
    /// know the equality.
    #[must_use]
    pub fn fingerprint(&self, under: &Equality) -> Option<String> {
        match &self.0 {
            ResultHandle::Host(handle) => handle.fingerprint(under),
            #[cfg(not(target_arch = "wasm32"))]
            ResultHandle::Fake(rows) => rows.fingerprint(under),
        }
    }
}

macro_rules! call_handle {
    ($(#[doc = $doc:literal])+ $name:ident, $inner:ident, $host:ty, $output:ty) => {
        $(#[doc = $doc])+
        #[derive(Debug)]
        pub struct $name(pub(crate) $inner);

        #[derive(Debug)]
        pub(crate) enum $inner {
            Host($host),
            #[cfg(not(target_arch = "wasm32"))]
            Fake(FakeCall<$output>),
        }

        impl $name {
            pub(crate) fn lent(handle: $host) -> Self {
                Self($inner::Host(handle))
            }

            /// The number to wait for with [`crate::ports::Wait::any`].
            #[must_use]
            pub fn ticket(&self) -> u32 {
                match &self.0 {
                    $inner::Host(handle) => handle.ticket(),
                    #[cfg(not(target_arch = "wasm32"))]
                    $inner::Fake(call) => call.ticket(),
                }
            }

            /// Ends it now; dropping does too.
            pub fn cancel(&self) {
                match &self.0 {
                    $inner::Host(handle) => handle.cancel(),
                    #[cfg(not(target_arch = "wasm32"))]
                    $inner::Fake(call) => call.cancel(),
                }
            }
        }
    };
}

call_handle! {
    /// A model call in flight.
    PendingReply, ReplyHandle, llm::Pending, Result<Reply, LlmError>
}
call_handle! {
    /// A statement under way.
    RunningStatement, StatementHandle, sql::Running, Result<ResultSet, SqlError>
}
call_handle! {
    /// A judgement under way.
    Judging, JudgingHandle, evaluate::Judging, Result<Vec<Verdict>, PortError>
}

impl PendingReply {
    /// `None` while under way; afterwards the same reply each time.
    #[must_use]
    pub fn get(&self) -> Option<Result<Reply, LlmError>> {
        match &self.0 {
            ReplyHandle::Host(handle) => handle.get(),
            #[cfg(not(target_arch = "wasm32"))]
            ReplyHandle::Fake(call) => call.get(),
        }
    }
}

impl RunningStatement {
    /// Takes the result, which moves to the caller, so that only one call returns it. `None` while
    /// under way, and after it was taken.
    #[must_use]
    pub fn take(&self) -> Option<Result<ResultSet, SqlError>> {
        match &self.0 {
            StatementHandle::Host(handle) => handle.take().map(|ended| ended.map(ResultSet::lent)),
            #[cfg(not(target_arch = "wasm32"))]
            StatementHandle::Fake(call) => call.take(),
        }
    }
}

impl Judging {
    /// `None` while under way; afterwards the same verdicts each time.
    #[must_use]
    pub fn get(&self) -> Option<Result<Vec<Verdict>, PortError>> {
        match &self.0 {
            JudgingHandle::Host(handle) => handle.get(),
            #[cfg(not(target_arch = "wasm32"))]
            JudgingHandle::Fake(call) => call.get(),
        }
    }
}
