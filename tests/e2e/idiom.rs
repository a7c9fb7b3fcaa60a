//! Habits of the Rust code, counted: names, documents and lines as they are usual in OpenDAL, sqlx,
//! Spin, ripgrep and nushell. The numbers only fall.

use std::path::PathBuf;

/// Each habit with the number of its occurrences. A change that lowers one lowers it here, too.
const MOST: [(&str, usize); 6] = [
    ("functions named by a participle", 42),
    ("functions called `of`", 1),
    ("documents that begin with What, Whether, How, Where or Who", 4),
    ("tuples that a `let` takes apart at once", 7),
    ("closures with a name", 1_498),
    ("lines over 100 characters", 47),
];

/// Participles that do not end in `ed`. Those that are verbs as well (`read`, `put`) are none.
const IRREGULAR: &str = " begun bought bound brought built caught chosen done drawn found given \
                         gone grown held hidden kept known lost made meant met said seen sent \
                         shown sorted spent taken taught told written ";
/// Verbs that end as participles do.
const VERBS: &str = " embed exceed feed need proceed seed speed succeed ";

fn files() -> Vec<String> {
    let root = syrch_kit::repository();
    let mut folders: Vec<PathBuf> =
        ["host", "plugins", "sdk", "tests", "examples"].map(|name| root.join(name)).into();
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_source = path.extension().is_some_and(|ending| ending == "rs");
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
                folders.push(path);
            } else if is_source {
                texts.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    texts
}

/// The name of the function that is declared on this line.
fn declared(line: &str) -> Option<&str> {
    if line.trim_start().starts_with("//") {
        return None;
    }
    let (before, rest) = line.split_once("fn ")?;
    fn is_word(c: char) -> bool {
        c.is_alphanumeric() || c == '_'
    }
    let name = rest.split(|c| !is_word(c)).next()?;
    (!name.is_empty() && !before.ends_with(is_word)).then_some(name)
}

fn is_participle(name: &str) -> bool {
    let first = format!(" {} ", name.split('_').next().unwrap_or_default());
    IRREGULAR.contains(&first) || first.ends_with("ed ") && !VERBS.contains(&first)
}

/// Returns true if a statement such as `let (a, b) = (x, y);` begins here.
fn takes_apart(text: &str) -> bool {
    let mut depth = 0;
    let end = text.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0
    });
    end.is_some_and(|(end, _)| {
        let after = text[end + 1..].trim_start();
        let value =
            after.strip_prefix('=').map(str::trim_start).filter(|value| value.starts_with('('));
        value.is_some_and(|value| {
            let mut depth = 0;
            let end = value.char_indices().find(|(_, c)| {
                depth += i32::from(*c == '(') - i32::from(*c == ')');
                depth == 0
            });
            end.is_some_and(|(end, _)| value[end + 1..].starts_with(';'))
        })
    })
}

/// The occurrences of each habit in one file.
fn count(text: &str) -> [usize; 6] {
    let mut found = [0; 6];
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let before = number.checked_sub(1).map_or("", |before| lines[before].trim());
        let is_test = before.starts_with("#[test") || before.starts_with("#[tokio::test");
        let name = declared(line).unwrap_or_default();
        found[0] += usize::from(is_participle(name) && !is_test);
        found[1] += usize::from(name == "of");
        let document = line.trim().strip_prefix("/// ").or(line.trim().strip_prefix("//! "));
        let begins = !before.starts_with("///") && !before.starts_with("//!");
        let word = document.and_then(|words| words.split(|c: char| !c.is_alphabetic()).next());
        let questions = ["What", "Whether", "How", "Where", "Who"];
        found[2] += usize::from(begins && word.is_some_and(|word| questions.contains(&word)));
        found[5] += usize::from(line.chars().count() > 100);
        if let Some(binding) = line.trim().strip_prefix("let ") {
            let next = lines.get(number + 1).map_or("", |next| next.trim());
            let value = match binding.split_once(" = ") {
                Some((_, value)) => value,
                None if binding.ends_with(" =") => next,
                None => "",
            };
            found[4] += usize::from(value.starts_with('|') || value.starts_with("move |"));
        }
    }
    let lets = text.match_indices("let (").filter(|(at, _)| takes_apart(&text[at + 4..]));
    found[3] += lets.count();
    found
}

#[test]
fn habits_of_the_code_only_become_fewer() {
    let mut found = [0; 6];
    let files = files();
    for text in &files {
        for (sum, more) in found.iter_mut().zip(count(text)) {
            *sum += more;
        }
    }
    assert!(files.len() > 1000, "only {} files were read", files.len());
    let differ: Vec<String> = MOST
        .iter()
        .zip(found)
        .filter(|((_, most), found)| most != found)
        .map(|((habit, most), found)| format!("{habit}: {found}, and {most} stand in this file"))
        .collect();
    assert!(
        differ.is_empty(),
        "{}\nmore than before: write them as CONTRIBUTING.md says; fewer: lower the number",
        differ.join("\n")
    );
}

#[test]
fn each_habit_is_found() {
    let text = "/// What it is.\n/// How so.\nfn explained() {\n    let (a, b) = (1, (2, 3));\n    \
                let f = |x| x;\n    let (c, d) = pair();\n}\nfn of() {}\n#[test]\nfn named() {}\n\
                fn embed_texts() {}\nfn found_rows() {}\n";
    assert_eq!(count(text), [2, 1, 1, 1, 1, 0]);
    assert_eq!(count(&format!("// {}\n", "x".repeat(98)))[5], 1);
}
