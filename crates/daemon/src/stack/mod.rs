//! What carries frames between two daemons. A stack is a file here, and a line in [`STACKS`].

pub mod pipe;
pub mod tcp;
pub mod udpdtn;

use lightlag_protocols::session::Stack;

/// TLS over TCP.
pub const TCP: Stack = Stack(0);
/// Datagrams that are paced, reported and repeated.
pub const UDPDTN: Stack = Stack(1);

/// Every stack and its name.
pub const STACKS: [(Stack, &str); 2] = [(TCP, "tcp"), (UDPDTN, "udpdtn")];

/// What a stack is called.
pub fn name(stack: Stack) -> &'static str {
    STACKS.iter().find(|(known, _)| *known == stack).map_or("?", |(_, name)| name)
}
