//! Input from unknown hosts and applications to a daemon, one message at a time, for fuzzers.

use super::keys::Identity;
use super::proxy::socks;
use super::seal::{self, Seal};
use super::stack::tcp;
use lightlag_protocols::wire::session::Epoch;

/// An application of SOCKS5 says this.
pub fn socks(said: &[u8]) {
    let door = toml::from_str("listen = '127.0.0.1:1'").expect("settings of a door");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let _ = runtime.block_on(socks::ask(Said(said), &door));
}

/// Somebody sends this datagram.
pub fn datagram(said: &[u8]) {
    let identity = Identity::generate().expect("a key");
    let mut seal = Seal::new(&identity, &identity.public(), Epoch { number: 1, nonce: 1 })
        .expect("a key of its own is not weak");
    let _ = seal::sender(said);
    assert!(seal.open(&mut said.to_vec()).is_none(), "only the peer can make one that opens");
}

/// The other daemon sends these records over TLS.
pub fn records(mut said: &[u8]) {
    while let Ok(Some((record, behind))) = tcp::read_record(said) {
        let _ = tcp::read_hello(record);
        said = behind;
    }
}

/// Input only; answers are discarded.
struct Said<'a>(&'a [u8]);

impl tokio::io::AsyncRead for Said<'_> {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context,
        buffer: &mut tokio::io::ReadBuf,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::pin::Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl tokio::io::AsyncWrite for Said<'_> {
    fn poll_write(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context,
        bytes: &[u8],
    ) -> std::task::Poll<std::io::Result<usize>> {
        std::task::Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Ready(Ok(()))
    }
    fn poll_shutdown(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context,
    ) -> std::task::Poll<std::io::Result<()>> {
        std::task::Poll::Ready(Ok(()))
    }
}
