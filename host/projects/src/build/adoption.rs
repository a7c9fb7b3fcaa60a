//! The processes that a bounded tool leaves behind, such as those that began a session of their
//! own. On Linux this process becomes the parent of those that lose theirs, and ends them before
//! anything is read that the tool has made. Elsewhere a process that leaves the tool's group stays.

#[cfg(target_os = "linux")]
pub(super) use linux::Adoption;
#[cfg(not(target_os = "linux"))]
pub(super) use other::Adoption;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread;
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, Resource, Rlimit, Signal, WaitOptions, child_subreaper, getpid, getrlimit,
        kill_process, set_child_subreaper, setrlimit, waitpid,
    };

    /// The limit that marks the processes of a tool: it can be lowered, and never raised again.
    /// None of them may run in real time anyway, to which alone it applies.
    const MARK: Resource = Resource::Rttime;
    /// The name of the limit in `/proc`.
    const MARK_NAME: &str = "Max realtime timeout";
    /// More than any machine runs, in microseconds.
    const FOREVER: u64 = 1 << 62;
    /// The time that processes have to end.
    const PATIENCE: Duration = Duration::from_secs(10);
    const PAUSE: Duration = Duration::from_millis(1);

    /// This process has one set of children: its tools run one after the other.
    static ONE: Mutex<()> = Mutex::new(());

    /// While it lives, processes of a tool that lose their parent become children of this one.
    pub(in super::super) struct Adoption {
        /// The mark of the tool's processes; those of this process are above it. `None` where there
        /// can be none, so that nobody is ended.
        mark: Option<u64>,
        before: Option<Pid>,
        _one: MutexGuard<'static, ()>,
    }

    impl Adoption {
        pub(in super::super) fn begin() -> io::Result<Self> {
            let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
            let before = child_subreaper()?;
            set_child_subreaper(Some(getpid()))?;
            let own = getrlimit(MARK).maximum.unwrap_or(FOREVER).min(FOREVER);
            Ok(Self { mark: own.checked_sub(1), before, _one: one })
        }

        /// Marks the processes of a command that is started later.
        pub(in super::super) fn mark(&self, command: &mut Command) {
            let Some(mark) = self.mark else { return };
            // SAFETY: between fork and exec it makes one system call, and takes no memory and no
            // lock.
            #[allow(unsafe_code)]
            unsafe {
                command.pre_exec(move || {
                    let limit = Rlimit { current: Some(mark), maximum: Some(mark) };
                    setrlimit(MARK, limit).map_err(io::Error::from)
                });
            }
        }

        /// Ends what the tool has left behind.
        pub(in super::super) fn end(self) -> io::Result<()> {
            let start = Instant::now();
            loop {
                let children = self.list_children()?;
                if children.is_empty() {
                    return Ok(());
                }
                if start.elapsed() > PATIENCE {
                    return Err(io::Error::other("it left processes behind that do not end"));
                }
                for child in children {
                    // Its own children are adopted in their turn. One that has ended is waited for.
                    let _ = kill_process(child, Signal::KILL);
                    let _ = waitpid(Some(child), WaitOptions::NOHANG);
                }
                thread::sleep(PAUSE);
            }
        }

        /// Lists the children of this process that have the mark.
        fn list_children(&self) -> io::Result<Vec<Pid>> {
            let own = getpid();
            let mut found = Vec::new();
            for entry in fs::read_dir("/proc")? {
                let name = entry?.file_name();
                let process = name.to_str().and_then(|name| name.parse().ok());
                if let Some(process) = process.and_then(Pid::from_raw)
                    && find_parent(process) == Some(own)
                    && find_mark(process).is_some_and(|mark| Some(mark) <= self.mark)
                {
                    found.push(process);
                }
            }
            Ok(found)
        }
    }

    impl Drop for Adoption {
        fn drop(&mut self) {
            let _ = set_child_subreaper(self.before);
        }
    }

    /// The parent of a process; `None` if it has ended.
    fn find_parent(process: Pid) -> Option<Pid> {
        let status = fs::read(format!("/proc/{process}/stat")).ok()?;
        // The name of the program may have anything in it, and is in parentheses.
        let end = status.iter().rposition(|byte| *byte == b')')?;
        let fields = std::str::from_utf8(status.get(end + 1..)?).ok()?;
        Pid::from_raw(fields.split_ascii_whitespace().nth(1)?.parse().ok()?)
    }

    /// The limit of a process by which those of a tool are known.
    fn find_mark(process: Pid) -> Option<u64> {
        let limits = fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix(MARK_NAME))?;
        line.split_ascii_whitespace().nth(1)?.parse().ok()
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;
    use std::process::Command;

    /// No process is adopted on this system.
    pub(in super::super) struct Adoption;

    impl Adoption {
        pub(in super::super) fn begin() -> io::Result<Self> {
            Ok(Self)
        }

        pub(in super::super) fn mark(&self, _: &mut Command) {}

        pub(in super::super) fn end(self) -> io::Result<()> {
            Ok(())
        }
    }
}
