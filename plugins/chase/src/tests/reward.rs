//! The reward: rivals compete for their results.

use super::*;

fn rival(id: &str, n: i64) -> Rival {
    let candidate = Candidate { id: id.into(), sql: format!("SELECT {n}"), ..Candidate::default() };
    Rival { candidate, results: numbers(&[n]).handle() }
}

fn judge(host: &FakeHost, settings: Settings, rivals: &[Rival]) -> Vec<Verdict> {
    Chase::new(settings)
        .judge(host, &Problem::new("q"), &catalog(), &Task::new("A", "q"), rivals)
        .unwrap()
}

/// The model prefers whoever has the greater number.
fn judge_by_number(settings: &Settings, rivals: &[Rival]) -> (FakeHost, Vec<Verdict>) {
    let mut probe = FakeHost::default();
    database(&mut probe);
    judge(&probe, settings.clone(), rivals);
    fn number(text: &str, word: &str) -> char {
        let after = text.split(&format!("Statement {word}:\nSELECT ")).nth(1).unwrap().to_owned();
        after.chars().next().unwrap()
    }
    let prompts: Vec<String> =
        (0..probe.model.requests().len()).map(|place| probe.model.prompt(place)).collect();
    let mut host = FakeHost::default();
    database(&mut host);
    for prompt in &prompts {
        prefers(&mut host, &[if number(prompt, "A") > number(prompt, "B") { "A" } else { "B" }]);
    }
    let verdicts = judge(&host, settings.clone(), rivals);
    (host, verdicts)
}

#[test]
fn each_rival_has_the_verdict_of_its_result() {
    let rivals = [rival("x", 1), rival("y", 3), rival("z", 1), rival("w", 2)];
    let (host, verdicts) = judge_by_number(&Settings::default(), &rivals);
    // Equal results are not compared: three pairs of three results.
    assert_eq!(host.model.requests().len(), 3);
    assert!(host.model.requests().iter().all(|request| request.purpose == Purpose::Select));
    let lost = rejected(0.0, "its result won 0 of 2 comparisons");
    let won = accepted(1.0, "its result won 2 of 2 comparisons");
    let half = accepted(0.5, "its result won 1 of 2 comparisons");
    assert_eq!(verdicts, [lost.clone(), won, lost, half]);
}

#[test]
fn the_budget_of_comparisons_leaves_some_without_a_verdict() {
    let rivals = [rival("x", 1), rival("y", 2), rival("z", 3)];
    let (host, verdicts) =
        judge_by_number(&Settings { comparisons: 1, ..Settings::default() }, &rivals);
    assert_eq!(host.model.requests().len(), 1);
    assert_eq!(verdicts[1], accepted(1.0, "its result won 1 of 1 comparison"));
    assert_eq!(verdicts[2], Verdict::Unavailable("no comparison came to a word on it".into()));
}

#[test]
fn a_judge_that_cannot_judge_says_so() {
    fn unavailable(verdicts: &[Verdict]) -> bool {
        verdicts.iter().all(|verdict| matches!(verdict, Verdict::Unavailable(_)))
    }
    // A model that has no word on it.
    let host = FakeHost::default();
    assert!(unavailable(&judge(&host, Settings::default(), &[rival("x", 1), rival("y", 2)])));
    assert_eq!(host.model.requests().len(), 1);
    // One rival, or several that agree: nothing to compare, and nothing asked.
    let host = FakeHost::default();
    let verdicts = judge(&host, Settings::default(), &[rival("x", 1), rival("y", 1)]);
    assert_eq!(
        verdicts[0],
        Verdict::Unavailable("there is no other result to compare it with".into())
    );
    assert!(
        unavailable(&verdicts) && unavailable(&judge(&host, Settings::default(), &[rival("x", 1)]))
    );
    assert!(judge(&host, Settings::default(), &[]).is_empty());
    assert!(host.model.requests().is_empty());
}
