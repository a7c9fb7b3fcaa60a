//! Circles among the files of a crate: files that use each other cannot be read one after the
//! other. Two files may use each other, more may not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syrch_kit::repository;

use super::adding::files;

/// The path of a module below the root of its crate.
type Module = Vec<String>;

/// The modules of a crate's files without tests, with the code of each.
fn modules(folder: &Path) -> BTreeMap<Module, String> {
    let mut modules = BTreeMap::new();
    for path in files(folder, "rs") {
        let relative = path.strip_prefix(folder).unwrap().with_extension("");
        let mut module: Module =
            relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
        if module.iter().any(|part| part == "tests" || part == "fixture") {
            continue;
        }
        if ["mod", "lib", "main"].iter().any(|name| module.last().is_some_and(|last| last == name))
        {
            module.pop();
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        modules.insert(module, code.collect::<Vec<_>>().join("\n"));
    }
    modules
}

/// The paths that a tree such as `a::{b, c::{d, e}}` stands for.
fn expand(tree: &str, paths: &mut Vec<String>) {
    let Some((before, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        paths.push(path.split_whitespace().collect());
        return;
    };
    let inside = rest.rsplit_once('}').map_or(rest, |(inside, _)| inside);
    let mut depth = 0;
    let branches = inside.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    for branch in branches.map(str::trim).filter(|branch| !branch.is_empty()) {
        expand(&format!("{}{branch}", before.trim()), paths);
    }
}

/// The paths of a file's code that begin with `crate`, `super` or `self`.
fn paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let roots = ["crate::", "super::", "self::"];
    for (at, _) in roots.iter().flat_map(|root| code.match_indices(root)) {
        // Not the middle of a path or of a word.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:$".contains(c)) {
            continue;
        }
        let statement = code[..at].rsplit([';', '}']).next().unwrap_or_default();
        if statement.trim_end().ends_with("use") {
            expand(code[at..].split(';').next().unwrap_or_default(), &mut paths);
        } else {
            fn is_part(c: char) -> bool {
                c.is_alphanumeric() || c == '_' || c == ':'
            }
            let end = code[at..].find(|c| !is_part(c)).unwrap_or(code.len() - at);
            paths.push(code[at..at + end].to_owned());
        }
    }
    paths
}

/// The file in which a path ends that stands in `module`.
fn resolve(path: &str, module: &Module, modules: &BTreeMap<Module, String>) -> Option<Module> {
    let mut found = module.clone();
    for part in path.split("::").filter(|part| !part.is_empty()) {
        match part {
            "crate" => found.clear(),
            "super" => _ = found.pop(),
            "self" => {}
            name => found.push(name.to_owned()),
        }
    }
    while !modules.contains_key(&found) {
        found.pop()?;
    }
    Some(found)
}

/// The modules that can be reached from one.
fn reach<'a>(
    from: &'a Module,
    uses: &'a BTreeMap<Module, BTreeSet<Module>>,
) -> BTreeSet<&'a Module> {
    let mut reached = BTreeSet::new();
    let mut ahead = vec![from];
    while let Some(next) = ahead.pop() {
        ahead.extend(uses[next].iter().filter(|used| reached.insert(*used)));
    }
    reached
}

/// The circles of more than two files in a crate, each as its modules.
fn circles(folder: &Path) -> BTreeSet<Vec<String>> {
    let modules = modules(folder);
    let uses: BTreeMap<Module, BTreeSet<Module>> = modules
        .iter()
        .map(|(module, code)| {
            let used = paths(code).into_iter().filter_map(|path| resolve(&path, module, &modules));
            (module.clone(), used.filter(|used| used != module).collect())
        })
        .collect();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        uses.keys().map(|module| (module, reach(module, &uses))).collect();
    let circle = |module: &Module| {
        let both = reached[module].iter().filter(|other| reached[*other].contains(module));
        both.map(|other| other.join("::")).collect::<Vec<_>>()
    };
    uses.keys().map(circle).filter(|circle| circle.len() > 2).collect()
}

#[test]
fn no_more_than_two_files_use_each_other() {
    let mut crates = vec![repository().join("host")];
    let mut found = Vec::new();
    let mut read = 0;
    while let Some(folder) = crates.pop() {
        if folder.join("Cargo.toml").exists() {
            read += 1;
            found.extend(circles(&folder.join("src")).into_iter().map(|circle| circle.join(", ")));
            continue;
        }
        let below = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        crates.extend(below.filter(|path| path.is_dir()));
    }
    assert!(read > 30, "only {read} crates were read");
    let circles = found.join("\n");
    assert!(found.is_empty(), "move what both need into a file of its own:\n{circles}");
}

#[test]
fn a_circle_is_found() {
    let folder = syrch_kit::scratch();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n");
    write("a.rs", "use crate::{b::{self, B}, d};\n");
    write("b.rs", "use super::c::C;\n");
    write("c.rs", "fn f() { crate::a::g() }\n");
    write("d.rs", "use crate::e;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n");
    let found = circles(folder.path());
    assert_eq!(found, BTreeSet::from([["a", "b", "c"].map(str::to_owned).to_vec()]));
}
