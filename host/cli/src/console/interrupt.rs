//! Ctrl-C: once ends the work with the best so far, twice ends the program.

use std::sync::Arc;

use tokio::sync::watch;

use crate::exit::Exit;

/// The state of Ctrl-C: pressed or not; shared by all copies.
#[derive(Clone)]
pub(crate) struct Interrupt {
    pressed: Arc<watch::Sender<bool>>,
}

impl Interrupt {
    /// Listens from now on; must be called inside the runtime.
    pub(crate) fn listen() -> Self {
        let interrupt = Self { pressed: Arc::new(watch::Sender::new(false)) };
        let pressed = interrupt.clone();
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                pressed.end();
            }
        });
        interrupt
    }

    /// Takes the signals that end a program and close its terminal for a Ctrl-C from now on, where
    /// work has to be ended that would go on otherwise. Must be called inside the runtime.
    pub(crate) fn listen_to_ends(&self) {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            // `nohup` asks for this signal to be ignored.
            let hangup = (!ignores_hangup()).then(SignalKind::hangup);
            for kind in [SignalKind::terminate()].into_iter().chain(hangup) {
                // Without a listener the signal ends the program at once.
                let Ok(mut signals) = signal(kind) else { continue };
                let interrupt = self.clone();
                tokio::spawn(async move {
                    while signals.recv().await.is_some() {
                        interrupt.end();
                    }
                });
            }
        }
    }

    /// The first time the work ends, the second time the program.
    fn end(&self) {
        if self.pressed.send_replace(true) {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
    }

    /// Ends when Ctrl-C was pressed.
    pub(crate) async fn wait(&self) {
        let mut pressed = self.pressed.subscribe();
        // The sender lives as long as this does, so there is always something to wait for.
        drop(pressed.wait_for(|pressed| *pressed).await);
    }

    /// Returns true if Ctrl-C was pressed since the start, or since [`Interrupt::forget`].
    pub(crate) fn is_pressed(&self) -> bool {
        *self.pressed.borrow()
    }

    /// Counts a Ctrl-C that came as a key and not as a signal.
    pub(crate) fn press(&self) {
        self.pressed.send_replace(true);
    }

    /// Starts anew: the work that was to end has ended, and other work follows.
    pub(crate) fn forget(&self) {
        self.pressed.send_replace(false);
    }
}

/// Returns true if the program was started so that it ignores that its terminal is closed. Where
/// the system does not say, a program with a terminal does not.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    // Of the mask of ignored signals, in hex, the lowest bit is that of signal 1, SIGHUP.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask & 1 == 1,
        None => !std::io::IsTerminal::is_terminal(&std::io::stderr()),
    }
}
