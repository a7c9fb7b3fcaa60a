//! The files that a suite may name. A suite may be untrusted, so its names open files of its own
//! folder and of the folder that the user gives, and no others: not by an absolute path, not by
//! `..`, not by a link that leads out.

use std::path::{Component, Path, PathBuf};

/// A folder, and whether links in it may lead out of it.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    root: PathBuf,
    follows: bool,
}

/// A name that leads out of the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outside;

impl Folder {
    /// The folder of the suite, whose links are untrusted.
    pub(super) fn for_suite(root: &Path) -> Self {
        Self { root: normalize_root(root), follows: false }
    }

    /// A folder that the user gave, whose links are followed.
    pub(super) fn from_user(root: &Path) -> Self {
        Self { root: normalize_root(root), follows: true }
    }

    /// The path as messages show it.
    pub(super) fn display_path(&self) -> String {
        self.root.display().to_string()
    }

    /// The path of a name; the file need not exist.
    pub(super) fn file(&self, name: &str) -> Result<PathBuf, Outside> {
        let path = self.root.join(self.normalize(Path::new(name)).ok_or(Outside)?);
        // What does not exist leads nowhere.
        let (Ok(real), Ok(root)) = (path.canonicalize(), self.root.canonicalize()) else {
            return Ok(path);
        };
        if self.follows || real.starts_with(root) { Ok(path) } else { Err(Outside) }
    }

    /// Returns the path relative to the folder of an absolute path, however the two are spelled.
    fn strip_root(&self, path: &Path) -> Option<PathBuf> {
        let spelled = std::path::absolute(&self.root).ok();
        let real = self.root.canonicalize().ok();
        let mut roots = [spelled, real.clone()].into_iter().flatten();
        let found = roots.find_map(|root| path.strip_prefix(root).ok().map(Path::to_owned));
        // A folder on the way may be spelled by a link.
        found.or_else(|| Some(path.canonicalize().ok()?.strip_prefix(real?).ok()?.to_owned()))
    }

    /// The name from the folder on, without `.` and `..`.
    fn normalize(&self, name: &Path) -> Option<PathBuf> {
        let name = if name.is_absolute() { self.strip_root(name)? } else { name.to_owned() };
        let mut path = PathBuf::new();
        for component in name.components() {
            match component {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                Component::ParentDir if path.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(path)
    }
}

/// The folder of a file that was named without one is `.`.
fn normalize_root(root: &Path) -> PathBuf {
    if root.as_os_str().is_empty() { PathBuf::from(".") } else { root.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("suite");
        std::fs::create_dir_all(root.join("db")).unwrap();
        let folder = Folder::for_suite(&root);
        let inside = [
            ("a.csv", "a.csv"),
            ("db/../a.csv", "a.csv"),
            ("./db/x", "db/x"),
            ("sqlite:/etc/x", "sqlite:/etc/x"),
        ];
        for (name, path) in inside {
            assert_eq!(folder.file(name), Ok(root.join(path)), "{name}");
        }
        assert_eq!(folder.file(&root.join("db/y").display().to_string()), Ok(root.join("db/y")));
        for name in ["..", "../a", "db/../../a", "/etc/passwd", "//etc/passwd", "a/../../suite2/x"]
        {
            assert_eq!(folder.file(name), Err(Outside), "{name}");
        }
    }

    #[test]
    fn an_absolute_name_is_inside_of_a_relative_folder() {
        let home = tempfile::tempdir_in(".").unwrap();
        let root = Path::new(home.path().file_name().unwrap());
        std::fs::create_dir(root.join("db")).unwrap();
        let name = root.canonicalize().unwrap().join("db/x").display().to_string();
        for spelled in [root.to_owned(), Path::new("./src/..").join(root)] {
            let folder = Folder::for_suite(&spelled);
            assert_eq!(folder.file(&name), Ok(spelled.join("db/x")));
            assert_eq!(folder.file("/etc/passwd"), Err(Outside));
        }
        assert_eq!(Folder::for_suite(Path::new("")).file("/etc/passwd"), Err(Outside));
        assert_eq!(Folder::for_suite(Path::new("")).file("a.csv"), Ok(PathBuf::from("./a.csv")));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_out_only_of_folders_that_the_user_gave() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("suite");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(home.path().join("secret"), "x").unwrap();
        std::fs::write(root.join("own"), "x").unwrap();
        for (name, target) in [("out", home.path().to_owned()), ("in", root.join("own"))] {
            std::os::unix::fs::symlink(target, root.join(name)).unwrap();
        }
        let suite = Folder::for_suite(&root);
        assert_eq!(suite.file("out/secret"), Err(Outside));
        assert!(suite.file("in").is_ok());
        assert!(Folder::from_user(&root).file("out/secret").is_ok());
        assert_eq!(Folder::from_user(&root).file("../secret"), Err(Outside));
    }
}
