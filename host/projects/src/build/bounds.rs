//! The bounds of a tool that runs code of somebody else's project. On Linux with Landlock it reads
//! the system, and nothing of the user's home but what is named; it writes only where it has to,
//! and signals nobody but what it has started. Elsewhere there are none.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::environment::Variable;

/// Folders of temporary files, where everybody has some.
const SHARED: [&str; 2] = ["/tmp", "/var/tmp"];
/// The parts that a program needs of the folder in which its own folder of programs lies.
const LIBRARIES: [&str; 7] =
    ["bin", "lib", "lib64", "libexec", "include", "share/wasi-sysroot", "share/wasi-libc"];

/// The places that a tool may use, besides whatever a user of the machine reads outside of homes
/// and of folders for temporary files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bounds {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
    /// The folder of the tool's temporary files.
    scratch: PathBuf,
    /// The tool's `PATH`, if it is another than the user's.
    path: Option<OsString>,
}

impl Bounds {
    /// The bounds of a tool that reads the system and the folders of `PATH`, and writes nothing but
    /// temporary files, in this folder, which is there.
    pub(super) fn new(environment: &[Variable], scratch: &Path) -> Self {
        let home = find(environment, "HOME").and_then(|home| Path::new(home).canonicalize().ok());
        // The home of a system's own user may be all of it.
        let home = home.filter(|home| home.parent().is_some());
        let shared = SHARED.iter().filter_map(|folder| Path::new(folder).canonicalize().ok());
        let mut reads = list_beside(&home.into_iter().chain(shared).collect::<Vec<_>>());
        reads.extend(std::env::split_paths(find(environment, "PATH").unwrap_or_default()));
        let devices = ["/dev/null", "/dev/zero", "/dev/full"].map(PathBuf::from);
        let writes = devices.into_iter().chain([scratch.to_owned()]).collect();
        Self { reads, writes, scratch: scratch.to_owned(), path: None }
    }

    /// Lets the tool read a file, or a folder with all that is in it. One that is not there is left
    /// out.
    pub(super) fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// Lets the tool read a program that lies in a folder or is found in `PATH`, and the libraries
    /// that it was installed with.
    pub(super) fn read_program(mut self, environment: &[Variable], program: &Path) -> Self {
        let path = find(environment, "PATH").unwrap_or_default();
        let mut found = std::env::split_paths(path).map(|folder| folder.join(program));
        let found = found.find(|file| file.is_file());
        let Some(file) = found.and_then(|file| file.canonicalize().ok()) else { return self };
        let above = file.parent().and_then(Path::parent).filter(|above| above.parent().is_some());
        let libraries = above.into_iter().flat_map(|above| LIBRARIES.map(|name| above.join(name)));
        self.reads.extend(libraries);
        self.read(file)
    }

    /// Lets the tool find programs in a folder before those of `PATH`.
    pub(super) fn find_first(mut self, environment: &[Variable], folder: &Path) -> Self {
        let path = std::env::split_paths(find(environment, "PATH").unwrap_or_default());
        let path = std::env::join_paths([folder.to_owned()].into_iter().chain(path));
        self.path = path.ok();
        self.read(folder)
    }

    /// Lets the tool read and write a file or a folder, which is there.
    pub(super) fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.writes.push(path.into());
        self
    }

    /// Starts a command that keeps within the bounds, and so does what it starts.
    pub(super) fn spawn(&self, command: &mut Command) -> std::io::Result<Child> {
        command.env("TMPDIR", &self.scratch);
        command.envs(self.path.iter().map(|path| ("PATH", path)));
        // They are those of a thread, and of the processes that it starts.
        std::thread::scope(|scope| {
            let started = scope.spawn(|| {
                self.restrict().map_err(std::io::Error::other)?;
                give_up_capabilities()?;
                command.spawn()
            });
            started.join().unwrap_or_else(|_| Err(std::io::Error::other("its thread panicked")))
        })
    }

    /// Bounds this thread.
    #[cfg(target_os = "linux")]
    fn restrict(&self) -> Result<(), landlock::RulesetError> {
        use landlock::{
            ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
            path_beneath_rules,
        };
        let newest = ABI::V6;
        let all = AccessFs::from_all(newest);
        Ruleset::default()
            .handle_access(all)?
            .scope(Scope::from_all(newest))?
            .create()?
            .add_rules(path_beneath_rules(&self.reads, AccessFs::from_read(newest)))?
            .add_rules(path_beneath_rules(&self.writes, all))?
            .restrict_self()
            .map(drop)
    }

    #[cfg(not(target_os = "linux"))]
    fn restrict(&self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Takes the rights of a root from this thread, by which it reads the memory and the environment of
/// other processes. Files of other users stay writable, where the bounds let them: a project in a
/// container may be another's.
#[cfg(target_os = "linux")]
fn give_up_capabilities() -> std::io::Result<()> {
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    };
    // A program of root would get them again.
    set_no_new_privs(true)?;
    let permitted = capabilities(None)?.permitted;
    if permitted.is_empty() {
        return Ok(());
    }
    clear_ambient_capability_set()?;
    let rest = CapabilitySet::DAC_OVERRIDE;
    for capability in CapabilitySet::all().difference(rest).iter() {
        // It takes a right of its own, and is the second bar.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let permitted = permitted.intersection(rest);
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: permitted, permitted, inheritable })?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn give_up_capabilities() -> std::io::Result<()> {
    Ok(())
}

/// Returns the value of a variable.
pub(super) fn find<'a>(environment: &'a [Variable], name: &str) -> Option<&'a OsStr> {
    let found = environment.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
}

/// Returns a folder in one of the user's that a variable names, or that has this name in the user's
/// home.
pub(super) fn find_folder(
    environment: &[Variable],
    variable: &str,
    name: &str,
    folder: &str,
) -> Option<PathBuf> {
    let own = find(environment, variable).map(PathBuf::from);
    let own = own.or_else(|| Some(Path::new(find(environment, "HOME")?).join(name)))?;
    Some(own.join(folder))
}

/// Lists what lies beside some canonical folders and beside those above them, and does not lead
/// there.
fn list_beside(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut above = vec![PathBuf::from("/")];
    let mut found = Vec::new();
    while let Some(folder) = above.pop() {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries.map(|entry| entry.path()) {
            let Ok(path) = entry.canonicalize() else { continue };
            if folders.iter().any(|folder| path.starts_with(folder)) {
                continue;
            }
            if !folders.iter().any(|folder| folder.starts_with(&path)) {
                found.push(path);
            } else if path == entry {
                above.push(path);
            }
        }
    }
    found
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn ends_well(bounds: &Bounds, folder: &Path, script: &str) -> bool {
        let mut command = Command::new("sh");
        command.current_dir(folder).args(["-c", script]);
        bounds.spawn(&mut command).unwrap().wait().unwrap().success()
    }

    #[test]
    fn a_tool_reads_nothing_of_a_home_and_writes_where_it_may() {
        let scratch = syrch_kit::scratch();
        let place = scratch.path().canonicalize().unwrap();
        let [home, project] = ["homes/me", "homes/me/project"].map(|name| place.join(name));
        fs::create_dir_all(project.join("target/tmp")).unwrap();
        fs::create_dir(home.join("tools")).unwrap();
        std::os::unix::fs::symlink(&home, place.join("homes/link")).unwrap();
        for path in ["homes/me/secret", "homes/me/tools/tool", "beside", "homes/me/project/source"]
        {
            fs::write(place.join(path), "text").unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", home.join("tools").display());
        let environment = [("HOME".into(), home.clone().into()), ("PATH".into(), path.into())];
        let bounds = Bounds::new(&environment, &project.join("target/tmp"));
        // Where the scratch folder is one of those for temporary files, it is not read.
        let bounds = bounds.read(&project).read(place.join("beside")).write(project.join("target"));
        for script in [
            "cat source ../tools/tool ../../../beside /etc/passwd > /dev/null",
            "echo x > \"$TMPDIR/made\" && test \"$TMPDIR\" = \"$PWD/target/tmp\"",
            "echo x > target/made && mv target/made target/moved && sh -c 'cat target/moved'",
        ] {
            assert!(ends_well(&bounds, &project, script), "{script}");
        }
        for script in [
            "cat ../secret 2> /dev/null",
            "cat ../../link/secret 2> /dev/null",
            "ls .. 2> /dev/null",
            "2> /dev/null > made",
            "2> /dev/null > ../made",
            "2> /dev/null > ../../../beside",
            "sh -c 'cat ../secret 2> /dev/null'",
            "ls /tmp 2> /dev/null",
            // Not even where root starts it.
            "cat /proc/$PPID/environ 2> /dev/null",
            "sh -c 'cat /proc/$PPID/../$0/environ 2> /dev/null' $PPID",
        ] {
            assert!(!ends_well(&bounds, &project, script), "{script}");
        }
        assert_eq!(fs::read_to_string(place.join("beside")).unwrap(), "text");
    }
}
