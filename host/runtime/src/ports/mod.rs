//! The ports as components import them; one file for each WIT interface.

mod cells;
mod evaluate;
mod inspect;
mod llm;
mod retrieval;
mod rows;
mod run;
mod sql;
mod trace;
mod wait;

use wasmtime::component::{HasData, Linker};

use crate::bindings::EveryPort;
use crate::state::State;

/// The type by which the bindings find that ports work on the store's own data.
struct Ports;

impl HasData for Ports {
    type Data<'a> = &'a mut State;
}

impl crate::bindings::syrch::plugin::types::Host for State {}

/// A linker with every port, and a WASI that grants nothing.
pub(crate) fn linker(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    EveryPort::add_to_linker::<State, Ports>(&mut linker, |state| state)?;
    Ok(linker)
}
