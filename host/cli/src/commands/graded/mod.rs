//! The parts that `benchmark`, `compare`, `grid` and `report` share: the flags of a run over a
//! suite, its progress, its end, and its report.
//!
//! A command reads its flags ([`RunArgs`]), makes the arms, calls [`carry_out()`], makes a
//! [`Document`] of the result, prints it by [`print`], writes the files of `--report` by
//! [`write_all`], and ends with the exit code of the run.

mod args;
mod carry_out;
mod document;
mod files;
mod progress;
mod slices;
pub(crate) mod text;
mod timed;

pub(crate) use args::{
    DATABASE, RunArgs, databases, databases_flag, number, refuse_interactive, runs, seconds, share,
};
pub(crate) use carry_out::{
    Inputs, Occasions, all_failed_failure, carry_out, find_failure, stop_at_interrupt,
};
pub(crate) use document::{Document, note_traces, print};
pub(crate) use files::{check_for_grid, run_files, spare_all, write_all, write_grid};
pub(crate) use slices::check_slices;
pub(crate) use timed::{Timed, timings};
