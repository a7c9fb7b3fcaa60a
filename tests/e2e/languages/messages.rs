//! What an author sees of an exception, an endless loop, a reply that is too large and a wrong value, in each language.

use super::{Place, folder, said};
use crate::compare::assert_snapshot;

/// What is wrong, the case that does it, and the settings with which a solver does it in a search.
const WRONGS: [(&str, &str, Option<&str>); 4] = [
    ("a deliberate exception", "LANGUAGE/tests/solver-raise", Some("raise")),
    // A search calls the solver several times, each for seconds.
    ("an endless loop", "cases/linker-loop", None),
    ("a reply that is too large", "cases/solver-large", Some("large")),
    ("a value that the contract does not allow", "cases/solver-wrong", Some("wrong")),
];

/// Both streams, without the line that a first run alone has, and the one with a search's time.
fn shown(place: &Place, said: &crate::endpoint::Said) -> String {
    let own = place.folder.path().display().to_string();
    let text = format!("{}{}", said.stdout, said.stderr).replace(&own, ".");
    let lines = text.lines().filter(|line| !line.starts_with("compiling ") && !line.starts_with("0 statements, "));
    let lines: String = lines.map(|line| line.trim_end().to_owned() + "\n").collect();
    format!("{lines}exit {}\n", said.code)
}

/// Compares all that an author sees with the snapshot of the language.
pub(super) fn are_as_before(place: &Place, language: &str) {
    let mut text = String::new();
    for (what, case, habit) in WRONGS {
        let case = case.replace("LANGUAGE", language);
        let file = folder().join(format!("{case}.yml"));
        let called = said(place.plugin(&["call", "./conformance.wasm", "--case"]).arg(&file));
        text += &format!("# {what}: plugin call conformance.wasm --case {case}.yml\n{}\n", shown(place, &called));
        let Some(habit) = habit else { continue };
        let settings =
            [format!("solver.habit={habit}"), "solver.text=the sky falls".to_owned(), "solver.size=65".to_owned()];
        let words = ["--solver", "./conformance.wasm", "-P", &settings[0], "-P", &settings[1], "-P", &settings[2]];
        let searched = place.question(&words);
        text += &format!("# {what}, in a search\n{}\n", shown(place, &searched));
    }
    assert_snapshot(&format!("language-{language}.txt"), &text);
}
