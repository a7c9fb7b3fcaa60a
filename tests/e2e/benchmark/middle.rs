//! A run that is cut off in the middle of a question is resumed there: what is done is not asked
//! again, and of the question only what was under way.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use syrch_kit::{MockEndpoint, Reply, Script};

use super::{Bench, answer, assert_same, figures, question_number};
use crate::endpoint::{PLAN, Said};

const QUESTIONS: usize = 6;
/// The question whose statement is not written at first.
const MIDDLE: usize = 3;

/// Returns the number of times that each call was made: by the question, and whether it was for a
/// plan.
fn calls(endpoint: &MockEndpoint) -> BTreeMap<(usize, bool), usize> {
    let mut calls = BTreeMap::new();
    for request in endpoint.requests() {
        *calls
            .entry((question_number(&request).unwrap(), request.prompt().contains(PLAN)))
            .or_default() += 1;
    }
    calls
}

fn end(mut child: Child, signal: &str) -> Option<i32> {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait().unwrap().code()
}

#[test]
fn only_what_was_under_way_is_asked_again() {
    for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
        let bench = Bench::with_questions(QUESTIONS);
        let hangs = Arc::new(AtomicBool::new(true));
        let is_hanging = Arc::clone(&hangs);
        let endpoint = MockEndpoint::start(Script::new().with(move |request, _| {
            let is_last =
                question_number(request) == Some(MIDDLE) && !request.prompt().contains(PLAN);
            if is_last && is_hanging.load(Ordering::SeqCst) {
                Some(Reply::hang())
            } else {
                answer(request)
            }
        }));
        let mut command = bench.asks(&endpoint, "--workers 1");
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        while endpoint.count() < 2 * MIDDLE + 2 {
            assert!(
                started.elapsed() < Duration::from_secs(60),
                "it does not come to the question"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
        assert_eq!(end(child, signal), code, "{signal}");
        hangs.store(false, Ordering::SeqCst);
        let said = Said::from_output(
            bench.asks(&endpoint, "--workers 1 --resume last --format json").output().unwrap(),
        );
        assert_eq!(figures(&said.document(0)), (5, 6), "{signal}");
        assert!(
            said.stderr.contains(&format!("{MIDDLE} are done already")),
            "{signal}: {}",
            said.all()
        );
        let expected: BTreeMap<_, _> = (0..QUESTIONS)
            .flat_map(|at| [((at, true), 1), ((at, false), if at == MIDDLE { 2 } else { 1 })])
            .collect();
        assert_eq!(calls(&endpoint), expected, "{signal}");
        assert_eq!(bench.runs().len(), 1);
        let report = bench.report("last");
        assert_eq!(Said::from_output(bench.asks(&endpoint, "").output().unwrap()).code, 0);
        assert_same(&report, &bench.report("last"));
    }
}
