//! Ports of a guest that runs in a worker process. Each call of a port is sent to the host, which
//! serves it as it serves a guest of its own: grants, limits, handles and the journal are the
//! host's alone. A guest makes one call at a time, and so does its process for it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use wasmtime::component::{HasData, Linker, Resource};

use crate::bindings::EveryPort;
use crate::bindings::syrch::plugin as wit;
use crate::remote::host_is_gone;
use crate::state::{Judging, Pending, Rows, Running, State};
use crate::wire::{self, ToHost};

/// A value of a port as it is sent: handles are sent as numbers.
pub(crate) trait Sent {
    type As: Serialize + DeserializeOwned;

    fn send(self) -> Self::As;
    fn receive(sent: Self::As) -> Self;
}

/// Sends values as they are.
macro_rules! plain {
    ($($ty:ty),* $(,)?) => {
        $(impl Sent for $ty {
            type As = Self;

            fn send(self) -> Self {
                self
            }

            fn receive(sent: Self) -> Self {
                sent
            }
        })*
    };
}

plain!(
    (),
    u32,
    u64,
    f32,
    f64,
    String,
    wit::cells::Match,
    wit::cells::Sample,
    wit::inspect::ColumnStats,
    wit::inspect::Compiled,
    wit::inspect::Facts,
    wit::inspect::Plan,
    wit::llm::LlmError,
    wit::llm::Reply,
    wit::llm::Request,
    wit::rows::Page,
    wit::run::Budget,
    wit::run::Policy,
    wit::sql::Equality,
    wit::trace::Level,
    wit::types::Candidate,
    wit::types::Hit,
    wit::types::PortError,
    wit::types::Profile,
    wit::types::RetrievalQuery,
    wit::types::Signals,
    wit::types::SqlError,
    wit::types::Verdict,
);

impl<T: 'static> Sent for Resource<T> {
    type As = u32;

    fn send(self) -> u32 {
        self.rep()
    }

    fn receive(sent: u32) -> Self {
        Self::new_own(sent)
    }
}

impl<T: Sent> Sent for Option<T> {
    type As = Option<T::As>;

    fn send(self) -> Self::As {
        self.map(T::send)
    }

    fn receive(sent: Self::As) -> Self {
        sent.map(T::receive)
    }
}

impl<T: Sent> Sent for Vec<T> {
    type As = Vec<T::As>;

    fn send(self) -> Self::As {
        self.into_iter().map(T::send).collect()
    }

    fn receive(sent: Self::As) -> Self {
        sent.into_iter().map(T::receive).collect()
    }
}

impl<T: Sent, E: Sent> Sent for Result<T, E> {
    type As = Result<T::As, E::As>;

    fn send(self) -> Self::As {
        self.map(T::send).map_err(E::send)
    }

    fn receive(sent: Self::As) -> Self {
        sent.map(T::receive).map_err(E::receive)
    }
}

impl<A: Sent, B: Sent> Sent for (A, B) {
    type As = (A::As, B::As);

    fn send(self) -> Self::As {
        (self.0.send(), self.1.send())
    }

    fn receive(sent: Self::As) -> Self {
        (A::receive(sent.0), B::receive(sent.1))
    }
}

/// The ports of a store whose host is another process.
struct Forward;

impl HasData for Forward {
    type Data<'a> = Forwarder<'a>;
}

struct Forwarder<'a>(&'a mut State);

impl Forwarder<'_> {
    async fn ask<T: Sent>(&mut self, call: PortCall) -> wasmtime::Result<T> {
        self.0.charge_cpu()?;
        let cpu = self.0.usage().cpu;
        let Some(mut remote) = self.0.remote.take() else {
            return Err(wasmtime::Error::msg(
                "no port is lent while a plugin describes or configures itself",
            ));
        };
        let frame = wire::frame(&ToHost::Ask { id: remote.id, cpu, call })?;
        let answer = self.0.waiting(remote.exchange(frame)).await;
        self.0.remote = Some(remote);
        let sent: T::As = postcard::from_bytes(&answer?).map_err(|_| host_is_gone())?;
        Ok(T::receive(sent))
    }
}

/// Declares the functions of the ports: their messages, the worker's side and the host's side.
macro_rules! ports {
    ($($port:ident::$trait:ident {
        $($function:ident $case:ident($($argument:ident: $ty:ty),*) -> $result:ty;)*
    })*) => {
        /// A call of a port.
        #[derive(Serialize, Deserialize)]
        pub(crate) enum PortCall {
            $($($case { $($argument: <$ty as Sent>::As),* },)*)*
        }

        $(impl wit::$port::$trait for Forwarder<'_> {
            $(async fn $function(&mut self, $($argument: $ty),*) -> wasmtime::Result<$result> {
                self.ask(PortCall::$case { $($argument: $argument.send()),* }).await
            })*
        })*

        impl State {
            /// Serves the call of a port by a guest in a worker process. Returns the answer as it
            /// is sent.
            pub(crate) async fn serve(&mut self, call: PortCall) -> wasmtime::Result<Vec<u8>> {
                match call {
                    $($(PortCall::$case { $($argument),* } => {
                        let answer: $result = wit::$port::$trait::$function(
                            self,
                            $(<$ty as Sent>::receive($argument)),*
                        )
                        .await?;
                        Ok(postcard::to_allocvec(&answer.send())?)
                    })*)*
                }
            }
        }
    };
}

type SqlResult = Result<Resource<Rows>, wit::types::SqlError>;
type ModelReply = Result<wit::llm::Reply, wit::llm::LlmError>;
type Hits = Result<Vec<wit::types::Hit>, wit::types::PortError>;
type Verdicts = Result<Vec<wit::types::Verdict>, wit::types::PortError>;

ports! {
    run::Host {
        current_policy Policy() -> wit::run::Policy;
        setting Setting(name: String) -> Option<String>;
        remaining Remaining() -> wit::run::Budget;
        seed Seed() -> u64;
    }
    wait::Host {
        any Any(tickets: Vec<u32>) -> Vec<u32>;
        pause Pause(milliseconds: u32) -> ();
    }
    llm::Host {
        models Models() -> Vec<String>;
        complete Complete(request: wit::llm::Request) -> ModelReply;
        complete_all CompleteAll(requests: Vec<wit::llm::Request>) -> Vec<ModelReply>;
        start StartCompletion(request: wit::llm::Request) -> Resource<Pending>;
    }
    llm::HostPending {
        ticket PendingTicket(pending: Resource<Pending>) -> u32;
        cancel CancelPending(pending: Resource<Pending>) -> ();
        get GetPending(pending: Resource<Pending>) -> Option<ModelReply>;
        drop DropPending(pending: Resource<Pending>) -> ();
    }
    inspect::Host {
        check Check(text: String) -> Result<wit::inspect::Facts, wit::types::SqlError>;
        explain Explain(text: String) -> Result<wit::inspect::Plan, wit::types::SqlError>;
        column_stats_of ColumnStats(table: String, columns: Vec<String>)
            -> Result<Vec<wit::inspect::ColumnStats>, wit::types::PortError>;
        compile_metric CompileMetric(request: String)
            -> Result<wit::inspect::Compiled, wit::types::PortError>;
    }
    sql::Host {
        run Run(text: String) -> SqlResult;
        run_all RunAll(texts: Vec<String>) -> Vec<SqlResult>;
        start StartStatement(text: String) -> Resource<Running>;
    }
    sql::HostResultSet {
        profile Profile(rows: Resource<Rows>) -> wit::types::Profile;
        fingerprint Fingerprint(rows: Resource<Rows>, under: wit::sql::Equality)
            -> Option<String>;
        drop DropRows(rows: Resource<Rows>) -> ();
    }
    sql::HostRunning {
        ticket RunningTicket(running: Resource<Running>) -> u32;
        cancel CancelRunning(running: Resource<Running>) -> ();
        take TakeRunning(running: Resource<Running>) -> Option<SqlResult>;
        drop DropRunning(running: Resource<Running>) -> ();
    }
    rows::Host {
        read Read(results: Resource<Rows>, offset: u64, limit: u32)
            -> Result<wit::rows::Page, wit::types::PortError>;
    }
    cells::Host {
        samples Samples(table: String, columns: Vec<String>, limit: u32)
            -> Result<Vec<wit::cells::Sample>, wit::types::PortError>;
        find FindCells(phrases: Vec<String>, how: wit::cells::Match, limit: u32)
            -> Result<Vec<Vec<wit::types::Hit>>, wit::types::PortError>;
    }
    evaluate::Host {
        calibrate Calibrate(claims: Vec<(f64, wit::types::Signals)>)
            -> Result<Vec<f64>, wit::types::PortError>;
        reward Reward(candidates: Vec<wit::types::Candidate>) -> Verdicts;
        start_reward StartReward(candidates: Vec<wit::types::Candidate>) -> Resource<Judging>;
    }
    evaluate::HostJudging {
        ticket JudgingTicket(judging: Resource<Judging>) -> u32;
        cancel CancelJudging(judging: Resource<Judging>) -> ();
        get GetJudging(judging: Resource<Judging>) -> Option<Verdicts>;
        drop DropJudging(judging: Resource<Judging>) -> ();
    }
    retrieval::Host {
        find Find(query: wit::types::RetrievalQuery) -> Hits;
        find_all FindAll(queries: Vec<wit::types::RetrievalQuery>) -> Vec<Hits>;
        embed Embed(texts: Vec<String>) -> Result<Vec<Vec<f32>>, wit::types::PortError>;
    }
    trace::Host {
        note Note(level: wit::trace::Level, message: String) -> ();
        propose Propose(candidate: wit::types::Candidate) -> ();
        keep Keep(candidate: String, reason: String) -> ();
        discard Discard(candidate: String, reason: String) -> ();
        event Event(candidate: Option<String>, name: String, data: String) -> ();
    }
}

impl wit::types::Host for Forwarder<'_> {}

/// A linker whose ports are those of the host's process, with a WASI that grants nothing.
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    EveryPort::add_to_linker::<State, Forward>(&mut linker, |state| Forwarder(state))?;
    Ok(linker)
}
