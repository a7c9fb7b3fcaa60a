//! Tests of what it takes to add a plugin, a provider, an engine, a dialect, a command, a role or a
//! port: everything else reads the one table or folder that names it. A section of a report needs
//! no test here, since each renderer matches `Section` and the compiler names what is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use syrch_kit::repository;

/// A source file, with its path below the repository.
struct Source {
    path: String,
    /// Its lines without comments and without the tests at its end.
    lines: Vec<String>,
}

impl Source {
    /// Returns true if a line has the text.
    fn names(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }
}

/// All files with that ending below a folder, sorted.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                // A link leads to files that are found where they are.
                true if path.is_symlink() => {}
                true => folders.push(path),
                false if path.extension().is_some_and(|own| own == ending) => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

/// The Rust code of folders, without tests, benchmarks and what only tests use.
fn sources(folders: &[&str]) -> Vec<Source> {
    let root = repository();
    let is_code = |path: &Path| {
        let relative = path.strip_prefix(&root).unwrap();
        let apart = ["tests", "benches", "fakes", "tests.rs", "fakes.rs", "fixture.rs"];
        !relative.iter().any(|part| apart.iter().any(|name| part == *name))
    };
    let found: Vec<Source> = folders
        .iter()
        .flat_map(|folder| files(&root.join(folder), "rs"))
        .filter(|path| is_code(path))
        .map(|path: PathBuf| {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .map(str::to_owned)
                .collect();
            Source { path: path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), lines }
        })
        .collect();
    assert!(!found.is_empty(), "{folders:?} have no code");
    found
}

/// The names of the folders below a folder, sorted.
fn folders(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(repository().join(folder)).unwrap().map(Result::unwrap);
    entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

/// The texts that a field has in the entries of a table.
fn texts_of(table: &str, field: &str) -> Vec<String> {
    let before = format!("{field}: \"");
    table
        .split(&before)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(str::to_owned)
        .collect()
}

/// The files that have a text and may not.
fn others_with<'a>(
    sources: &'a [Source],
    text: &'a str,
    may: &'a [&'a str],
) -> impl Iterator<Item = String> + 'a {
    sources
        .iter()
        .filter(move |source: &&Source| {
            !may.iter().any(|start| source.path.starts_with(start)) && source.names(text)
        })
        .map(move |source| format!("{} names {text}", source.path))
}

/// A built-in plugin is a folder in `plugins/`: no list has it.
#[test]
fn a_plugin_is_its_folder() {
    let crates: BTreeSet<String> = folders("plugins")
        .into_iter()
        .filter(|name| repository().join("plugins").join(name).join("Cargo.toml").exists())
        .collect();
    let output = super::host().args(["plugin", "list", "--format", "json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = listed["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|plugin| plugin["name"].as_str().unwrap().to_owned());
    assert_eq!(names.collect::<BTreeSet<_>>(), crates);

    // Words that mean other things as well: parts of documents, names of settings, the purpose of a
    // model call.
    let ordinary = ["ambiguity", "evidence", "execution", "rewrite"];
    // `calibrate fit` writes a strategy with one calibrator in the place of another.
    let calibrators = ["host/grading/src/calibrate.rs", "host/grading/src/arms.rs"];
    let sources = sources(&["host"]);
    let wrong: Vec<String> = crates
        .iter()
        .filter(|name| !ordinary.contains(&name.as_str()))
        .flat_map(|name| {
            // The default strategy has the name of its planner.
            let may: &[&str] = match name.as_str() {
                "decompose" => &["host/app/src/strategies/mod.rs"],
                "fitted" => &calibrators,
                // What runs the flows of strategy files; to them it is a kind of node as well.
                "flow" => &[
                    "host/app/src/strategies/mod.rs",
                    "host/app/src/strategies/read.rs",
                    "host/flows/",
                ],
                // Suites have a key of that name.
                "turns" => &["host/suites/src/turns.rs"],
                // Candidates have a field of that name.
                "signals" => &[calibrators[0], calibrators[1], "host/cases/src/"],
                // The optimizer's default; `--rewriter rules` stands for it.
                "rewrite-rules" => {
                    &["host/optimizing/src/lib.rs", "host/cli/src/commands/optimize/args.rs"]
                }
                _ => &[],
            };
            others_with(&sources, &format!("\"{name}\""), may).collect::<Vec<_>>()
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for manifest in ["Cargo.toml", "host/app/Cargo.toml", "Makefile"] {
        let text = fs::read_to_string(repository().join(manifest)).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("plugins/")).collect();
        let named = crates
            .iter()
            .find(|name| lines.iter().any(|line| line.contains(&format!("plugins/{name}\""))));
        assert_eq!(named, None, "{manifest}");
    }
}

/// A provider is its folder in `host/llm` and an entry of the table; the crate's root exports its
/// client.
#[test]
fn a_provider_is_its_folder_and_one_entry() {
    const TABLE: &str = "host/app/src/providers.rs";
    let text = fs::read_to_string(repository().join(TABLE)).unwrap();
    let (table, _) = text.split_once("\n];").unwrap();
    let names = texts_of(table, " name");
    let variables = texts_of(table, "key_variable");
    assert!(names.len() > variables.len() && variables.len() > 1, "{names:?} {variables:?}");
    let sources = sources(&["host", "sdk"]);
    let clients = folders("host/llm/src");
    let mut wrong = Vec::new();
    for name in names.iter().filter(|name| clients.contains(*name)) {
        let folder = format!("host/llm/src/{name}/");
        let may = [TABLE, "host/llm/src/lib.rs", folder.as_str()];
        let quoted = format!("\"{name}\"");
        let host = format!("api.{name}.com");
        let module = format!("{name}::");
        for text in [&quoted, &host, &module] {
            wrong.extend(others_with(&sources, text, &may));
        }
    }
    for variable in &variables {
        wrong.extend(others_with(&sources, variable, &[TABLE]));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An engine is its crate, the file of its entry and a line of the table; its crate is named in the
/// manifests of the workspace and of `app`, and in that file alone.
#[test]
fn an_engine_is_its_crate_and_one_entry() {
    let sources = sources(&["host"]);
    let may = ["host/app/src/executors/", "host/executors/"];
    // Programs implement engines of their own by what `arrow` has.
    let shared = ["host/app/src/executors/", "host/executors/", "host/app/src/own.rs"];
    let mut wrong = Vec::new();
    for engine in folders("host/executors").into_iter().filter(|name| name != "guard") {
        let library = format!("syrch_{}", engine.replace('-', "_"));
        let may: &[&str] = if engine == "arrow" { &shared } else { &may };
        wrong.extend(others_with(&sources, &library, may));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    let table = fs::read_to_string(repository().join("host/app/src/executors.rs")).unwrap();
    let lines = table.lines().filter_map(|line| line.trim().strip_prefix("engine!("));
    let engines: BTreeSet<&str> =
        lines.filter_map(|line| line.split(", ").nth(1)).map(str::trim).collect();
    assert!(engines.len() > 5, "{engines:?}");
    let folder = repository().join("host/app/src/executors");
    for engine in engines {
        let entry = fs::read_to_string(folder.join(format!("{engine}.rs"))).unwrap();
        assert!(entry.contains("static ENTRY: Entry"), "{engine}");
    }
}

/// The names in a table of dialects.
fn list_dialects(path: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(repository().join(path)).unwrap();
    let (_, rest) = text.split_once("ALL: [(&str, &").unwrap();
    let (entries, _) = rest.split_once("];").unwrap();
    let names = entries.split("(\"").skip(1).filter_map(|rest| rest.split('"').next());
    names.map(str::to_owned).collect()
}

/// A dialect is its declaration in `core` and the guard's rules for it, with the list of its
/// functions: what reads, writes and judges statements names none. The guard itself names those
/// whose forms it carries through the parser, and engines their own.
#[test]
fn a_dialect_is_its_declaration_and_its_rules() {
    const DECLARATIONS: &str = "host/core/src/types/dialect/";
    const RULES: &str = "host/executors/guard/src/admission/";
    let declared = list_dialects(&format!("{DECLARATIONS}mod.rs"));
    assert!(declared.len() >= 9, "{declared:?}");
    let guarded = list_dialects(&format!("{RULES}dialects.rs"));
    assert_eq!(declared, guarded, "left: core, right: the guard");

    let guard = ["carry/", "deterministic/", "read.rs", "sets.rs", "verb.rs"]
        .map(|path| format!("host/executors/guard/src/{path}"));
    let engines = folders("host/executors").into_iter().filter(|name| name != "guard");
    let mut may: Vec<String> = engines.map(|name| format!("host/executors/{name}/")).collect();
    may.extend(guard);
    // The table of engines, the trial of a plugin on SQLite, and modules that only tests have.
    let others = [
        DECLARATIONS,
        RULES,
        "host/app/src/executors.rs",
        "host/app/src/executors/",
        "host/app/src/probe.rs",
        // The functions of dates and the types of columns, which no declaration has.
        "host/semantics/src/",
        "host/offline/src/kinds.rs",
        "host/offline/src/dated.rs",
    ];
    may.extend(others.map(str::to_owned));
    let may: Vec<&str> = may.iter().map(String::as_str).collect();
    let sources = sources(&["host"]);
    let wrong: Vec<String> = ["Sqlite", "Postgres", "Mysql", "Duckdb", "Databricks", "Spark"]
        .iter()
        .flat_map(|name| {
            others_with(&sources, &format!("Dialect::{name}"), &may).collect::<Vec<_>>()
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A command is its file and its lines in `commands/mod.rs`.
#[test]
fn a_command_is_its_file_and_one_entry() {
    const LIST: &str = "host/cli/src/commands/mod.rs";
    let text = fs::read_to_string(repository().join(LIST)).unwrap();
    let (_, list) = text.split_once("\ncommands! {").unwrap();
    let (list, _) = list.split_once("\n}").unwrap();
    let entries = list.lines().filter_map(|line| {
        let (variant, rest) = line.trim().split_once('(')?;
        let (file, flags) = rest.strip_suffix("),")?.split_once("::")?;
        variant.chars().all(char::is_alphanumeric).then_some((variant, file, flags))
    });
    let entries: Vec<(&str, &str, &str)> = entries.collect();
    assert!(entries.len() > 15, "{entries:?}");
    let sources = sources(&["host/cli/src"]);
    let mut wrong = Vec::new();
    for (variant, file, flags) in entries {
        let folder = repository().join("host/cli/src/commands");
        let own = format!("host/cli/src/commands/{file}");
        assert!(
            folder.join(format!("{file}.rs")).exists() || folder.join(file).join("mod.rs").exists(),
            "{file}"
        );
        // Without a command's name the words of the command line are those of a search.
        if variant == "Search" {
            continue;
        }
        // What stands in the place of a command in a build without it has its flags, too.
        let without = format!("host/cli/src/commands/without_{file}r.rs");
        wrong.extend(others_with(&sources, flags, &[LIST, &own, &without]));
        wrong.extend(others_with(&sources, &format!(" Command::{variant}("), &[LIST, &own]));
        assert_eq!(
            text.lines().filter(|line| line.contains(&format!("mod {file};"))).count(),
            1,
            "{file}"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The words of a text, in lower case; the parts of `CamelCase` and of `snake_case` are words of
/// their own.
fn words(text: &str) -> BTreeSet<String> {
    let mut apart = String::new();
    let mut before = ' ';
    for c in text.chars() {
        if c.is_uppercase() && (before.is_lowercase() || before.is_numeric()) {
            apart.push(' ');
        }
        apart.push(if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' });
        before = c;
    }
    apart.split_whitespace().map(str::to_owned).collect()
}

/// The files that `wit/README.md` lists under a heading.
fn list_files(heading: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(repository().join("wit/README.md")).unwrap();
    let (_, section) = text.split_once(&format!("### {heading}\n")).unwrap();
    let section = section.split("\n#").next().unwrap();
    let files = section.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next());
    files.map(str::to_owned).collect()
}

/// Adds the files below a folder by their paths below the root, without those that tools write.
fn add_files(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = folder.join(&name);
        let is_built = name == "build" && !path.starts_with("host");
        let written = ["target", "node_modules", "__pycache__"].contains(&name.as_str());
        if name.starts_with('.') || written || is_built || root.join(&path).is_symlink() {
            continue;
        }
        match root.join(&path).is_dir() {
            true => add_files(root, &path, found),
            false => _ = found.insert(path.to_str().unwrap().to_owned()),
        }
    }
}

/// Returns the paths with a name in them, as `folder/PLACE.rs` for `folder/solver.rs`, where each
/// of the names has such a file.
fn list_patterns(paths: &BTreeSet<String>, names: &BTreeSet<String>, place: &str) -> Vec<String> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for path in paths {
        let parts: Vec<&str> = path.split('/').collect();
        for (at, part) in parts.iter().enumerate() {
            let end = part.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(part.len());
            if names.contains(&part[..end]) {
                let mut pattern = parts.clone();
                let replaced = format!("{place}{}", &part[end..]);
                pattern[at] = &replaced;
                *found.entry(pattern.join("/")).or_default() += 1;
            }
        }
    }
    found.into_iter().filter(|(_, count)| *count == names.len()).map(|(path, _)| path).collect()
}

/// A role or a port is expensive on purpose, and `wit/README.md` lists every place in every
/// language: the files that name all of them, and those of which each has one. It may list a file
/// in which one of them has another name.
#[test]
fn the_contract_lists_what_a_role_and_a_port_take() {
    let root = repository();
    let contract = fs::read_to_string(root.join("wit/worlds.wit")).unwrap();
    fn after(line: &str, key: &str) -> Vec<String> {
        line.split(key).skip(1).map(|rest| rest.split(';').next().unwrap().to_owned()).collect()
    }
    let worlds = || contract.lines().filter(|line| line.starts_with("world "));
    let ports: BTreeSet<String> = worlds().flat_map(|line| after(line, "import ")).collect();
    let roles: BTreeSet<String> =
        worlds().flat_map(|line| after(line, "export ")).filter(|name| name != "about").collect();
    assert!(roles.len() >= 7 && ports.len() >= 10, "{roles:?} {ports:?}");

    let mut paths = BTreeSet::from(["CONTRIBUTING.md".to_owned(), "README.md".to_owned()]);
    for folder in ["docs", "host", "plugins/strategies", "sdk", "tests", "wit"] {
        add_files(&root, Path::new(folder), &mut paths);
    }
    // A golden file is written from the case beside it.
    paths.retain(|path| !path.ends_with(".golden.json"));
    // What is no text names nothing.
    let texts = paths.iter().filter_map(|path| {
        let text = fs::read_to_string(root.join(path)).ok()?;
        Some((path, words(&text)))
    });
    let texts: Vec<(&String, BTreeSet<String>)> = texts.collect();
    for (heading, names, place) in [("A role", &roles, "ROLE"), ("A port", &ports, "PORT")] {
        let whole = texts.iter().filter(|(_, words)| names.iter().all(|name| words.contains(name)));
        let mut found: BTreeSet<String> = whole.map(|(path, _)| (*path).clone()).collect();
        found.extend(list_patterns(&paths, names, place));
        let listed = list_files(heading);
        let missing: Vec<&String> = found.difference(&listed).collect();
        assert!(missing.is_empty(), "wit/README.md, {heading}, does not list {missing:#?}");
        let gone = listed.difference(&found).filter(|path| !paths.contains(*path));
        let gone: Vec<&String> = gone.collect();
        assert!(
            gone.is_empty(),
            "wit/README.md, {heading}: {gone:#?} are not there, or not of all"
        );
    }
}
