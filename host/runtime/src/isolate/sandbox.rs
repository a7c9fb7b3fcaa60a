//! The bounds of a worker process, which it sets itself before it runs any code of its plugin. They
//! hold for the rest of its life, whatever code runs in it then.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread::Builder;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getrlimit, kill_process, set_parent_process_death_signal,
    setrlimit,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule,
};
use syrch_core::Limits;

/// The most CPU time of a worker, in seconds. The host starts another long before.
pub(super) const CPU_SECONDS: u64 = 3_600;
/// Guests of full memory that a worker holds at once.
const FULL_GUESTS: u64 = 16;
/// Memory of a worker besides that of its guests and its stacks, in bytes.
const OWN_MEMORY: u64 = 1 << 30;
/// The only control of a device or file that a worker makes: wasmtime's own, of its memory.
const PAGEMAP_SCAN: u64 = 0xc060_6610;

/// Returns whether this system can bound a worker: it has Landlock for files at least.
pub(super) fn is_supported() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create)
        .is_ok()
        && TargetArchitecture::try_from(std::env::consts::ARCH).is_ok()
}

type TargetArchitecture = seccompiler::TargetArch;

/// Bounds memory, CPU time and files, and ends this process with its parent. Called while the
/// process has one thread.
pub(super) fn give_up_files(limits: &Limits) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let guests = (limits.memory as u64).saturating_mul(FULL_GUESTS);
    let memory = data_bytes()?.saturating_add(guests).saturating_add(OWN_MEMORY);
    for (resource, limit) in [
        (Resource::Data, memory),
        (Resource::Cpu, CPU_SECONDS),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ] {
        // A limit that is lower already stays so: it cannot be raised.
        let most = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Some(limit.min(most));
        setrlimit(resource, Rlimit { current: limit, maximum: limit })?;
    }
    // Should the machine have too little memory, it is the first to end. Some systems forbid it.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let newest = ABI::V6;
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(|rules| {
            // What newer kernels have besides.
            rules
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_all(newest))?
                .handle_access(AccessNet::from_all(newest))?
                .scope(Scope::from_all(newest))?
                .create()?
                .no_new_privs(true)
                .restrict_self()
        })
        .map_err(io::Error::other)?;
    if restricted.ruleset == RulesetStatus::NotEnforced || !restricted.no_new_privs {
        return Err(io::Error::other("Landlock is not enforced"));
    }
    // Those of a root, by which it could look into other processes.
    let none = CapabilitySet::empty();
    clear_ambient_capability_set()?;
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, sets)?)
}

/// The memory that counts as data of this process: stacks of guests lie there from the start.
fn data_bytes() -> io::Result<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm")?;
    let pages = sizes.split_ascii_whitespace().nth(5).and_then(|pages| pages.parse::<u64>().ok());
    let pages = pages.ok_or_else(|| io::Error::other("the size of the process is not known"))?;
    Ok(pages.saturating_mul(rustix::param::page_size() as u64))
}

/// Denies all system calls but those that threads, memory and the open socket need, in all threads
/// of this process. Memory can no longer be made executable, and no thread can be started: the
/// number of threads is no other limit's matter, and each takes memory of the system.
pub(super) fn give_up_calls() -> io::Result<()> {
    let architecture =
        TargetArchitecture::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
    let denied = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules()?, denied, SeccompAction::Allow, architecture)
        .map_err(io::Error::other)?;
    let program = BpfProgram::try_from(filter).map_err(io::Error::other)?;
    // It denies further filters.
    seccompiler::apply_filter_all_threads(&program).map_err(io::Error::other)
}

/// The system calls that are allowed, some with conditions on their arguments.
fn rules() -> io::Result<BTreeMap<i64, Vec<SeccompRule>>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = [
        libc::SYS_brk,
        libc::SYS_clock_getres,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_close,
        libc::SYS_epoll_ctl,
        libc::SYS_epoll_pwait,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getcpu,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_gettimeofday,
        libc::SYS_madvise,
        libc::SYS_membarrier,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_nanosleep,
        libc::SYS_ppoll,
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_recvfrom,
        libc::SYS_restart_syscall,
        libc::SYS_rseq,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_yield,
        libc::SYS_sendto,
        libc::SYS_set_robust_list,
        libc::SYS_shutdown,
        libc::SYS_sigaltstack,
        libc::SYS_write,
        libc::SYS_writev,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_epoll_wait,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll,
    ]
    .map(|call| (call, Vec::new()))
    .into();
    let executable = libc::PROT_EXEC as u64;
    let own = u64::from(std::process::id());
    let mut conditions = BTreeMap::<i64, Vec<SeccompCondition>>::new();
    // Neither of these counts as data of the process.
    let uncounted = (libc::MAP_SHARED | libc::MAP_GROWSDOWN) as u64;
    for (call, argument, comparison, value) in [
        (libc::SYS_mmap, 2, SeccompCmpOp::MaskedEq(executable), 0),
        (libc::SYS_mmap, 3, SeccompCmpOp::MaskedEq(uncounted), 0),
        (libc::SYS_mprotect, 2, SeccompCmpOp::MaskedEq(executable), 0),
        (libc::SYS_ioctl, 1, SeccompCmpOp::Eq, PAGEMAP_SCAN),
        // Neither the owner of a descriptor nor its signal can be set.
        (libc::SYS_fcntl, 1, SeccompCmpOp::Le, libc::F_GETFL as u64),
        (libc::SYS_prctl, 0, SeccompCmpOp::Eq, libc::PR_SET_NAME as u64),
        // A signal to itself, as an abort sends it.
        (libc::SYS_tgkill, 0, SeccompCmpOp::Eq, own),
    ] {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value)
            .map_err(io::Error::other)?;
        conditions.entry(call).or_default().push(condition);
    }
    for (call, conditions) in conditions {
        rules.insert(call, vec![SeccompRule::new(conditions).map_err(io::Error::other)?]);
    }
    Ok(rules)
}

/// Closes what the host left open besides the first three descriptors, such as a connection of a
/// library that does not close it in child processes. Called while the process has one thread.
pub(super) fn close_descriptors() -> io::Result<()> {
    let open: Vec<i32> = std::fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in open {
        // SAFETY: nothing of this process has opened a file yet but the listing, which is closed:
        // to close that one again is an error without effect.
        #[allow(unsafe_code)]
        unsafe {
            libc::close(descriptor);
        }
    }
    Ok(())
}

/// Tries what a worker must not be able to do. Returns the error of each; `None` if it was
/// possible.
pub(super) fn probe() -> Vec<(String, Option<String>)> {
    fn error<T>(tried: io::Result<T>) -> Option<String> {
        tried.err().map(|error| error.to_string())
    }
    let parent = rustix::process::getppid();
    let host = parent.map_or(1, Pid::as_raw_pid);
    let signal = parent
        .ok_or(rustix::io::Errno::PERM)
        .and_then(|parent| kill_process(parent, Signal::CONT))
        .map_err(io::Error::from);
    [
        ("read a file", error(File::open("/etc/passwd"))),
        ("write a file", error(File::create("/tmp/syrch-worker"))),
        ("list a folder", error(std::fs::read_dir("/"))),
        ("read its environment", error(File::open("/proc/self/environ"))),
        ("read the host's memory", error(File::open(format!("/proc/{host}/mem")))),
        ("trace the host", error(trace(host))),
        ("send the host a signal", error(signal)),
        ("open a TCP socket", error(TcpListener::bind("127.0.0.1:0"))),
        ("open a UDP socket", error(UdpSocket::bind("127.0.0.1:0"))),
        ("connect to a local socket", error(UnixStream::connect("/run/dbus/system_bus_socket"))),
        ("start a process", error(Command::new("/bin/true").status())),
        ("start a thread", error(Builder::new().spawn(|| ()))),
        ("make memory executable", error(map(ProtFlags::EXEC, MapFlags::PRIVATE))),
        ("share memory, which no limit counts", error(map(ProtFlags::WRITE, MapFlags::SHARED))),
    ]
    .map(|(tried, error)| (tried.to_owned(), error))
    .into()
}

fn trace(process: i32) -> io::Result<()> {
    // SAFETY: the request attaches to a process, and neither reads nor writes memory.
    #[allow(unsafe_code)]
    let traced = unsafe { libc::ptrace(libc::PTRACE_SEIZE, process, 0, 0) };
    if traced == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn map(rights: ProtFlags, flags: MapFlags) -> io::Result<()> {
    let size = rustix::param::page_size();
    // SAFETY: the mapping is new, and nothing uses it.
    #[allow(unsafe_code)]
    let mapped =
        unsafe { mmap_anonymous(std::ptr::null_mut(), size, ProtFlags::READ | rights, flags) };
    mapped.map(drop).map_err(io::Error::from)
}
