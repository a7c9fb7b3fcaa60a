//! Slurm on this machine, a local Ray cluster, and the manifest of a Kubernetes job. Workers are
//! killed while they work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use syrch_kit::cluster::find_cluster;
use syrch_kit::{MockEndpoint, Reply, Script, repository};

use super::waves;
use crate::benchmark::{Bench, answer, assert_same};
use crate::endpoint::KEY;

/// The time that a cluster may take for a run.
const PATIENCE: Duration = Duration::from_secs(240);
/// Questions of the suite, and workers that are killed.
const QUESTIONS: usize = 60;
const KILLS: usize = 3;

/// Submits an array, and what a merge names again, until the merge is whole. The words are those of
/// the program.
const SLURM: &str = r#"
script=$1
shift
export SYRCH_SHARDS=6
# A part of the tasks is killed, which ends neither the array nor the others.
sbatch --wait --array=10-60:10 --output=task-%a.log "$script" "$@" || :
unset SYRCH_SHARDS
for _ in 1 2 3 4 5 6; do
	code=0
	syrch-host report run --quiet --without-times --format json >merged.json 2>why.txt || code=$?
	test $code -eq 5 || break
	for shard in $(grep -o -e '--shard [0-9/]*' why.txt | cut -d ' ' -f 2); do
		echo "$shard" >>again.txt
		SYRCH_SHARD=$shard sbatch --wait --output=again.log "$script" "$@" || :
	done
done
cat why.txt >&2
exit $code
"#;

/// A model that takes a while.
fn endpoint() -> MockEndpoint {
    MockEndpoint::start(
        Script::new().with(|request, _| answer(request).map(|reply: Reply| reply.delay_ms(150))),
    )
}

/// The flags of a worker.
fn words(bench: &Bench, endpoint: &MockEndpoint) -> Vec<String> {
    let folder = bench.place.path().join("run");
    let folder = folder.display();
    let url = endpoint.url();
    format!(
        "benchmark suite.jsonl --llm openai --model mock --base-url {url} --workers 2 \
         --folder {folder}"
    )
    .split_whitespace()
    .map(str::to_owned)
    .collect()
}

/// The command in the folder of the bench, with the environment of its program, which is the first
/// on the path.
fn prepare(command: &mut Command, bench: &Bench) {
    let binaries = Path::new(env!("CARGO_BIN_EXE_syrch-host")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let host = bench.command("report");
    for (name, value) in host.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .env("PATH", format!("{}:{path}", binaries.display()))
        .env("SYRCH_API_KEY", KEY)
        .current_dir(bench.place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
}

/// The processes of this run's workers: the program itself, and no scheduler around it.
fn find_workers(run: &Path) -> Vec<u32> {
    let run = run.display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| {
            let id = process.file_name().to_str()?.parse().ok()?;
            let words = fs::read(process.path().join("cmdline")).ok()?;
            let words = String::from_utf8_lossy(&words).into_owned();
            let is_program = words.split('\0').next()?.ends_with("syrch-host");
            (is_program && words.contains(&run)).then_some(id)
        })
        .collect()
}

/// Waits for the cluster's end, and kills some workers meanwhile, one at a time and never the same
/// process twice.
fn wait_and_kill(mut cluster: Child, run: &Path) -> std::process::Output {
    let began = Instant::now();
    let mut killed = Vec::new();
    let mut next = None;
    while cluster.try_wait().unwrap().is_none() {
        if began.elapsed() > PATIENCE {
            drop(cluster.kill());
            let output = cluster.wait_with_output().unwrap();
            panic!("the cluster takes too long: {}", String::from_utf8_lossy(&output.stderr));
        }
        let workers = find_workers(run);
        if next.is_none() && !workers.is_empty() {
            next = Some(Instant::now() + Duration::from_millis(600));
        }
        if killed.len() < KILLS && next.is_some_and(|next| Instant::now() >= next) {
            if let Some(worker) = workers.iter().find(|worker| !killed.contains(*worker)) {
                let done = Command::new("kill").args(["-KILL", &worker.to_string()]).status();
                assert!(done.is_ok());
                killed.push(*worker);
            }
            next = Some(Instant::now() + Duration::from_millis(300));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let output = cluster.wait_with_output().unwrap();
    let all = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(killed.len(), KILLS, "too few workers were there to be killed: {all}");
    output
}

/// The bench, and the report of one process on it.
fn bench(endpoint: &MockEndpoint) -> (Bench, String) {
    let bench = Bench::with_questions(QUESTIONS);
    let said = bench.asks(endpoint, "--workers 40").output().unwrap();
    assert!(said.status.success());
    let whole = bench.report("last");
    (bench, whole)
}

fn example(name: &str) -> PathBuf {
    repository().join("examples/cluster").join(name)
}

#[test]
fn slurm_makes_the_run_of_one_process_however_many_workers_are_killed() {
    if find_cluster("debian/installed").is_none() {
        return;
    }
    let endpoint = endpoint();
    let (bench, whole) = bench(&endpoint);
    let calls = endpoint.count();
    let driver = bench.place.file("driver.sh", SLURM);
    let mut command = Command::new("sh");
    command.arg(repository().join("tests/cluster/slurm.sh")).arg("sh").arg(driver);
    command.arg(example("slurm.sh")).args(words(&bench, &endpoint));
    prepare(&mut command, &bench);
    let output = wait_and_kill(command.spawn().unwrap(), &bench.place.path().join("run"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let merged = fs::read_to_string(bench.place.path().join("merged.json")).unwrap();
    assert_same(&merged, &whole);
    let again = fs::read_to_string(bench.place.path().join("again.txt")).unwrap();
    assert!((1..=KILLS).contains(&again.lines().count()), "{again}");
    // What a killed worker had in flight is asked once more, and nothing else.
    let most = calls * 2 + KILLS * 8;
    assert!(endpoint.count() <= most, "{} calls, and not {most}", endpoint.count());
}

#[test]
fn a_comparison_in_waves_over_slurm_stops_where_one_process_stops() {
    if find_cluster("debian/installed").is_none() {
        return;
    }
    let bench = Bench::with_questions(20);
    let endpoint = MockEndpoint::start(waves::script());
    assert_eq!(waves::compare(&bench, &endpoint, "--workers 1").code, 0);
    let whole = bench.report("last");
    let mut command = Command::new("sh");
    command.arg(repository().join("tests/cluster/slurm.sh")).arg(example("waves.sh"));
    command.args(["2", waves::ONCE, "retry3", "suite.jsonl", "--llm", "openai", "--model", "mock"]);
    command.args(["--base-url", &endpoint.url(), "--folder", "run"]);
    prepare(&mut command, &bench);
    let output = command.output().unwrap();
    let all = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{all}");
    assert_eq!(all.matches("ask the next wave").count(), 1, "{all}");
    assert_same(&bench.report("run"), &whole);
}

#[test]
fn ray_makes_the_run_of_one_process_however_many_workers_are_killed() {
    let Some(installed) = find_cluster("python/installed") else { return };
    let endpoint = endpoint();
    let (bench, whole) = bench(&endpoint);
    // The path of a socket is short.
    let scratch = tempfile::tempdir_in("/tmp").unwrap();
    let mut command = Command::new(installed.join("python/bin/python"));
    command.arg(example("ray_run.py")).arg("6").args(words(&bench, &endpoint));
    prepare(&mut command, &bench);
    command.env("RAY_TMPDIR", scratch.path()).env("RAY_USAGE_STATS_ENABLED", "0");
    let output = wait_and_kill(command.spawn().unwrap(), &bench.place.path().join("run"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_same(&bench.report("run"), &whole);
}

/// The value behind a key, without its quotes.
fn read_value<'a>(manifest: &'a str, key: &str) -> &'a str {
    let (_, rest) = manifest.split_once(key).unwrap_or_else(|| panic!("no {key}"));
    rest.split_whitespace().next().unwrap().trim_matches('"')
}

#[test]
fn the_manifest_of_an_indexed_job_fits_its_schema() {
    let manifest = fs::read_to_string(example("kubernetes.yml")).unwrap();
    let shards = read_value(&manifest, "name: SYRCH_SHARDS\n              value:");
    assert_eq!(read_value(&manifest, "  completions:"), shards);
    assert_eq!(read_value(&manifest, "  parallelism:"), shards);
    assert!(manifest.contains("completionMode: Indexed"));
    let Some(installed) = find_cluster("python/installed") else { return };
    let validate = installed.join("python/bin/kubernetes-validate");
    let mut command = Command::new(validate);
    let output = command.args(["--strict", "--quiet"]).arg(example("kubernetes.yml")).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    // The schema is one that refuses.
    let place = Bench::new();
    let wrong =
        place.place.file("wrong.yml", manifest.replace("completionMode", "completionModus"));
    let mut command = Command::new(installed.join("python/bin/kubernetes-validate"));
    let refused = command.args(["--strict", "--quiet"]).arg(wrong).output().unwrap();
    assert!(!refused.status.success(), "{refused:?}");
}
