//! Services that are reached here by name: from the settings, and from programs while the daemon runs.

use super::known::STATE_MOST_BYTES;
use lightlag_node::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tracing::warn;

/// Where the name of a service leads as long as its program listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lead {
    /// `host:port`.
    pub to: String,
    /// The inode of the program's listening socket; without it the lead stays until it is taken back.
    pub listener: Option<u64>,
}

impl Lead {
    /// Whether the program still listens: a later owner of the port does not count.
    fn holds(&self) -> bool {
        let port = self.to.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let (Some(inode), Some(port)) = (self.listener, port) else { return true };
        let tables: Vec<String> = ["tcp", "tcp6"]
            .iter()
            .filter_map(|table| fs::read_to_string(format!("/proc/net/{table}")).ok())
            .collect();
        // Where the kernel has no such table, any listener is believed.
        tables.is_empty() || tables.iter().any(|table| listens(table, port, inode))
    }
}

/// Whether a table of the kernel (`/proc/net/tcp`, proc_net_tcp.txt) has a listening socket.
fn listens(table: &str, port: u16, inode: u64) -> bool {
    const LISTEN: &str = "0A";
    table.lines().skip(1).any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let local = fields.get(1).and_then(|local| local.rsplit_once(':'));
        fields.get(3) == Some(&LISTEN)
            && local.is_some_and(|(_, digits)| u16::from_str_radix(digits, 16) == Ok(port))
            && fields.get(9).is_some_and(|field| field.parse() == Ok(inode))
    })
}

/// All services.
pub struct Services {
    configured: BTreeMap<String, String>,
    led: BTreeMap<String, Lead>,
    /// Programs need not say it again to a daemon that was started again.
    file: PathBuf,
}

impl Services {
    /// Those of the settings, and those that programs registered with an earlier epoch of the daemon.
    pub fn begin(state: &Path, configured: BTreeMap<String, String>) -> Self {
        let file = state.join("services.json");
        let led = match files::read_state(&file, STATE_MOST_BYTES) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_else(|why| {
                warn!(file = %file.display(), %why, "cannot read stored services; programs must register them again");
                BTreeMap::new()
            }),
            Err(_) => BTreeMap::new(),
        };
        Self { configured, led, file }
    }
    /// The settings were read again.
    pub fn configure(&mut self, configured: BTreeMap<String, String>) {
        self.configured = configured;
    }
    /// Where a name leads.
    pub fn find(&mut self, name: &str) -> Option<String> {
        if let Some(to) = self.configured.get(name) {
            return Some(to.clone());
        }
        if self.led.get(name)?.holds() {
            return Some(self.led[name].to.clone());
        }
        self.led.remove(name);
        self.keep();
        None
    }
    /// A program listens.
    ///
    /// # Errors
    /// The name is taken.
    pub fn lead(&mut self, name: &str, lead: Lead) -> Result<(), String> {
        if let Some(to) = self.find(name).filter(|to| *to != lead.to) {
            return Err(format!("{name:?} leads to {to} already"));
        }
        if !self.configured.contains_key(name) {
            self.led.insert(name.to_owned(), lead);
            self.keep();
        }
        Ok(())
    }
    /// A program does not listen any more. Whether it did.
    pub fn leave(&mut self, name: &str) -> bool {
        let was_led = self.led.remove(name).is_some();
        if was_led {
            self.keep();
        }
        was_led
    }
    /// If writing fails, only the next epoch does not know them.
    fn keep(&self) {
        let bytes = serde_json::to_vec(&self.led).unwrap_or_default();
        if let Err(why) = files::replace(&self.file, &bytes, false) {
            warn!(file = %self.file.display(), %why, "cannot store services; they are lost at the next restart");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::unix::fs::MetadataExt;

    fn listening() -> (TcpListener, Lead) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap().to_string();
        let socket = fs::File::from(std::os::fd::OwnedFd::from(listener.try_clone().unwrap()));
        (listener, Lead { to, listener: Some(socket.metadata().unwrap().ino()) })
    }

    #[test]
    fn a_service_lives_as_long_as_its_socket_through_reloads_and_lives_of_the_daemon() {
        let folder = tempfile::tempdir().unwrap();
        let configured = BTreeMap::from([("web".to_owned(), "127.0.0.1:80".to_owned())]);
        let mut services = Services::begin(folder.path(), configured.clone());
        let (socket, lead) = listening();
        assert!(services.lead("web", lead.clone()).unwrap_err().contains("already"));
        services.lead("mail", lead.clone()).unwrap();
        services.configure(configured.clone());
        assert_eq!(services.find("mail"), Some(lead.to.clone()));
        assert!(services.lead("mail", listening().1).is_err());
        let mut services = Services::begin(folder.path(), configured);
        assert_eq!(services.find("mail"), Some(lead.to));
        drop(socket);
        if Path::new("/proc/net/tcp").exists() {
            assert_eq!(services.find("mail"), None);
        }
    }

    #[test]
    fn a_table_of_the_kernel_is_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
            0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 0 100 0\n";
        assert!(listens(table, 8080, 4242) && !listens(table, 8081, 4242) && !listens(table, 8080, 4243));
        assert!(!listens(&table.replace(" 0A ", " 01 "), 8080, 4242) && !listens("\n:\n0A", 0, 0));
    }
}
