//! Writes a new project: the template of its language, the SDK and the contract.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use syrch::syrch_core::roles::Role;

use crate::name::pascal;
use crate::{Error, Language, Name, definition, packed};

/// The lines of `.gitignore` for every project.
const IGNORED: &str = "/build/\n/.tools/\n/node_modules/\n/target/\n__pycache__/\n";
/// A folder of a template whose files stand directly in the project.
const SHARED: &str = "shared/";
/// A line with this mark begins a block that stands once for each role.
const BLOCK: &str = "{{#roles}}";
/// A line with this mark ends the block.
const END: &str = "{{/roles}}";

/// The files of a new project by their paths, with `/` between the folders.
pub type Files = BTreeMap<String, Vec<u8>>;

/// The files of a new project.
///
/// # Errors
/// When the name is not for that language, there are no roles, or no template has them.
pub fn files(name: &Name, language: Language, roles: &[Role]) -> Result<Files, Error> {
    name.fits(language)?;
    let first = *roles.first().ok_or(Error::NoRole)?;
    let template = Template { name, roles };
    let mut files = Files::new();
    let mut has_template = false;
    for (path, content) in
        packed::below(&format!("templates/{language}")).filter(|(path, _)| template.has(path))
    {
        has_template = true;
        let path = path.strip_prefix(SHARED).unwrap_or(path);
        // Git would take a file of that name for its own.
        let path = if path == "gitignore" { ".gitignore" } else { path };
        let content = match std::str::from_utf8(content) {
            Ok(text) => template.fill(text).into_bytes(),
            Err(_) => content.to_vec(),
        };
        files.insert(template.replace_marks(path, first), content);
    }
    if !has_template {
        return Err(Error::NoTemplate { language, role: first.to_string() });
    }
    for (folder, packed) in [("sdk", format!("sdk/{}", language.sdk())), ("wit", "wit".to_owned())]
    {
        let below = packed::below(&packed)
            .map(|(path, content)| (format!("{folder}/{path}"), content.to_vec()));
        files.extend(below);
    }
    files.entry(".gitignore".to_owned()).or_insert_with(|| IGNORED.into());
    files
        .entry(definition::FILE.to_owned())
        .or_insert_with(|| template.definition(language).into_bytes());
    Ok(files)
}

/// Writes a new project into a folder that does not exist or is empty.
///
/// # Errors
/// When the folder has files, or cannot be written.
pub fn write(folder: &Path, files: &Files) -> Result<(), Error> {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(Error::Occupied(folder.display().to_string()));
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::file(folder, error)),
    }
    for (path, content) in files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| Error::file(parent, error))?;
        // Nothing is replaced that came in the meantime, and no link is followed.
        let file = File::create_new(&path).and_then(|mut file| file.write_all(content));
        file.map_err(|error| Error::file(&path, error))?;
    }
    Ok(())
}

/// The values that the files of a template are filled with.
struct Template<'a> {
    name: &'a Name,
    roles: &'a [Role],
}

impl Template<'_> {
    /// Returns true if the project has the file: those of a role that was not chosen have its name
    /// in their path.
    fn has(&self, path: &str) -> bool {
        // The tests of Go end in `_test.go`.
        let stem = |part: &str| {
            part.split('.').next().unwrap_or_default().trim_end_matches("_test").to_owned()
        };
        let role = |part: &str| Role::ALL.into_iter().find(|role| role.name() == stem(part));
        path.split('/').filter_map(role).all(|role| self.roles.contains(&role))
    }

    /// A text with its blocks repeated for each role and its marks replaced.
    fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut block: Option<String> = None;
        let first = self.roles.first().copied().unwrap_or(Role::Solver);
        for line in text.split_inclusive('\n') {
            match &mut block {
                None if line.contains(BLOCK) => block = Some(String::new()),
                None => filled.push_str(&self.replace_marks(line, first)),
                Some(lines) if line.contains(END) => {
                    filled.extend(self.roles.iter().map(|role| self.replace_marks(lines, *role)));
                    block = None;
                }
                Some(lines) => lines.push_str(line),
            }
        }
        filled
    }

    fn replace_marks(&self, text: &str, role: Role) -> String {
        let roles = self.roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
        let marks = [
            ("{{name}}", self.name.as_str().to_owned()),
            ("{{name_snake}}", self.name.snake()),
            ("{{name_pascal}}", self.name.pascal()),
            ("{{role}}", role.name().to_owned()),
            ("{{role_pascal}}", pascal(role.name())),
            ("{{roles}}", roles),
        ];
        marks.into_iter().fold(text.to_owned(), |text, (mark, value)| text.replace(mark, &value))
    }

    /// The text of `plugin.yml`.
    fn definition(&self, language: Language) -> String {
        let name = self.name.as_str();
        let roles = self.roles.iter().map(|role| role.name()).collect::<Vec<_>>().join(", ");
        let entry = language.entry().map(|entry| format!("entry: {entry}\n")).unwrap_or_default();
        format!("name: {name}\nlanguage: {language}\nroles: [{roles}]\n{entry}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_blocks_are_filled() {
        let name = Name::new("my-plugin").unwrap();
        let roles = [Role::Reward, Role::Solver];
        let template = Template { name: &name, roles: &roles };
        assert_eq!(
            template.fill(
                "{{name}} {{name_snake}} {{name_pascal}} {{role}} {{roles}}\n# {{#roles}}\n\
                 use {{role_pascal}};\n# {{/roles}}\nend\n"
            ),
            "my-plugin my_plugin MyPlugin reward reward, solver\nuse Reward;\nuse Solver;\nend\n"
        );
        assert!(
            template.has("roles/solver.py")
                && template.has("tests/reward.golden.json")
                && template.has("a/b.py")
        );
        assert!(
            template.has("plugin_test.go")
                && template.has("reward_test.go")
                && !template.has("linker_test.go")
        );
        assert!(!template.has("roles/planner.py") && !template.has("roles/planner/planner.go"));
        assert_eq!(
            template.definition(Language::Go),
            "name: my-plugin\nlanguage: go\nroles: [reward, solver]\n"
        );
    }

    #[test]
    fn every_language_and_role_makes_a_whole_project() {
        let name = Name::new("mine").unwrap();
        for language in Language::ALL {
            for role in Role::ALL {
                let files = files(&name, language, &[role]).unwrap();
                for needed in ["plugin.yml", "README.md", ".gitignore", "wit/worlds.wit"] {
                    assert!(files.contains_key(needed), "{language} {role}: {needed}");
                }
                let case = format!("tests/{role}.yml");
                assert!(files.contains_key(&case), "{language} {role}: {case}");
                assert!(
                    files.contains_key(&format!("tests/{role}.golden.json")),
                    "{language} {role}"
                );
                if let Some(entry) = language.entry() {
                    assert!(files.contains_key(entry), "{language} {role}: {entry}");
                }
                for (path, content) in &files {
                    let text = String::from_utf8_lossy(content);
                    // Two braces alone are a list of lists in Go.
                    let has_mark =
                        ["{{name", "{{role", "{{#", "{{/"].iter().any(|mark| text.contains(mark));
                    let is_own = !path.starts_with("sdk/") && !path.starts_with("wit/");
                    let is_left = path.contains("{{") || has_mark && is_own;
                    assert!(!is_left, "{language} {role}: {path} has an unfilled mark");
                }
            }
        }
    }

    #[test]
    fn a_folder_with_files_is_left_alone() {
        let folder = syrch_kit::scratch();
        let files = Files::from([("a/b.txt".to_owned(), b"b".to_vec())]);
        write(&folder.path().join("new"), &files).unwrap();
        assert_eq!(std::fs::read(folder.path().join("new/a/b.txt")).unwrap(), b"b");
        assert!(matches!(write(&folder.path().join("new"), &files), Err(Error::Occupied(_))));
        assert!(matches!(
            write(&folder.path().join("new/a/b.txt"), &files),
            Err(Error::File { .. })
        ));
        std::fs::create_dir(folder.path().join("empty")).unwrap();
        write(&folder.path().join("empty"), &files).unwrap();
    }
}
