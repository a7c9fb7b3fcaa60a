//! Ctrl-C: once ends the work with the best so far, twice ends the program.

use tokio::sync::watch;

use crate::exit::Exit;

/// Tells whether Ctrl-C was pressed.
#[derive(Clone)]
pub(crate) struct Interrupt {
    pressed: watch::Receiver<bool>,
}

impl Interrupt {
    /// Listens from now on; must be called inside the runtime.
    pub(crate) fn listen() -> Self {
        let (sender, pressed) = watch::channel(false);
        tokio::spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if *sender.borrow() {
                    std::process::exit(i32::from(Exit::Interrupted.code()));
                }
                sender.send_replace(true);
            }
            // Without a handler there is no Ctrl-C to wait for: keep the channel open, or waiting would end.
            sender.closed().await;
        });
        Self { pressed }
    }

    /// Ends when Ctrl-C was pressed.
    pub(crate) async fn wait(&self) {
        let mut pressed = self.pressed.clone();
        if pressed.wait_for(|pressed| *pressed).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
