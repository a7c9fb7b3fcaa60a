//! The log on standard error, one event a line as `LEVEL:logger_name:message`.

use std::fmt;
use std::io;
use std::sync::Arc;

use tracing::{Event, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use super::Console;

/// Starts the log: warnings of this program, with one `-v` its information, with two its debugging, with three
/// that of all parts.
pub(crate) fn start(console: &Arc<Console>, verbosity: u8, quiet: bool) {
    let filter = match verbosity {
        _ if quiet => "off",
        0 => "off,syrch=warn",
        1 => "warn,syrch=info",
        2 => "warn,syrch=debug",
        _ => "debug,syrch=trace",
    };
    let console = Arc::clone(console);
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(filter))
        .with_ansi(false)
        .event_format(Line)
        .with_writer(move || Sink { console: Arc::clone(&console), line: Vec::new() })
        .finish();
    // Only the first of a process counts, and this is a program's one start.
    drop(tracing::subscriber::set_global_default(subscriber));
}

struct Line;

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let data = event.metadata();
        write!(writer, "{}:{}:", data.level(), data.target().replace("::", "."))?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// One event, given to the console when it is whole, so that a secret cannot hide across two writes.
struct Sink {
    console: Arc<Console>,
    line: Vec<u8>,
}

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if !self.line.is_empty() {
            self.console.log(&String::from_utf8_lossy(&self.line));
        }
    }
}
