//! Real processes that are killed at any moment: the resumed run ends like an undisturbed one.

use std::process::{Child, Command, Stdio};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

const WORKER: &str = "SYRCH_TEST_RUN_WORKER";
const QUESTIONS: u64 = 500;
const KILLS: usize = 100;

fn comparison_header() -> Header {
    header(&["a", "b"], QUESTIONS)
}

/// Takes a moment now and then, so that items end out of order and some hold the others up.
fn system() -> Arc<Pretender> {
    Arc::new(Pretender::new().slow(|item: &Item| {
        Duration::from_micros(chance(&item.arm_name, &item.question.id, "kill") % 6_000)
    }))
}

#[test]
#[ignore = "one process of the test below, which starts it"]
fn one_process() {
    #[allow(
        clippy::disallowed_methods,
        reason = "the test below passes its processes their work so"
    )]
    let path = std::env::var_os(WORKER).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let finished = runtime
        .block_on(run(Path::new(&path), &comparison_header(), system(), &with_workers(8)))
        .unwrap();
    assert!(finished.stopped.is_none());
}

fn start(path: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "run::tests::kill::one_process"]).env(WORKER, path);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn bytes(path: &Path) -> u64 {
    std::fs::metadata(path.join("results.jsonl")).map_or(0, |data| data.len())
}

/// The record as its bytes, times set aside.
fn serialize_record(path: &Path) -> String {
    let record = without_times(read(path).unwrap());
    let lines = record.graded.iter().map(|graded| serde_json::to_string(graded).unwrap() + "\n");
    serde_json::to_string(&record.header).unwrap() + &lines.collect::<String>()
}

/// Starts a process on the run, and kills it at some moment: while it starts, while it reads the
/// log, or after some lines more. Whether it was killed before it was done.
fn kill_one(path: &Path, random: &mut Pcg64) -> bool {
    let mut child = start(path);
    let grown =
        if random.random_bool(0.2) { 0 } else { bytes(path) + random.random_range(1..9_000) };
    while bytes(path) < grown && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    std::thread::sleep(Duration::from_micros(random.random_range(0..6_000)));
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

/// Runs a process to the end of the run.
fn finish(path: &Path) {
    let output = start(path).wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && message.contains("1 passed"), "{message}");
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_as_if_nobody_had() {
    let place = tempfile::tempdir().unwrap();
    let whole = place.path().join("whole");
    finish(&whole);
    let mut random = Pcg64::seed_from_u64(11);
    let mut kills = 0;
    let mut in_work = 0;
    let mut runs = 0;
    while kills < KILLS {
        let killed = place.path().join(format!("killed {runs}"));
        runs += 1;
        loop {
            let before = bytes(&killed);
            if kills == KILLS || !kill_one(&killed, &mut random) {
                break;
            }
            kills += 1;
            in_work += usize::from(bytes(&killed) > before);
        }
        finish(&killed);
        assert!(read(&killed).unwrap().is_whole());
        assert!(
            serialize_record(&killed) == serialize_record(&whole),
            "the record of the killed run {runs} is another"
        );
        // No line was written twice either.
        let log = std::fs::read_to_string(killed.join("results.jsonl")).unwrap();
        assert_eq!(log.lines().count() as u64, 2 * QUESTIONS);
    }
    println!("{kills} kills over {runs} runs, {in_work} of them after new lines");
    assert!(in_work > KILLS / 2, "only {in_work} processes came to work");
}
