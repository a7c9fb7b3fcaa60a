//! The simulated model: its figures are those of recorded systems, and its knobs change what they
//! name.

mod drawn;
mod figures;
mod knobs;
mod robust;
mod strategies;
mod world;
