//! Runs that outgrow one machine, through the binary: shards by their environment, merges, waves,
//! and a cache that hosts share; over Slurm and Ray where they are installed, with workers that are
//! killed.

mod caches;
#[cfg(unix)]
mod schedulers;
mod shards;
mod waves;

use std::path::Path;
use std::process::Command;

use syrch_kit::MockEndpoint;

use crate::benchmark::Bench;
use crate::endpoint::Said;

/// The benchmark of a worker, with its variables as `NAME=VALUE`.
fn worker(bench: &Bench, endpoint: &MockEndpoint, words: &str, variables: &str) -> Command {
    let mut command = bench.asks(endpoint, words);
    command.envs(variables.split_whitespace().filter_map(|pair| pair.split_once('=')));
    command
}

/// The result of a command.
fn run_command(mut command: Command) -> Said {
    Said::from_output(command.output().unwrap())
}

/// The folder of the shard of a run.
fn shard_folder(bench: &Bench, run: &str, index: u32, of: u32) -> std::path::PathBuf {
    bench.place.path().join(run).join(format!("shard-{index}-of-{of}"))
}

/// Copies the files of a run.
fn copy_run(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for name in ["run.json", "results.jsonl"] {
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
}
