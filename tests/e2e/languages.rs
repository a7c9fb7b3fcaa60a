//! The plugin `conformance` in every language: its component of `tests/languages/built` gives what
//! the one table of cases says, and answers a question. With `SYRCH_REQUIRE_LANGUAGES=1` it is
//! built from its sources, too, and so are new projects, examples and packages.

mod complete;
mod messages;
mod sources;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use syrch_kit::languages;
use tempfile::TempDir;

use crate::endpoint::Said;
use crate::{host, shop};

/// The roles of the contract.
const ROLES: [&str; 8] =
    ["linker", "planner", "solver", "calibrator", "reward", "clarifier", "aggregator", "rewriter"];

/// The folder of the cases and of the plugins' sources.
fn folder() -> PathBuf {
    syrch_kit::repository().join("tests/languages")
}

/// The names of the files in a folder that have this ending, without it and in order.
fn names(folder: &Path, ending: &str) -> Vec<String> {
    let files =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let files = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> =
        files.filter_map(|name| name.strip_suffix(ending).map(str::to_owned)).collect();
    names.sort();
    names
}

/// A folder with a component that is not compiled yet on a first run.
struct Place {
    folder: TempDir,
}

impl Place {
    /// With the component of this language.
    fn with_component(language: &str) -> Self {
        let place = Self { folder: syrch_kit::scratch() };
        fs::write(place.component(), languages::component(language)).unwrap();
        place
    }

    fn component(&self) -> PathBuf {
        self.folder.path().join("conformance.wasm")
    }

    /// `syrch-host plugin …` there.
    fn plugin(&self, words: &[&str]) -> Command {
        let mut command = host();
        command.current_dir(self.folder.path()).arg("plugin").args(words);
        command
    }

    /// A question to the shop, answered without a model.
    fn question(&self, words: &[&str]) -> Said {
        self.ask("How many customers are there?", words)
    }

    fn ask(&self, question: &str, words: &[&str]) -> Said {
        let mut command = host();
        command.current_dir(self.folder.path()).args(["--llm", "offline", "-q", question, "--db"]);
        command.arg(shop(self.folder.path())).args(words);
        Said::from_output(command.output().unwrap())
    }
}

fn run_command(command: &mut Command) -> Said {
    Said::from_output(command.output().unwrap())
}

/// Every case of a folder gives what its golden file says, in the host's process and in a worker.
fn passes(component: &Path, cases: &Path) {
    passes_in("none", component, cases);
    if cfg!(target_os = "linux") {
        passes_in("process", component, cases);
    }
}

fn passes_in(process: &str, component: &Path, cases: &Path) {
    let mut command = host();
    command.env("SYRCH_ISOLATE", process);
    command.args(["plugin", "test", "--format", "json"]).arg(component).arg("--cases").arg(cases);
    let said = run_command(&mut command);
    let expected = names(cases, ".yml").len();
    assert!(said.code == 0 || said.code == 5, "{}", said.all());
    let document: Value = serde_json::from_str(&said.stdout).unwrap();
    let results = document["cases"].as_array().unwrap();
    let differ: Vec<&Value> = results.iter().filter(|case| case["result"] != "same").collect();
    assert!(differ.is_empty(), "{}: {differ:#?}", component.display());
    assert_eq!((said.code, results.len()), (0, expected), "{}", cases.display());
}

/// The host refuses settings by the plugin's schema, before a role is called.
fn refuses(place: &Place) {
    let cases = folder().join("refused");
    for name in names(&cases, ".yml") {
        let case = cases.join(name + ".yml");
        let text = fs::read_to_string(&case).unwrap();
        let expected = text.lines().next().unwrap().strip_prefix("# refused: ").unwrap();
        let said = run_command(place.plugin(&["call", "./conformance.wasm", "--case"]).arg(&case));
        assert_eq!(said.code, 10, "{}: {}", case.display(), said.all());
        assert!(said.stderr.contains(expected), "{}: {}", case.display(), said.all());
    }
}

/// A search whose planner and solver are in this language gives its answer.
fn answers(place: &Place) {
    let inspected =
        run_command(&mut place.plugin(&["inspect", "./conformance.wasm", "--format", "json"]))
            .document(0);
    for role in ROLES {
        assert!(inspected["roles"].to_string().contains(role), "{role}: {inspected:#}");
    }
    let plugin = "./conformance.wasm";
    // The plugin's statement reads no table.
    let flags = ["--format", "json", "--quiet", "--planner", plugin, "--solver", plugin];
    let answered = place.ask("What is 1?", &flags).document(0);
    assert_eq!(answered["sql"], "SELECT 1", "{answered:#}");
    let candidate = &answered["candidates"][0];
    assert_eq!(
        (&candidate["id"], &candidate["status"]),
        (&json!("only"), &json!("answer")),
        "{answered:#}"
    );
}

/// One test for each language: its component is compiled once.
fn conforms(language: &str) {
    let place = Place::with_component(language);
    answers(&place);
    refuses(&place);
    messages::are_as_before(&place, language);
    passes(&place.component(), &folder().join(language).join("tests"));
    passes(&place.component(), &folder().join("cases"));
}

#[test]
fn rust_conforms() {
    conforms("rust");
}

#[test]
fn python_conforms() {
    conforms("python");
}

#[test]
fn javascript_conforms() {
    conforms("js");
}

#[test]
fn go_conforms() {
    conforms("go");
}

#[test]
fn c_conforms() {
    conforms("c");
}

/// The hint of a component that speaks another version of the contract.
#[test]
fn a_hint_names_the_tool_that_made_the_component() {
    let tools = [
        ("rust", "cargo build"),
        ("python", "componentize-py"),
        ("js", "componentize-qjs"),
        ("go", "go build"),
        ("c", "clang"),
    ];
    assert!(tools.iter().map(|(language, _)| *language).eq(languages::NAMES));
    for (language, tool) in tools {
        let place = Place::with_component(language);
        let bytes = languages::alter_component(
            language,
            "syrch:plugin/planner@0.1.0",
            "syrch:plugin/planner@0.9.0",
        );
        fs::write(place.component(), bytes).unwrap();
        let refused = run_command(&mut place.plugin(&["inspect", "./conformance.wasm"]));
        assert_eq!(refused.code, 13, "{language}: {}", refused.all());
        assert!(
            refused.stderr.contains("0.9.0") && refused.stderr.contains(tool),
            "{language}: {}",
            refused.all()
        );
    }
}
