//! The bounds of a tool that runs code of somebody else's project. On Linux with Landlock it reads
//! the system, and nothing of the user's home but what is named; it writes only where it has to,
//! and signals nobody but what it has started. Elsewhere there are none.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::environment::Variable;

/// The places that a tool may use, besides whatever a user of the machine reads outside of homes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bounds {
    reads: Vec<PathBuf>,
    writes: Vec<PathBuf>,
}

impl Bounds {
    /// The bounds of a tool that reads the system and the folders of `PATH`, and writes nothing.
    pub(super) fn new(environment: &[Variable]) -> Self {
        let home = find(environment, "HOME").and_then(|home| Path::new(home).canonicalize().ok());
        // The home of a system's own user may be all of it.
        let home = home.filter(|home| home.parent().is_some());
        let mut reads = match &home {
            Some(home) => list_beside(home),
            None => vec![PathBuf::from("/")],
        };
        reads.extend(std::env::split_paths(find(environment, "PATH").unwrap_or_default()));
        Self { reads, writes: ["/dev/null", "/dev/zero", "/dev/full"].map(PathBuf::from).into() }
    }

    /// Lets the tool read a file, or a folder with all that is in it. One that is not there is left
    /// out.
    pub(super) fn read(mut self, path: impl Into<PathBuf>) -> Self {
        self.reads.push(path.into());
        self
    }

    /// Lets the tool read and write a file or a folder, which is there.
    pub(super) fn write(mut self, path: impl Into<PathBuf>) -> Self {
        self.writes.push(path.into());
        self
    }

    /// Starts a command that keeps within the bounds, and so does what it starts.
    pub(super) fn spawn(&self, command: &mut Command) -> std::io::Result<Child> {
        // They are those of a thread, and of the processes that it starts.
        std::thread::scope(|scope| {
            let started = scope.spawn(|| {
                self.restrict().map_err(std::io::Error::other)?;
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

/// Returns the value of a variable.
pub(super) fn find<'a>(environment: &'a [Variable], name: &str) -> Option<&'a OsStr> {
    let found = environment.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_os_str()).filter(|value| !value.is_empty())
}

/// Lists what lies beside a folder and beside the folders above it, and does not lead there.
fn list_beside(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.ancestors().skip(1).filter_map(|above| fs::read_dir(above).ok()).flatten();
    let paths = entries.filter_map(|entry| entry.ok()?.path().canonicalize().ok());
    paths.filter(|path| !path.starts_with(folder) && !folder.starts_with(path)).collect()
}

#[cfg(all(test, target_os = "linux"))]
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
        fs::create_dir_all(project.join("target")).unwrap();
        fs::create_dir(home.join("tools")).unwrap();
        std::os::unix::fs::symlink(&home, place.join("homes/link")).unwrap();
        for path in ["homes/me/secret", "homes/me/tools/tool", "beside", "homes/me/project/source"]
        {
            fs::write(place.join(path), "text").unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", home.join("tools").display());
        let environment = [("HOME".into(), home.clone().into()), ("PATH".into(), path.into())];
        let bounds = Bounds::new(&environment).read(&project).write(project.join("target"));
        for script in [
            "cat source ../tools/tool ../../../beside > /dev/null",
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
        ] {
            assert!(!ends_well(&bounds, &project, script), "{script}");
        }
        assert_eq!(fs::read_to_string(place.join("beside")).unwrap(), "text");
    }
}
