//! 200 times killed in the middle of 1,000 questions, with 8 workers: nothing is lost, nothing is
//! done twice, and the report is that of a run that nobody disturbed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use syrch_basics::Random;
use syrch_kit::{MockEndpoint, Script};

use super::{Bench, answer, assert_same, figures, question_number};
use crate::endpoint::{PLAN, Said};

const WORKERS: usize = 8;
/// A call takes so many milliseconds, and up to as many more.
const CALL: u64 = 2;

/// The number of times that each call was made: by the question, and whether it was for a plan.
type Calls = Arc<Mutex<BTreeMap<(usize, bool), usize>>>;

fn count_calls(calls: &Calls) -> Script {
    let calls = Arc::clone(calls);
    Script::new().with(move |request, number| {
        let key = (question_number(request)?, request.prompt().contains(PLAN));
        *calls.lock().unwrap().entry(key).or_default() += 1;
        Some(answer(request)?.delay_ms(CALL + number as u64 % CALL))
    })
}

/// The questions whose answers are in the results, by their number; empty before there is a run.
fn find_done(bench: &Bench) -> BTreeSet<usize> {
    let Ok(mut runs) = std::fs::read_dir(bench.state().join("suites")) else {
        return BTreeSet::new();
    };
    let Some(run) = runs.next() else { return BTreeSet::new() };
    let text =
        std::fs::read_to_string(run.unwrap().path().join("results.jsonl")).unwrap_or_default();
    // What follows the last line's end was being written.
    let whole = text.rsplit_once('\n').map(|(whole, _)| whole).unwrap_or_default();
    whole
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["graded"]["place"].as_u64().unwrap() as usize
        })
        .collect()
}

/// Lets it work until the endpoint has received some more calls and a moment has passed, or, now
/// and then, not even that, and kills it. False: it had finished.
fn kill(mut child: Child, endpoint: &MockEndpoint, random: &mut Random) -> bool {
    let before = endpoint.count();
    let started = Instant::now();
    if random.number().is_multiple_of(8) {
        std::thread::sleep(Duration::from_millis(random.number() % 150));
    } else {
        let more = 1 + (random.number() % 16) as usize;
        while endpoint.count() < before + more && child.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < Duration::from_secs(60), "it does nothing");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(random.number() % 6_000));
    }
    let has_ended = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    !has_ended
}

#[test]
fn kills_change_nothing() {
    let questions = syrch_kit::scale(200, 1_000);
    let kills = syrch_kit::scale(10, 200);
    let all = (questions as u64 / 5 * 4, questions as u64);
    let bench = Bench::with_questions(questions);
    let calls = Calls::default();
    let endpoint = MockEndpoint::start(count_calls(&calls));
    let words = format!("--workers {WORKERS} --format json");
    let whole = Said::from_output(bench.asks(&endpoint, &words).output().unwrap()).document(0);
    assert_eq!(figures(&whole), all);
    let expected = bench.report("last");
    let distinct = calls.lock().unwrap().len();
    assert!(calls.lock().unwrap().values().all(|count| *count == 1));
    std::fs::remove_dir_all(bench.state()).unwrap();
    calls.lock().unwrap().clear();

    let mut random = Random::new(1);
    let mut killed = 0;
    let mut known = BTreeMap::new();
    let started = Instant::now();
    // How far a run gets between two kills depends on the machine: a slow one is killed a few times
    // more.
    while killed < kills || known.len() <= kills {
        assert!(
            killed < 20 * kills,
            "it hardly came on: {} are done after {killed} kills",
            known.len()
        );
        let resume = if bench.state().join("suites").exists() && !bench.runs().is_empty() {
            "--resume last"
        } else {
            ""
        };
        let mut command = bench.asks(&endpoint, &format!("{words} {resume}"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        assert!(kill(child, &endpoint, &mut random), "it came to its end after {killed} kills");
        killed += 1;
        let calls = calls.lock().unwrap();
        let made = |at: usize| {
            [true, false].map(|plan| calls.get(&(at, plan)).copied().unwrap_or_default())
        };
        let now = find_done(&bench);
        assert!(known.keys().all(|at| now.contains(at)), "answers were lost");
        for at in now {
            assert_eq!(
                *known.entry(at).or_insert_with(|| made(at)),
                made(at),
                "question {at} was asked again"
            );
        }
    }
    println!(
        "{killed} kills took {:.1} s, and {} of {questions} were done then",
        started.elapsed().as_secs_f64(),
        known.len()
    );
    let said = Said::from_output(
        bench.asks(&endpoint, &format!("{words} --resume last")).output().unwrap(),
    );
    assert_eq!(figures(&said.document(0)), all);
    assert_eq!(bench.runs().len(), 1);
    let calls = calls.lock().unwrap();
    let sent = calls.values().sum::<usize>();
    let most = distinct + killed * WORKERS;
    println!("{distinct} distinct calls, {sent} were sent");
    assert_eq!(calls.len(), distinct);
    assert!(sent > distinct && sent <= most, "{sent} calls were sent, {most} at most may be");
    for (at, asked) in known {
        assert_eq!(
            asked,
            [true, false].map(|plan| calls[&(at, plan)]),
            "question {at} was asked again"
        );
    }
    assert_same(&bench.report("last"), &expected);
}
