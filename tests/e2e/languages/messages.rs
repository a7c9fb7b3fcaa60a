//! Tests of what an author sees of an exception, an endless loop, a reply that is too large, a
//! wrong value and, where no compiler finds it, a wrong type, in each language.

use super::{Place, folder, run_command};
use crate::compare::assert_snapshot;

/// A fault, the case that has it, and the settings with which a solver has it in a search.
type Wrong = (&'static str, &'static str, &'static [&'static str]);

const WRONGS: [Wrong; 5] = [
    (
        "a deliberate exception",
        "LANGUAGE/tests/solver-raise",
        &["solver.habit=raise", "solver.text=the sky falls"],
    ),
    // A search calls the solver several times, each for seconds.
    ("an endless loop", "cases/linker-loop", &[]),
    ("a reply that is too large", "cases/solver-large", &["solver.habit=large", "solver.size=65"]),
    ("a value that the contract does not allow", "cases/solver-wrong", &["solver.habit=wrong"]),
    (
        "a value of another type",
        "LANGUAGE/tests/solver-type",
        &["solver.habit=wrong", "solver.text=another type"],
    ),
];

/// The languages whose compiler finds a value of another type.
const TYPED: [&str; 3] = ["rust", "go", "c"];

/// Both streams, without the line that a first run alone has, and the one with a search's time.
fn visible_text(place: &Place, said: &crate::endpoint::Said) -> String {
    let own = place.folder.path().display().to_string();
    let text = format!("{}{}", said.stdout, said.stderr).replace(&own, ".");
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("compiling ") && !line.starts_with("0 statements, "));
    let lines: String = lines.map(|line| line.trim_end().to_owned() + "\n").collect();
    format!("{lines}exit {}\n", said.code)
}

/// Compares all that an author sees with the snapshot of the language.
pub(super) fn are_as_before(place: &Place, language: &str) {
    let mut text = String::new();
    for (what, case, settings) in WRONGS {
        if TYPED.contains(&language) && case.ends_with("-type") {
            continue;
        }
        let case = case.replace("LANGUAGE", language);
        let file = folder().join(format!("{case}.yml"));
        let called =
            run_command(place.plugin(&["call", "./conformance.wasm", "--case"]).arg(&file));
        text += &format!(
            "# {what}: plugin call conformance.wasm --case {case}.yml\n{}\n",
            visible_text(place, &called)
        );
        if settings.is_empty() {
            continue;
        }
        let settings = settings.iter().flat_map(|setting| ["-P", setting]);
        let words: Vec<&str> =
            ["--solver", "./conformance.wasm"].into_iter().chain(settings).collect();
        let searched = place.question(&words);
        text += &format!("# {what}, in a search\n{}\n", visible_text(place, &searched));
    }
    assert_snapshot(&format!("language-{language}.txt"), &text);
}
