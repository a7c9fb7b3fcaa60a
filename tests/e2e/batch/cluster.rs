//! Many machines: what parts of a file come to, put together, is what one process comes to. Once by
//! a shell, and once by Spark where it is.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{answers, batch, steady};
use crate::bad_input::{Place, finish, read_streams};

/// The time that an installation of Spark may take.
const PATIENCE: Duration = Duration::from_secs(500);

/// The keys that differ between the reports of two runs: the run, the files that were read, times,
/// and counts of calls.
const ASIDE: [&str; 9] =
    ["run", "run_id", "id", "settings", "latency", "duration", "calls", "calls_mean", "sent"];

/// The shop of the examples with its questions.
pub(super) fn example() -> Place {
    let place = Place::new();
    fs::remove_file(place.path().join("shop.sqlite")).unwrap();
    syrch_examples::make_shop(&place.path().join("shop.sqlite")).unwrap();
    fs::copy(
        syrch_kit::repository().join("examples/questions.jsonl"),
        place.path().join("questions.jsonl"),
    )
    .unwrap();
    place
}

/// The report on these answers, without [`ASIDE`].
fn report(place: &Place, files: &[&str]) -> Value {
    let mut command = place.words("benchmark questions.jsonl --format json --quiet");
    command.args(files.iter().flat_map(|file| ["--answers", file]));
    let output = finish(command.env("SYRCH_STATE_DIR", place.path().join("state")), "");
    let (stdout, stderr) = read_streams(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let mut document: Value = serde_json::from_str(&stdout).unwrap();
    assert!(
        document["right"].as_u64().unwrap() > 20
            && document["results"].as_array().unwrap().len() == 48,
        "{stdout}"
    );
    without(&mut document, &ASIDE.into());
    document
}

fn without(value: &mut Value, names: &BTreeSet<&str>) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !names.contains(name.as_str()));
            members.values_mut().for_each(|member| without(member, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without(item, names)),
        _ => {}
    }
}

/// The answers of one process, which are written to `one.jsonl`.
pub(super) fn one(place: &Place) -> Vec<Value> {
    let questions = fs::read(place.path().join("questions.jsonl")).unwrap();
    let mut command = place.words("batch --llm offline --db shop.sqlite --quiet");
    let (all, _) = batch(&mut command, questions, 0);
    place.file("one.jsonl", all.iter().map(|answer| answer.to_string() + "\n").collect::<String>());
    all
}

/// All answers by their ids, without what tells runs, and places in a file, apart.
fn by_id(all: &[Value]) -> Vec<Value> {
    let mut all: Vec<Value> = all.iter().map(steady).collect();
    all.iter_mut().for_each(|answer| drop(answer.as_object_mut().unwrap().shift_remove("line")));
    all.sort_by_key(|answer| answer["id"].as_str().unwrap().to_owned());
    all
}

/// The command in a folder, with this build's program in front and the offline rules in place of a
/// model.
fn environment(command: &mut Command, place: &Place) {
    let binaries = Path::new(env!("CARGO_BIN_EXE_syrch-host")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let host = place.host();
    for (name, value) in host.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
        .env("PATH", format!("{}:{path}", binaries.display()))
        .current_dir(place.path())
        .stdin(Stdio::null());
}

#[cfg(unix)]
#[test]
fn parts_of_a_shell_are_one_process() {
    let place = example();
    let whole = one(&place);
    let script = "split -n l/5 questions.jsonl part- && ls part-?? | \
                  xargs -P 3 -I{} sh -c 'syrch-host batch --quiet --llm offline --db shop.sqlite \
                  --as-they-come < {} > {}.answers'";
    let mut shell = Command::new("sh");
    environment(shell.args(["-c", script]), &place);
    let output: Output = shell.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let files = ["part-aa", "part-ab", "part-ac", "part-ad", "part-ae"]
        .map(|part| format!("{part}.answers"));
    let text = |file: &String| fs::read_to_string(place.path().join(file)).unwrap();
    let parts: Vec<Value> = files.iter().flat_map(|file| answers(&text(file))).collect();
    assert_eq!((parts.len(), by_id(&parts)), (48, by_id(&whole)));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    assert!(report(&place, &files) == report(&place, &["one.jsonl"]), "the reports differ");
}

/// A Python that has Spark: the machine's, or one in `target/`, which is made when
/// `SYRCH_TEST_SPARK=install` asks for it.
fn python() -> Option<PathBuf> {
    fn has_spark(python: &Path) -> bool {
        let mut command = Command::new(python);
        let output = command.args(["-c", "import pyspark"]).stdin(Stdio::null()).output();
        output.is_ok_and(|output| output.status.success())
    }
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pyspark");
    let own = home.join("bin/python3");
    if let Some(python) = [Path::new("python3"), &own].into_iter().find(|python| has_spark(python))
    {
        return Some(python.to_owned());
    }
    let install = std::env::var("SYRCH_TEST_SPARK").is_ok_and(|word| word == "install");
    if !install {
        syrch_kit::skip(
            "there is no Python with pyspark: SYRCH_TEST_SPARK=install gets it into target/",
        );
        return None;
    }
    let mut venv = Command::new("python3");
    let mut pip = Command::new(&own);
    let made = within(venv.args(["-m", "venv"]).arg(&home))
        && within(pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--retries",
            "1",
            "--timeout",
            "10",
            "pyspark",
        ]));
    assert!(
        made && has_spark(&own),
        "SYRCH_TEST_SPARK=install is set, and pyspark cannot be installed"
    );
    Some(own)
}

/// Runs a command. Returns true if it ends well and in time.
fn within(command: &mut Command) -> bool {
    let Ok(mut child) = command.stdin(Stdio::null()).spawn() else { return false };
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(100)),
            ended => return ended.is_ok_and(|ended| ended.is_some_and(|status| status.success())),
        }
    }
    drop(child.kill());
    drop(child.wait());
    false
}

#[test]
fn parts_of_spark_are_one_process() {
    let is_java =
        Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success());
    if !is_java {
        syrch_kit::skip(
            "there is no Java, which Spark runs on: install a package such as \
             `default-jre-headless`",
        );
        return;
    }
    let Some(python) = python() else { return };
    let place = example();
    let whole = one(&place);
    let mut spark = Command::new(&python);
    spark.arg(syrch_kit::repository().join("examples/spark/pipe.py"));
    spark.args([
        "questions.jsonl",
        "answers",
        "--partitions",
        "4",
        "--",
        "--db",
        "shop.sqlite",
        "--llm",
        "offline",
    ]);
    environment(&mut spark, &place);
    spark.env("PYSPARK_PYTHON", &python).env("SPARK_LOCAL_IP", "127.0.0.1");
    let output = spark.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files = [0, 1, 2, 3].map(|part| format!("answers/part-{part:05}"));
    let text = |file: &String| fs::read_to_string(place.path().join(file)).unwrap();
    let parts: Vec<Value> = files.iter().flat_map(|file| answers(&text(file))).collect();
    assert_eq!((parts.len(), by_id(&parts)), (48, by_id(&whole)));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    assert!(report(&place, &files) == report(&place, &["one.jsonl"]), "the reports differ");
    println!("Spark answered {} questions in {} parts", parts.len(), files.len());
}
