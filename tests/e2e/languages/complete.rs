//! No language lacks a component, a role or a case.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use syrch_kit::languages;

use super::{ROLES, folder, names};

/// Own cases of one language that others lack, each with the reason.
const EXCEPTIONS: [(&str, &str); 1] =
    [("solver-type", "a compiler refuses a value of another type")];

#[test]
fn every_built_component_is_tried() {
    let built = names(&languages::components_folder(), ".wasm.gz");
    let mut expected = languages::NAMES.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(built, expected);
    let files = fs::read_dir(languages::components_folder()).unwrap().map(|file| file.unwrap());
    let bytes: u64 = files.map(|file| file.metadata().unwrap().len()).sum();
    assert!(bytes <= 10_000_000, "{bytes}");
}

/// A message of a panic names a source, and not where it lies on the author's machine.
#[test]
fn no_component_names_a_folder_of_its_author() {
    for language in languages::NAMES {
        let component = languages::component(language);
        let component = String::from_utf8_lossy(&component);
        assert!(!component.contains(&syrch_kit::repository().display().to_string()), "{language}");
        for part in ["/sdk/rust/src", "/host/basics/src", "/tests/languages/"] {
            assert!(!component.contains(part), "{language}: {part}");
        }
        // Those of Python and JavaScript hold a runtime that others have built.
        assert!(
            !component.contains("/.cargo/registry") || ["python", "js"].contains(&language),
            "{language}"
        );
    }
}

#[test]
fn every_language_of_new_projects_is_here() {
    let templates = fs::read_dir(syrch_kit::repository().join("sdk/templates")).unwrap();
    let mut templates: BTreeSet<String> =
        templates.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    // TypeScript is JavaScript by the time that a component is made of it.
    assert!(templates.remove("ts"), "{templates:?}");
    assert_eq!(templates, languages::NAMES.map(str::to_owned).into());
}

#[test]
fn every_role_is_in_every_language_and_in_the_table() {
    let cases = names(&folder().join("cases"), ".yml");
    for role in ROLES {
        for habit in ["echo", "wrong", "large"] {
            // A planner's `echo` is `plan` and `next`.
            let own = match (role, habit) {
                ("planner", "echo") => vec!["planner-plan".to_owned(), "planner-next".to_owned()],
                _ => vec![format!("{role}-{habit}")],
            };
            for start in own {
                assert!(cases.iter().any(|case| case.starts_with(&start)), "no case {start}");
            }
        }
    }
    for language in languages::NAMES {
        let text = fs::read_to_string(folder().join(language).join("plugin.yml")).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("roles: [")).unwrap();
        assert_eq!(line.trim_end_matches(']').split(", ").collect::<Vec<_>>(), ROLES, "{language}");
    }
}

#[test]
fn every_case_has_its_golden_file() {
    let own = languages::NAMES.map(|language| folder().join(language).join("tests"));
    for cases in own
        .iter()
        .chain([&folder().join("cases"), &syrch_kit::repository().join("sdk/examples-cases")])
    {
        assert_eq!(names(cases, ".yml"), names(cases, ".golden.json"), "{}", cases.display());
    }
}

/// A case that one language says in its own words is there in all of them.
#[test]
fn no_language_lacks_an_own_case_of_another() {
    let case = |language: &str, name: &str| {
        fs::read_to_string(folder().join(language).join(format!("tests/{name}.yml")))
    };
    let all: BTreeSet<String> = languages::NAMES
        .iter()
        .flat_map(|language| names(&folder().join(language).join("tests"), ".yml"))
        .filter(|name| EXCEPTIONS.iter().all(|(exception, _)| exception != name))
        .collect();
    for language in languages::NAMES {
        for name in &all {
            let own = case(language, name)
                .unwrap_or_else(|error| panic!("{language} lacks {name}: {error}"));
            assert_eq!(own, case("rust", name).unwrap(), "{language}: {name}");
        }
    }
    for role in ROLES {
        assert!(all.contains(&format!("{role}-raise")), "no case {role}-raise");
    }
}

/// An exception, a panic or an abort has the plugin's own words in what the host says, in every
/// language.
#[test]
fn every_exception_is_reported_in_the_plugins_words() {
    for language in languages::NAMES {
        let own = folder().join(language).join("tests");
        for name in names(&own, ".yml")
            .iter()
            .filter(|name| name.ends_with("-raise") || name.ends_with("-fail"))
        {
            let text = fs::read_to_string(own.join(format!("{name}.golden.json"))).unwrap();
            let golden: Value = serde_json::from_str(&text).unwrap();
            let message =
                golden["failure"]["message"].as_str().or(golden["error"].as_str()).unwrap();
            let case = fs::read_to_string(own.join(format!("{name}.yml"))).unwrap();
            let (_, words) = case.split_once(", text: ").unwrap();
            let (words, _) = words.split_once(['}', ',']).unwrap();
            assert!(message.contains(words), "{language}: {name}: {message}");
        }
    }
}
