//! Every command of the documents is run as it stands there, what they show of its output is
//! compared, and their links are followed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use syrch_kit::{MockEndpoint, Reply, Script};

/// The folders of the documents whose commands run from the repository's root. The guide of the SDK
/// has a test of its own.
const FOLDERS: [&str; 6] = ["", "docs", "examples", "host", "host/cli/packaging", "wit"];

/// The documents of these folders, in the order of their paths.
fn documents() -> Vec<PathBuf> {
    let folders = FOLDERS.iter().map(|folder| syrch_kit::repository().join(folder));
    let files = folders
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    found.sort();
    found
}

/// A command of a document.
struct Step {
    command: String,
    /// The `text` block that directly follows the command's block: what it prints, as the document
    /// shows it.
    shown: Option<String>,
}

/// The lines of a document's `sh` blocks.
fn steps(document: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut fence = None;
    let mut is_after_commands = false;
    for line in document.lines() {
        let line = line.trim_end();
        match (fence, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => {
                fence = Some(language);
                is_after_commands &= language == "text";
                if let Some(step) = steps.last_mut().filter(|_| is_after_commands) {
                    step.shown = Some(String::new());
                }
            }
            (Some(language), Some(_)) => {
                fence = None;
                is_after_commands = language == "sh";
            }
            (Some("sh"), None) if !line.is_empty() && !line.starts_with('#') => {
                steps.push(Step { command: line.trim().to_owned(), shown: None });
            }
            (Some("text"), None) if is_after_commands => {
                let shown = steps.last_mut().and_then(|step| step.shown.as_mut()).unwrap();
                shown.push_str(line);
                shown.push('\n');
            }
            (None, None) if !line.is_empty() => is_after_commands = false,
            _ => {}
        }
    }
    steps
}

/// A shell in the repository, with this build's binary in front and nothing of the test runner
/// around.
fn shell(command: &str, home: &Path) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(syrch_kit::repository());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        // How cargo is set up stays, or the commands would build for themselves what the tests have
        // built; what it passes to a test goes.
        let set_up = ["CARGO_HOME", "CARGO_INCREMENTAL", "CARGO_TARGET_DIR"]
            .contains(&name.as_str())
            || name.starts_with("CARGO_PROFILE_");
        let of_cargo = name == "OUT_DIR" || name.starts_with("CARGO") && !set_up;
        if of_cargo
            || ["SYRCH_", "OPENAI_", "ANTHROPIC_", "NEXTEST", "PG"]
                .iter()
                .any(|start| name.starts_with(start))
        {
            shell.env_remove(&name);
        }
    }
    let binaries = Path::new(env!("CARGO_BIN_EXE_syrch-host")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    shell
        .env("PATH", format!("{}:{path}", binaries.display()))
        .env("SYRCH_CACHE_DIR", home.join("cache"));
    // A home of its own keeps the reader's configuration out; rustup and cargo still find theirs.
    let user = std::env::var("HOME").map(PathBuf::from).unwrap_or_default();
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        if std::env::var_os(name).is_none() {
            shell.env(name, user.join(folder));
        }
    }
    // Without it `make` would build once more what plain cargo built for the tests, and put it in
    // the place of a binary that they run.
    if std::env::var_os("CARGO_INCREMENTAL").is_none() {
        shell.env("INCREMENTAL", "1");
    }
    shell.env("HOME", home).output().unwrap()
}

fn passes(command: &str, home: &Path) -> String {
    let output = shell(command, home);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "`{command}` ended with {}\n{stdout}\n{stderr}",
        output.status
    );
    stdout.into_owned()
}

/// The database at a server that documents name.
const POSTGRES: &str = "postgres://ann@localhost/shop";

/// Returns the URL of that database in this test, in quotes; `None` if there is no server for
/// tests.
#[cfg(unix)]
fn postgres() -> Option<String> {
    let server = syrch_kit::postgres::Server::get_shared()?;
    server.database("shop", crate::postgres::SHOP);
    server
        .psql("shop", "CREATE ROLE ann LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ann")
        .unwrap();
    Some(format!("'{}'", server.url("ann", "shop")))
}

#[cfg(not(unix))]
fn postgres() -> Option<String> {
    None
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
fn the_documents_commands_work() {
    let answers = demo();
    assert!(answers.contains("240") && answers.contains("SELECT"), "{answers}");
    let answer = "SELECT country FROM customers GROUP BY country ORDER BY count(*) DESC LIMIT 1";
    let script = Script::new()
        .on(["Decompose"], Reply::text(r#"{"subtasks":[]}"#))
        .on(
            ["You know how people in business"],
            Reply::text(r#"{"table":["things"],"columns":[]}"#),
        )
        .with(move |_, _| Some(Reply::sql(answer, 0.95)));
    let endpoint = MockEndpoint::start(script);
    let server = postgres();
    let readme = std::fs::read_to_string(syrch_kit::repository().join("README.md")).unwrap();
    let quick_start: Vec<String> = steps(&readme).into_iter().map(|step| step.command).collect();
    assert!(quick_start.len() >= 10, "the readme shows only {} commands", quick_start.len());
    for command in ["make demo", "cargo install --locked --path host/cli"] {
        assert!(
            quick_start.iter().any(|step| step == command),
            "the readme does not show `{command}`"
        );
    }
    assert!(steps(&readme).iter().any(|step| step.shown.is_some()), "the readme shows no output");
    // One run shows all that a page shows otherwise.
    let mut different = Vec::new();
    for document in documents() {
        // One for each: no page depends on what the commands of another have left.
        let home = syrch_kit::scratch();
        for Step { command, shown } in steps(&std::fs::read_to_string(&document).unwrap()) {
            if command == "make demo" || command.contains(POSTGRES) && server.is_none() {
                continue;
            }
            let install =
                format!("cargo install --locked --debug --root {}/root", home.path().display());
            let run = command
                .replace("cargo install --locked", &install)
                .replace("http://localhost:11434/v1", &endpoint.url())
                .replace(POSTGRES, server.as_deref().unwrap_or_default());
            let printed = passes(&run, home.path());
            if shown.is_some_and(|shown| !shown.contains(printed.trim())) {
                different.push(format!("{}: `{command}` prints\n{printed}", document.display()));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(endpoint.count() >= 2, "the model was not asked");
}

#[test]
fn the_strategy_files_of_the_documents_are_the_examples() {
    let read = |path: &str| std::fs::read_to_string(syrch_kit::repository().join(path)).unwrap();
    for file in ["examples/strategy.yml", "examples/flow.yml"] {
        let shown = format!("```yaml\n{}```\n", read(file));
        assert!(
            read("docs/strategies.md").contains(&shown),
            "docs/strategies.md shows something else than {file}"
        );
    }
}

/// The name by which a link leads to a heading.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    heading
        .chars()
        .filter(|character| character.is_alphanumeric() || "-_".contains(*character))
        .collect()
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let mut links = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.contains("://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() {
                document.clone()
            } else {
                document.parent().unwrap().join(file)
            };
            assert!(target.exists(), "{}: `{link}` leads nowhere", document.display());
            if !heading.is_empty() {
                let target = std::fs::read_to_string(&target).unwrap();
                let is_there =
                    target.lines().any(|line| line.starts_with('#') && anchor(line) == heading);
                assert!(is_there, "{}: `{link}` leads to no heading", document.display());
            }
            links += 1;
        }
    }
    assert!(links >= 20, "only {links} links were seen");
}

/// `docs/README.md` is the index of the folder.
#[test]
fn the_index_of_the_documents_lists_every_page() {
    let folder = syrch_kit::repository().join("docs");
    let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let pages = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let pages = pages.filter(|entry| entry.path().is_file());
    let names = pages.map(|entry| entry.file_name().into_string().unwrap());
    let missing: Vec<String> = names
        .filter(|name| name != "README.md" && !index.contains(&format!("]({name})")))
        .collect();
    assert!(missing.is_empty(), "docs/README.md does not list {missing:?}");
}

#[test]
fn the_binary_needs_no_file_and_no_network() {
    demo();
    let home = syrch_kit::scratch();
    let elsewhere = home.path().join("syrch-host");
    std::fs::copy(env!("CARGO_BIN_EXE_syrch-host"), &elsewhere).unwrap();
    let ask = |prefix: &str| {
        format!(
            "{prefix} {} --planner plugins/decompose.wasm -q 'How many customers are there?' --db \
             examples/shop.sqlite",
            elsewhere.display()
        )
    };
    assert!(passes(&ask(""), home.path()).contains("240"));
    if shell("unshare -rn true", home.path()).status.success() {
        assert!(passes(&ask("unshare -rn"), home.path()).contains("240"));
    } else {
        syrch_kit::skip("this machine does not let a test cut its network");
    }
}

/// The plugin of the Rust SDK's guide, built and used as its reader would, from its text alone.
#[test]
fn the_plugin_of_the_guide_works() {
    demo();
    let guide =
        std::fs::read_to_string(syrch_kit::repository().join("sdk/rust/README.md")).unwrap();
    let block =
        |fence: &str| guide.split(fence).nth(1).unwrap().split("```").next().unwrap().to_owned();
    let home = syrch_kit::scratch();
    let folder = home.path().join("short");
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/lib.rs"), block("```rust\n")).unwrap();
    let sdk = syrch_kit::repository().join("sdk/rust");
    let released = "{ git = \"https://github.com/syrch/syrch-host\" }";
    let manifest = block("```toml\n");
    assert!(manifest.contains(released), "the guide names the SDK in another way: {manifest}");
    let manifest =
        manifest.replace(released, &format!("{{ path = {:?} }}", sdk.display().to_string()));
    std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    // The same versions as ours: nothing new is fetched.
    std::fs::copy(syrch_kit::repository().join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
    let listed: Vec<String> = steps(&guide).into_iter().map(|step| step.command).collect();
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
