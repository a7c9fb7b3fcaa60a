//! What `benchmark`, `compare`, `grid` and `report` share: the flags of a run over a suite, its progress, how it ends, and the ways in which
//! its report is written.
//!
//! A command reads its flags ([`RunArgs`]), makes the arms, calls [`carry_out`], makes a [`Document`] of what is graded, prints it by
//! [`print`], writes the files of `--report` by [`ReportFile::write`], and ends with the code of [`Ended::tell`].

mod args;
mod carry_out;
mod document;
mod files;
mod progress;
mod text;

pub(crate) use args::{DATABASE, RunArgs, databases, refuse_interactive, runs};
pub(crate) use carry_out::{Ended, Inputs, Occasions, carry_out, stop_at_interrupt};
pub(crate) use document::{Document, print, tell_traces};
pub(crate) use files::{ReportFile, spare_all, write_all};
