//! Every command of the documents is run as it stands there.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use syrch_kit::{MockEndpoint, Reply, Script};

/// The lines of a document's `sh` blocks.
fn commands(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(syrch_kit::repository().join(document)).unwrap();
    let mut inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        match line.trim() {
            "```sh" => inside = true,
            fence if fence.starts_with("```") => inside = false,
            command if inside && !command.is_empty() && !command.starts_with('#') => lines.push(command.to_owned()),
            _ => {}
        }
    }
    lines
}

/// A shell in the repository, with this build's binary in front and nothing of the test runner around.
fn shell(command: &str, home: &Path) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(syrch_kit::repository());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        // How cargo is set up stays, or the commands would build for themselves what the tests have built; what it tells a test goes.
        let set_up = ["CARGO_HOME", "CARGO_INCREMENTAL", "CARGO_TARGET_DIR"].contains(&name.as_str());
        let of_cargo = name == "OUT_DIR" || name.starts_with("CARGO") && !set_up;
        if of_cargo || name.starts_with("SYRCH_") || name.starts_with("OPENAI_") || name.starts_with("NEXTEST") {
            shell.env_remove(&name);
        }
    }
    let binaries = Path::new(env!("CARGO_BIN_EXE_syrch-host")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    shell.env("PATH", format!("{}:{path}", binaries.display())).env("SYRCH_CACHE_DIR", home.join("cache"));
    // A home of its own keeps the reader's configuration out; rustup and cargo still find theirs.
    let user = std::env::var("HOME").map(PathBuf::from).unwrap_or_default();
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        if std::env::var_os(name).is_none() {
            shell.env(name, user.join(folder));
        }
    }
    shell.env("HOME", home).output().unwrap()
}

fn passes(command: &str, home: &Path) -> String {
    let output = shell(command, home);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "`{command}` ended with {}\n{stdout}\n{stderr}", output.status);
    stdout.into_owned()
}

/// `make demo`, once for all tests of one process: the others need what it makes.
fn demo() -> &'static str {
    static DEMO: OnceLock<String> = OnceLock::new();
    DEMO.get_or_init(|| {
        let home = syrch_kit::scratch();
        passes("make demo", home.path())
    })
}

#[test]
fn the_readmes_commands_work() {
    let home = syrch_kit::scratch();
    let shown = demo();
    assert!(shown.contains("240") && shown.contains("SELECT"), "{shown}");
    let answer = "SELECT country FROM customers GROUP BY country ORDER BY count(*) DESC LIMIT 1";
    let script = Script::new()
        .on(["Decompose"], Reply::text(r#"{"subtasks":[]}"#))
        .on(["You know how people in business"], Reply::text(r#"{"table":["things"],"columns":[]}"#))
        .with(move |_, _| Some(Reply::sql(answer, 0.95)));
    let endpoint = MockEndpoint::start(script);
    let listed = commands("README.md");
    assert!(listed.len() >= 10, "the readme shows only {} commands", listed.len());
    for command in listed {
        if command == "make demo" {
            continue;
        }
        let command = command
            .replace(
                "cargo install --locked",
                &format!("cargo install --locked --debug --root {}/root", home.path().display()),
            )
            .replace("http://localhost:11434/v1", &endpoint.url());
        passes(&command, home.path());
    }
    assert!(endpoint.count() >= 2, "the model was not asked");
}

#[test]
fn the_binary_needs_no_file_and_no_network() {
    demo();
    let home = syrch_kit::scratch();
    let elsewhere = home.path().join("syrch-host");
    std::fs::copy(env!("CARGO_BIN_EXE_syrch-host"), &elsewhere).unwrap();
    let ask = |prefix: &str| {
        format!(
            "{prefix} {} --planner plugins/decompose.wasm -q 'How many customers are there?' --db examples/shop.sqlite",
            elsewhere.display()
        )
    };
    assert!(passes(&ask(""), home.path()).contains("240"));
    if shell("unshare -rn true", home.path()).status.success() {
        assert!(passes(&ask("unshare -rn"), home.path()).contains("240"));
    } else {
        println!("skipped: this machine does not let a test cut its network");
    }
}

#[test]
fn the_other_documents_commands_work() {
    demo();
    let home = syrch_kit::scratch();
    for document in ["host/README.md", "wit/README.md", "examples/README.md"] {
        for command in commands(document) {
            passes(&command, home.path());
        }
    }
}

/// The plugin of the SDK's guide, built and used as its reader would, from its text alone.
#[test]
fn the_plugin_of_the_guide_works() {
    demo();
    let guide = std::fs::read_to_string(syrch_kit::repository().join("sdk/README.md")).unwrap();
    let block = |fence: &str| guide.split(fence).nth(1).unwrap().split("```").next().unwrap().to_owned();
    let home = syrch_kit::scratch();
    let folder = home.path().join("short");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/lib.rs"), block("```rust\n")).unwrap();
    let sdk = syrch_kit::repository().join("sdk/rust");
    let released = "{ git = \"https://github.com/syrch/syrch-host\" }";
    let manifest = block("```toml\n");
    assert!(manifest.contains(released), "the guide names the SDK in another way: {manifest}");
    let manifest = manifest.replace(released, &format!("{{ path = {:?} }}", sdk.display().to_string()));
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The same versions as ours: nothing new is fetched.
    std::fs::copy(syrch_kit::repository().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let listed = commands("sdk/README.md");
    assert!(listed.len() >= 4, "{listed:?}");
    let shop = syrch_kit::repository().join("examples/shop.sqlite");
    for command in listed {
        let command = command.replace(
            "-q \"…\" --db shop.sqlite",
            &format!("-q 'How many customers are there?' --db {}", shop.display()),
        );
        passes(&format!("cd {} && {command}", folder.display()), home.path());
    }
}
