//! Commands that end well when they are interrupted.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody has asked for the end (Ctrl-C, SIGTERM); asked twice, it comes at once.
#[derive(Clone)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
    released: Arc<AtomicBool>,
}

impl Interrupt {
    /// From now on the first signal is only noted.
    ///
    /// # Errors
    /// What the system says.
    pub fn watch() -> std::io::Result<Self> {
        Self::register(true)
    }
    /// The same, and later signals are only noted too: for a command that ends within seconds, and that would leave
    /// processes and namespaces behind if it were cut off meanwhile.
    ///
    /// # Errors
    /// The operating system refuses the handler.
    pub fn watch_until_end() -> std::io::Result<Self> {
        Self::register(false)
    }
    fn register(second_exits: bool) -> std::io::Result<Self> {
        let [asked, released] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
        for signal in [SIGINT, SIGTERM] {
            if second_exits {
                // In this order: what is armed by the first signal acts on the second.
                flag::register_conditional_shutdown(signal, 128 + signal, asked.clone())?;
            }
            flag::register_conditional_default(signal, released.clone())?;
            flag::register(signal, asked.clone())?;
        }
        Ok(Self { asked, released })
    }
    /// From now on a signal ends the program, as without this watch.
    pub fn release(&self) {
        self.released.store(true, Ordering::Relaxed);
    }
    /// Whether it was asked for.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
