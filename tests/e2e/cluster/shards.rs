//! The same command on every worker, its part of the budgets, and what a merge refuses.

use serde_json::Value;
use syrch_kit::MockEndpoint;

use super::{copy_run, run_command, shard_folder, worker};
use crate::bad_input::{Place, finish, read_streams};
use crate::benchmark::{Bench, assert_same, script, suite};

/// The variables of a task of `--array=10-30:10`.
fn task(id: u32) -> String {
    format!(
        "SLURM_ARRAY_TASK_ID={id} SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=10 \
         SLURM_ARRAY_TASK_MAX=30 SLURM_ARRAY_TASK_STEP=10"
    )
}

#[test]
fn the_same_command_on_each_worker_makes_the_report_of_one_process() {
    let bench = Bench::with_questions(25);
    let endpoint = MockEndpoint::start(script());
    assert_eq!(run_command(bench.asks(&endpoint, "")).code, 0);
    let whole = bench.report("last");
    for id in [20, 10, 30] {
        let said = run_command(worker(&bench, &endpoint, "--folder run", &task(id)));
        assert_eq!(said.code, 0, "{}", said.all());
        let note = format!("shard {}/3, by SLURM_ARRAY_TASK_ID", id / 10);
        assert!(said.stderr.contains(&note), "{}", said.all());
    }
    assert_same(&bench.report("run"), &whole);
    // A task that is started again has nothing left to ask, and so has an Indexed Job.
    let before = endpoint.count();
    assert_eq!(run_command(worker(&bench, &endpoint, "--folder run", &task(20))).code, 0);
    let pod = "JOB_COMPLETION_INDEX=1 SYRCH_SHARDS=3";
    assert_eq!(run_command(worker(&bench, &endpoint, "--folder run", pod)).code, 0);
    assert_eq!(run_command(bench.asks(&endpoint, "--folder run --shard 2/3")).code, 0);
    assert_eq!(endpoint.count(), before);
    for (words, variables, message) in [
        ("", "SYRCH_SHARD=2/3 SYRCH_SHARDS=4", "SYRCH_SHARDS says 4"),
        ("", "JOB_COMPLETION_INDEX=1", "SYRCH_SHARDS is missing"),
        ("--wave 1/2", "", "--folder"),
        ("--folder run --wave 3/2", "", "there is no wave 3 of 2"),
        ("--folder run --resume last", "", "--resume"),
    ] {
        let said = run_command(worker(&bench, &endpoint, words, variables));
        assert!(said.code == 2 && said.stderr.contains(message), "{message}: {}", said.all());
    }
}

#[test]
fn a_merge_names_the_shards_to_run_again() {
    let bench = Bench::with_questions(9);
    let endpoint = MockEndpoint::start(script());
    for shard in ["1/3", "2/3", "3/3"] {
        let said =
            run_command(worker(&bench, &endpoint, "--folder run", &format!("SYRCH_SHARD={shard}")));
        assert_eq!(said.code, 0, "{}", said.all());
    }
    let two = shard_folder(&bench, "run", 2, 3);
    let away = bench.place.path().join("away");
    std::fs::rename(&two, &away).unwrap();
    let said = bench.say("report run");
    assert!(said.code == 5 && said.stdout.is_empty(), "{}", said.all());
    assert!(said.stderr.contains("shard 2/3 is missing"), "{}", said.all());
    assert!(said.stderr.contains("--shard 2/3; --partial"), "{}", said.all());
    let partial = bench.say("report run --partial --format json").document(5);
    assert_eq!(partial["partial"]["of"], 9);
    // A line that was cut off is a hole as well.
    let lines = std::fs::read_to_string(away.join("results.jsonl")).unwrap();
    copy_run(&away, &two);
    std::fs::write(two.join("results.jsonl"), &lines[..lines.len() - 20]).unwrap();
    let said = bench.say("report run");
    assert!(said.code == 5 && said.stderr.contains("2 of its 3 answers"), "{}", said.all());
    // The same shard twice.
    std::fs::remove_dir_all(&two).unwrap();
    copy_run(&away, &two);
    copy_run(&away, &bench.place.path().join("run/again"));
    let said = bench.say("report run");
    assert!(said.code == 2 && said.stderr.contains("are both shard 2/3"), "{}", said.all());
    std::fs::remove_dir_all(bench.place.path().join("run/again")).unwrap();
    assert_eq!(bench.say("report run").code, 0);
    // A shard over another suite.
    bench.place.file("suite.jsonl", suite(9).replace(">= 1", ">= 2"));
    std::fs::remove_dir_all(&two).unwrap();
    let said = run_command(bench.asks(&endpoint, "--folder run --shard 2/3"));
    assert_eq!(said.code, 0, "{}", said.all());
    let said = bench.say("report run");
    assert!(said.code == 2 && said.stderr.contains("questions or expected"), "{}", said.all());
    assert!(said.stderr.contains("--shard 2/3"), "{}", said.all());
}

#[test]
fn each_shard_takes_its_part_of_budgets_and_rates() {
    let bench = Bench::with_questions(12);
    let endpoint = MockEndpoint::start(script());
    let words = "--folder run --workers 1 --strategy single";
    // 4 calls for all: 2, 1 and 1.
    let mut done = 0;
    for shard in ["1/3", "2/3", "3/3"] {
        let words = format!("{words} --total-calls 4 --shard {shard}");
        let before = endpoint.count();
        let said = run_command(bench.asks(&endpoint, &words));
        assert_eq!(said.code, 16, "{}", said.all());
        done += endpoint.count() - before;
    }
    assert_eq!(done, 4);
    // Of two requests a minute there are none for the third shard.
    let rate = "SYRCH_REQUESTS_PER_MINUTE=2";
    let words = "--folder slow --shard 3/3";
    let said = run_command(worker(&bench, &endpoint, words, rate));
    assert!(said.code == 10 && said.stderr.contains("leaves nothing"), "{}", said.all());
    // The settings of the run are those of all shards.
    let rate = "SYRCH_REQUESTS_PER_MINUTE=600000";
    for shard in ["1/2", "2/2"] {
        let words = format!("--folder quick --shard {shard}");
        assert_eq!(run_command(worker(&bench, &endpoint, &words, rate)).code, 0);
    }
    assert_eq!(bench.say("report quick").code, 0);
}

#[test]
fn shards_of_a_grid_are_merged() {
    let bench = Bench::with_questions(7);
    let grid = "grid suite.jsonl --llm offline -P policy.max_attempts=1,3";
    assert_eq!(bench.say(grid).code, 0);
    let whole = bench.report("last");
    for shard in ["1/2", "2/2"] {
        let said = bench.say(&format!("{grid} --folder run --shard {shard}"));
        assert_eq!(said.code, 0, "{}", said.all());
    }
    assert_same(&bench.report("run"), &whole);
}

#[test]
fn a_batch_answers_the_lines_of_its_shard() {
    let place = Place::new();
    let questions: String = (0..7)
        .map(|at| format!("{{\"id\": {at}, \"question\": \"How many customers?\"}}\n"))
        .collect();
    let mut lines = Vec::new();
    let whole = finish(&mut place.words("batch --llm offline --db shop.sqlite"), questions.clone());
    for shard in ["1/2", "2/2"] {
        let mut command = place.words("batch --llm offline --db shop.sqlite");
        let output = finish(command.env("SYRCH_SHARD", shard), questions.clone());
        let (stdout, stderr) = read_streams(&output);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        place.file(&format!("part-{}", &shard[..1]), &stdout);
        lines.extend(stdout.lines().map(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            (answer["line"].as_u64().unwrap(), answer["id"].as_u64().unwrap())
        }));
    }
    assert_eq!(lines, [(1, 0), (3, 2), (5, 4), (7, 6), (2, 1), (4, 3), (6, 5)]);
    let output = finish(&mut place.words("batch --merge part-2 part-1"), questions.clone());
    let (merged, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let whole = crate::batch::answers(&read_streams(&whole).0);
    let merged = crate::batch::answers(&merged);
    let steady = crate::batch::steady;
    assert!(merged.iter().map(steady).eq(whole.iter().map(steady)), "{merged:?}");
    for (files, input, code, message) in [
        ("part-1", questions.clone(), 5, "--shard 2/2"),
        ("part-1 part-1", questions.clone(), 2, "line 1 is answered in"),
        ("part-1 part-2", questions.replace("\"id\": 3", "\"id\": 9"), 2, "another question"),
        ("part-1 part-2", questions[..60].to_owned(), 2, "another question"),
        ("part-3", questions.clone(), 2, "part-3"),
    ] {
        let mut command = place.words(&format!("batch --merge {files}"));
        let output = finish(command.env("SYRCH_SHARDS", "2"), input);
        let (stdout, stderr) = read_streams(&output);
        assert!(output.status.code() == Some(code) && stdout.is_empty(), "{files}: {stderr}");
        assert!(stderr.contains(message), "{files}: {stderr}");
    }
    let mut command = place.words("batch --llm offline --db shop.sqlite");
    let output = finish(command.env("SYRCH_SHARD", "3"), questions);
    let (_, stderr) = read_streams(&output);
    assert!(output.status.code() == Some(2) && stderr.contains("names no shard"), "{stderr}");
}
