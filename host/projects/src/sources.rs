//! The source files of a project: everything but what is made, installed, copied from the host, or
//! for tests.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::build::is_sdk;
use crate::{Error, Project};

/// The reason why a path is refused.
const OUTSIDE: &str = "is a symbolic link or a path that leads out of the project: a build reads \
                       its SDK alone elsewhere";
/// The reason why a file that a compiler has read is refused.
const FOREIGN: &str = "lies outside of the project, its SDK and its tools, and would become a part \
                       of the component";
/// Folders that builds and tools write.
const MADE: [&str; 6] = ["build", "tests", "node_modules", "target", "__pycache__", "venv"];
/// Folders that hold no sources of the plugin.
const OTHERS: [&str; 8] =
    ["build", "sdk", "wit", "tests", "node_modules", "target", "__pycache__", "venv"];
/// Endings of the files that builds read, and the names of others.
const SOURCES: [&str; 12] =
    ["rs", "py", "js", "mjs", "ts", "go", "c", "h", "wit", "toml", "mod", "txt"];
const MANIFESTS: [&str; 2] = [crate::FILE, "package.json"];
/// Folders deep at most.
const DEEPEST: usize = 16;

/// The sources with this ending, sorted.
pub(crate) fn all(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    walk(folder, &OTHERS, &mut |path| found.push(path))?;
    found.retain(|path| path.extension().is_some_and(|found| found == ending));
    found.sort();
    Ok(found)
}

/// The files with this ending that stand directly in a folder, sorted.
pub(crate) fn in_folder(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::file(folder, error))?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|path| path.is_file() && path.extension().is_some_and(|found| found == ending));
    found.sort();
    Ok(found)
}

/// Copies the sources to another folder, which is emptied before.
pub(crate) fn copy(folder: &Path, to: &Path) -> Result<(), Error> {
    match std::fs::remove_dir_all(to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Error::file(to, error));
        }
        _ => std::fs::create_dir_all(to).map_err(|error| Error::file(to, error))?,
    }
    let mut found = Vec::new();
    walk(folder, &OTHERS, &mut |path| found.push(path))?;
    for path in found {
        let target = to.join(path.strip_prefix(folder).unwrap_or(&path));
        let parent = target.parent().unwrap_or(to);
        std::fs::create_dir_all(parent).map_err(|error| Error::file(parent, error))?;
        std::fs::copy(&path, &target).map_err(|error| Error::file(&path, error))?;
    }
    Ok(())
}

/// When each file was changed on which a build depends: the sources, the SDK and the contract. Two
/// equal lists mean that nothing has changed.
///
/// # Errors
/// When a folder cannot be read.
pub fn times(folder: &Path) -> Result<Vec<(PathBuf, SystemTime, u64)>, Error> {
    let mut found = Vec::new();
    walk(folder, &MADE, &mut |path| {
        let data = path.metadata().ok();
        let time =
            data.as_ref().and_then(|data| data.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
        found.push((path, time, data.map_or(0, |data| data.len())));
    })?;
    // Builds write these two.
    found
        .retain(|(path, ..)| !path.ends_with("package-lock.json") && !path.ends_with("Cargo.lock"));
    found.sort();
    Ok(found)
}

/// A component of a project that was made before one of its sources was changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Stale {
    /// The folder of the project.
    pub folder: PathBuf,
    /// The source that is newer than the component.
    pub changed: PathBuf,
}

/// The folder of the project whose `build` folder a component lies in, or would lie in.
#[must_use]
pub fn project_of_component(component: &Path) -> Option<&Path> {
    let folder = component.parent().filter(|folder| folder.ends_with("build"))?.parent()?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    folder.join(crate::FILE).is_file().then_some(folder)
}

/// The first source that is newer than a component in the `build` folder of its project. `None` if
/// there is none, or if the component belongs to no project.
#[must_use]
pub fn stale(component: &Path) -> Option<Stale> {
    let folder = project_of_component(component)?;
    let made = component.metadata().and_then(|data| data.modified()).ok()?;
    fn is_source(path: &Path) -> bool {
        MANIFESTS.iter().any(|name| path.ends_with(name))
            || path.extension().is_some_and(|ending| SOURCES.iter().any(|source| ending == *source))
    }
    let (changed, ..) =
        times(folder).ok()?.into_iter().find(|(path, time, _)| *time > made && is_source(path))?;
    Some(Stale {
        folder: folder.to_owned(),
        changed: changed.strip_prefix(".").map(Path::to_owned).unwrap_or(changed),
    })
}

/// Refuses a file that a compiler has read outside of these folders: it may be the user's own, and
/// would become a part of the component. Paths may be relative to the first folder.
///
/// # Errors
/// When there is such a file, or one that is there no more.
pub(crate) fn refuse_foreign(
    files: impl IntoIterator<Item = PathBuf>,
    folders: &[&Path],
) -> Result<(), Error> {
    let roots: Vec<PathBuf> =
        folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let base = folders.first().copied().unwrap_or(Path::new("/"));
    for file in files {
        let path = base.join(file);
        let place = path.canonicalize();
        if !place.is_ok_and(|place| roots.iter().any(|root| place.starts_with(root))) {
            return Err(Error::file(&path, FOREIGN));
        }
    }
    Ok(())
}

/// Refuses a project of which a path or a symbolic link leads out, so that a file of the user's
/// would become a part of the component. The SDK may lie elsewhere, if it is one.
///
/// # Errors
/// When there is such a path, or a folder cannot be read.
pub(crate) fn refuse_outside(project: &Project) -> Result<(), Error> {
    let root = &project.folder;
    let root = root.canonicalize().map_err(|error| Error::file(root, error))?;
    let is_inside = |path: &Path| path.canonicalize().map_or(true, |to| to.starts_with(&root));
    let entry = project.entry.as_deref().map(|entry| project.folder.join(entry));
    if let Some(entry) = entry.filter(|entry| !is_inside(entry)) {
        return Err(Error::file(&entry, OUTSIDE));
    }
    if !is_inside(&project.sdk) && !is_sdk(&project.sdk, project.language) {
        return Err(Error::file(&project.sdk, OUTSIDE));
    }
    let mut folders = vec![(root.clone(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| Error::file(&folder, error))? {
            let path = entry.map_err(|error| Error::file(&folder, error))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_link = path.is_symlink();
            if is_link && path != root.join("sdk") && !MADE.contains(&name.as_ref()) {
                // A link that leads nowhere may lead somewhere when the build reads it.
                let target = path.canonicalize();
                if !target.is_ok_and(|target| target.starts_with(&root)) {
                    return Err(Error::file(&path, OUTSIDE));
                }
            }
            let is_source = !MADE.contains(&name.as_ref()) && !name.starts_with('.');
            if !is_link && path.is_dir() && is_source && depth < DEEPEST {
                folders.push((path, depth + 1));
            }
        }
    }
    Ok(())
}

/// Symbolic links are left out, but for those to files of the project: several that lead up would
/// take for ever, and one to `/` would be copied.
fn walk(folder: &Path, others: &[&str], found: &mut impl FnMut(PathBuf)) -> Result<(), Error> {
    let root = folder.canonicalize().map_err(|error| Error::file(folder, error))?;
    walk_below(folder, &root, others, 0, found)
}

fn walk_below(
    folder: &Path,
    root: &Path,
    others: &[&str],
    depth: usize,
    found: &mut impl FnMut(PathBuf),
) -> Result<(), Error> {
    for entry in std::fs::read_dir(folder).map_err(|error| Error::file(folder, error))? {
        let path = entry.map_err(|error| Error::file(folder, error))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        let is_link = path.is_symlink();
        if path.is_dir() {
            if !is_link && !others.contains(&name.as_ref()) && depth < DEEPEST {
                walk_below(&path, root, others, depth + 1, found)?;
            }
        } else if path.is_file()
            && (!is_link || path.canonicalize().is_ok_and(|target| target.starts_with(root)))
        {
            found(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_what_the_author_wrote() {
        let scratch = syrch_kit::scratch();
        let folder = scratch.path();
        for path in [
            "plugin.c",
            "roles/reward.c",
            "sdk/x.c",
            "build/y.c",
            "tests/t.c",
            ".tools/z.c",
            "notes.txt",
        ] {
            std::fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
            std::fs::write(folder.join(path), path).unwrap();
        }
        assert_eq!(
            all(folder, "c").unwrap(),
            [folder.join("plugin.c"), folder.join("roles/reward.c")]
        );
        assert_eq!(in_folder(&folder.join("sdk"), "c").unwrap(), [folder.join("sdk/x.c")]);
        let staged = scratch.path().join("build/staged");
        copy(folder, &staged).unwrap();
        assert_eq!(
            std::fs::read_to_string(staged.join("roles/reward.c")).unwrap(),
            "roles/reward.c"
        );
        assert!(!staged.join("sdk").exists() && !staged.join("build").exists());
        let before = times(folder).unwrap();
        std::fs::write(folder.join("build/y.c"), "made").unwrap();
        assert_eq!(times(folder).unwrap(), before);
        std::fs::write(folder.join("plugin.c"), "longer than before").unwrap();
        assert_ne!(times(folder).unwrap(), before);
    }

    #[test]
    fn a_component_is_older_than_a_source_that_was_changed_since() {
        let scratch = syrch_kit::scratch();
        let folder = scratch.path();
        std::fs::create_dir(folder.join("build")).unwrap();
        let source = folder.join("plugin.c");
        let made = folder.join("build/plugin.wasm");
        for path in [&source, &made, &folder.join("README.md"), &folder.join("shop.sqlite")] {
            std::fs::write(path, "").unwrap();
        }
        assert_eq!((stale(&made), project_of_component(&made)), (None, None), "no project");
        std::fs::write(folder.join(crate::FILE), "").unwrap();
        let changed = |path: &Path, seconds| {
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        };
        for path in [&source, &made, &folder.join(crate::FILE)] {
            changed(path, 1_000);
        }
        assert_eq!((stale(&made), project_of_component(&made)), (None, Some(folder)));
        assert_eq!(project_of_component(&folder.join("dist/plugin.wasm")), None);
        changed(&source, 1_001);
        assert_eq!(stale(&made), Some(Stale { folder: folder.to_owned(), changed: source }));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_neither_in_circles_nor_out_of_the_project() {
        use std::os::unix::fs::symlink;
        let scratch = syrch_kit::scratch();
        let folder = scratch.path().join("project");
        let outside = scratch.path().join("outside");
        for folder in [&folder, &outside] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(outside.join("secret.py"), "secret").unwrap();
        std::fs::write(folder.join("plugin.py"), "").unwrap();
        // Eight of them make 8^16 paths.
        for number in 0..8 {
            symlink(".", folder.join(format!("up{number}"))).unwrap();
        }
        symlink(&outside, folder.join("folder")).unwrap();
        symlink(outside.join("secret.py"), folder.join("secret.py")).unwrap();
        symlink("plugin.py", folder.join("same.py")).unwrap();
        nix::unistd::mkfifo(&folder.join("pipe.py"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        assert_eq!(all(&folder, "py").unwrap(), [folder.join("plugin.py"), folder.join("same.py")]);
        let staged = folder.join("build/python");
        copy(&folder, &staged).unwrap();
        assert!(staged.join("same.py").is_file() && !staged.join("folder").exists());
        assert!(!staged.join("secret.py").exists());
        assert_eq!(times(&folder).unwrap().len(), 2);
    }
}
