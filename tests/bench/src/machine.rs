//! Describes the machine that the figures were measured on.

use std::time::SystemTime;

/// The machine, the compiler and the day.
#[derive(Debug, Clone, Default)]
pub(crate) struct Machine {
    cpu: String,
    cores: usize,
    kernel: String,
    /// Processes that wanted to run in the last minute; `None` if the system does not say.
    load: Option<String>,
    date: String,
}

impl Machine {
    /// Looks at it, before anything is measured.
    pub(crate) fn read() -> Self {
        let kernel = text("/proc/sys/kernel/osrelease");
        Self {
            cpu: cpu(&text("/proc/cpuinfo")).unwrap_or(std::env::consts::ARCH).to_owned(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: format!("{} {}", std::env::consts::OS, kernel.trim()).trim_end().to_owned(),
            load: text("/proc/loadavg").split_whitespace().next().map(str::to_owned),
            date: httpdate::fmt_http_date(SystemTime::now()),
        }
    }

    /// One line about it.
    pub(crate) fn line(&self) -> String {
        let load = self
            .load
            .as_ref()
            .map(|load| format!(", load {load} before the run"))
            .unwrap_or_default();
        format!(
            "{}, {} cores, {}; {} ({}); {}{load}.",
            self.cpu,
            self.cores,
            self.kernel,
            env!("BENCH_RUSTC"),
            env!("BENCH_PROFILE"),
            self.date,
        )
    }
}

/// A file's text; nothing where there is none.
fn text(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn cpu(info: &str) -> Option<&str> {
    info.lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map(|(_, name)| name.trim())
}

/// Bytes of memory that this process has now; `None` if the system does not say.
pub(crate) fn resident() -> Option<u64> {
    let status = text("/proc/self/status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_has_its_name() {
        assert_eq!(
            cpu("processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\n"),
            Some("Some CPU @ 3 GHz")
        );
        assert_eq!(cpu("processor: 0\n"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_memory() {
        assert!(resident().is_some_and(|bytes| bytes > 1 << 20));
    }

    #[test]
    fn the_line_names_the_compiler() {
        let line = Machine::read().line();
        assert!(
            line.contains("rustc 1.") && line.contains("GMT") && line.contains("cores"),
            "{line}"
        );
    }
}
