//! `plugin.yml`: which plugin a project makes, and how.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use syrch::syrch_core::Grants;
use syrch::syrch_core::roles::Role;
use syrch::syrch_core::text::nearest;
use syrch::yaml::{self, Location, Pair, Spanned, Tree};

use crate::{Error, Language, Name};

/// The name of the file.
pub const FILE: &str = "plugin.yml";

const KEYS: [&str; 6] = ["name", "language", "roles", "entry", "sdk", "wants"];

/// A project on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The folder of `plugin.yml`, absolute.
    pub folder: PathBuf,
    /// The name of the plugin, as in `plugin.yml`.
    pub name: Name,
    /// The language that the plugin is written in.
    pub language: Language,
    /// The roles that it implements, in the order of the contract.
    pub roles: Vec<Role>,
    /// The main source file, below the folder. `None` where the language's own tool knows it.
    pub entry: Option<PathBuf>,
    /// The folder of the SDK's sources, absolute.
    pub sdk: PathBuf,
    /// The grants that it asks for; `None` if it asks for all ports that it imports.
    pub wants: Option<Grants>,
}

impl Project {
    /// Reads the project in a folder.
    ///
    /// # Errors
    /// When there is none, or its `plugin.yml` is wrong.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let text = yaml::text_of(&path, true).map_err(|reason| Error::file(&path, reason))?;
        let folder = folder.canonicalize().map_err(|error| Error::file(folder, error))?;
        parse(&text, &path.display().to_string(), &folder)
    }

    /// The path of the component, where the project's folder has this path.
    #[must_use]
    pub fn component_in(&self, folder: &Path) -> PathBuf {
        folder.join("build").join(format!("{}.wasm", self.name.as_str()))
    }

    /// Returns the path at which the plugin is written.
    #[must_use]
    pub fn component(&self) -> PathBuf {
        self.component_in(&self.folder)
    }

    /// The folder of everything that is made.
    pub(crate) fn build(&self) -> PathBuf {
        self.folder.join("build")
    }
}

/// Reads the text of a `plugin.yml`. Every problem is reported with its place, all of them at once.
pub(crate) fn parse(text: &str, file: &str, folder: &Path) -> Result<Project, Error> {
    let tree = yaml::read(text).map_err(|(at, why)| {
        Error::Definition(vec![format!("{}: {why}", yaml::place(file, at))])
    })?;
    let start = tree.referenced;
    let mut reader = Reader { file, problems: Vec::new() };
    let mut name = None;
    let mut language = None;
    let mut roles = None;
    let mut entry = None;
    let mut sdk = None;
    let mut wants = None;
    for (key, value) in reader.pairs(tree) {
        match key.value.as_str() {
            "name" => name = Some(reader.name(value)),
            "language" => language = Some(reader.language(value)),
            "roles" => roles = Some(reader.roles(value)),
            "entry" => entry = Some(reader.path(value, false)),
            "wants" => wants = reader.wants(value),
            "sdk" => sdk = Some(reader.path(value, true)),
            unknown => reader.unknown(key.referenced, "key", unknown, &KEYS),
        }
    }
    for (key, is_missing) in
        [("name", name.is_none()), ("language", language.is_none()), ("roles", roles.is_none())]
    {
        if is_missing {
            reader.problem(start, &format!("the key `{key}` is missing"));
        }
    }
    let name = name.flatten();
    let language = language.flatten();
    let roles = roles.flatten();
    let (Some(name), Some(language), Some(roles), true) =
        (name, language, roles, reader.problems.is_empty())
    else {
        return Err(Error::Definition(reader.problems));
    };
    let entry =
        language.entry().map(|default| entry.flatten().unwrap_or_else(|| PathBuf::from(default)));
    let sdk = sdk.flatten().unwrap_or_else(|| PathBuf::from("sdk"));
    let folder = folder.to_owned();
    let sdk = folder.join(sdk);
    Ok(Project { folder, name, language, roles, entry, sdk, wants })
}

struct Reader<'a> {
    file: &'a str,
    problems: Vec<String>,
}

impl Reader<'_> {
    fn problem(&mut self, at: Location, message: &str) {
        self.problems.push(format!("{}: {message}", yaml::place(self.file, Some(at))));
    }

    fn unknown(&mut self, at: Location, what: &str, found: &str, known: &[&str]) {
        let near = nearest(found, known.iter().copied());
        let known = match near.first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        self.problem(at, &format!("unknown {what} `{found}`: {known}"));
    }

    fn pairs(&mut self, tree: Spanned<Tree>) -> Vec<Pair> {
        match tree.value {
            Tree::Map(pairs) => pairs,
            Tree::Leaf(_) | Tree::List(_) => {
                self.problem(tree.referenced, "must be a mapping of keys and values");
                Vec::new()
            }
        }
    }

    fn text(&mut self, tree: Spanned<Tree>) -> Option<(Location, String)> {
        let at = tree.referenced;
        match tree.value {
            Tree::Leaf(Value::String(text)) => Some((at, text)),
            _ => {
                self.problem(at, "must be a text");
                None
            }
        }
    }

    fn name(&mut self, tree: Spanned<Tree>) -> Option<Name> {
        let (at, name) = self.text(tree)?;
        Name::new(&name).map_err(|error| self.problem(at, &error.to_string())).ok()
    }

    fn language(&mut self, tree: Spanned<Tree>) -> Option<Language> {
        let (at, name) = self.text(tree)?;
        let language = Language::from_name(&name);
        if language.is_none() {
            self.unknown(at, "language", &name, &Language::ALL.map(Language::name));
        }
        language
    }

    fn roles(&mut self, tree: Spanned<Tree>) -> Option<Vec<Role>> {
        let at = tree.referenced;
        let Value::Array(names) = tree.value.value() else {
            self.problem(at, "must be a list of roles, such as `[reward]`");
            return None;
        };
        let mut roles = Vec::new();
        for name in names {
            let name = name.as_str().unwrap_or_default();
            match Role::ALL.into_iter().find(|role| role.name() == name) {
                Some(role) if roles.contains(&role) => {
                    self.problem(at, &format!("the role `{role}` stands twice"))
                }
                Some(role) => roles.push(role),
                None => self.unknown(at, "role", name, &Role::ALL.map(Role::name)),
            }
        }
        if roles.is_empty() {
            self.problem(at, "has no role");
        }
        roles.sort();
        Some(roles)
    }

    /// The grants that a plugin asks for, as `plugin add --allow` takes them.
    fn wants(&mut self, tree: Spanned<Tree>) -> Option<Grants> {
        let at = tree.referenced;
        let words: Result<Vec<String>, _> = serde_json::from_value(tree.value.value());
        let grants = words.map_err(|_| "must be a list of grants, such as `[llm, sql]`".to_owned());
        grants.and_then(Grants::try_from).map_err(|why| self.problem(at, &why)).ok()
    }

    /// A path from the folder, below it unless it `may_leave`.
    fn path(&mut self, tree: Spanned<Tree>, may_leave: bool) -> Option<PathBuf> {
        let (at, text) = self.text(tree)?;
        let path = PathBuf::from(&text);
        let is_below =
            path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        // A tool would read a name that begins so as a flag.
        let is_flag = text.starts_with('-')
            || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('-'));
        if text.is_empty() || is_flag || path.is_absolute() || (!may_leave && !is_below) {
            let what =
                if may_leave { "a relative path" } else { "a path below the folder of plugin.yml" };
            self.problem(at, &format!("must be {what}"));
            return None;
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Project, String> {
        parse(text, FILE, Path::new("/p")).map_err(|error| error.to_string())
    }

    #[test]
    fn a_definition_is_read_with_its_defaults() {
        let project = read("name: short\nlanguage: python\nroles: [solver, linker]\n").unwrap();
        assert_eq!(project.roles, [Role::Linker, Role::Solver]);
        assert_eq!(project.entry, Some(PathBuf::from("plugin.py")));
        assert_eq!(
            (project.sdk.as_path(), project.component().as_path()),
            (Path::new("/p/sdk"), Path::new("/p/build/short.wasm"))
        );
        let go = read("name: short\nlanguage: go\nroles: [reward]\nsdk: ../..\n").unwrap();
        assert_eq!((go.entry, go.sdk), (None, PathBuf::from("/p/../..")));
    }

    #[test]
    fn all_problems_are_reported_with_their_places() {
        let wrong =
            read("nam: a\nlanguage: pyton\nroles: [rewrd, solver, solver]\nentry: ../x.py\n")
                .unwrap_err();
        assert_eq!(
            wrong,
            "plugin.yml:1:1: unknown key `nam`: did you mean `name`?\n\
             plugin.yml:2:11: unknown language `pyton`: did you mean `python`?\n\
             plugin.yml:3:8: unknown role `rewrd`: did you mean `reward`?\n\
             plugin.yml:3:8: the role `solver` stands twice\n\
             plugin.yml:4:8: must be a path below the folder of plugin.yml\n\
             plugin.yml:1:1: the key `name` is missing"
        );
        for (text, part) in [
            ("- a\n", "must be a mapping"),
            ("name: a\nname: b\n", "duplicate key"),
            ("name: [a]\nlanguage: c\nroles: []\n", "has no role"),
            ("name: a\nlanguage: c\nroles: [reward]\nentry: --x.c\n", "must be a path below"),
            ("name: a\nlanguage: c\nroles: reward\n", "must be a list"),
            ("name: A b\nlanguage: c\nroles: [reward]\n", "is no name for a plugin"),
        ] {
            let wrong = read(text).unwrap_err();
            assert!(wrong.contains(part), "{wrong}");
        }
    }
}
