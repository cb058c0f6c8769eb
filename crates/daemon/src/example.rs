//! Two daemons on one machine, to try.

use super::keys::Identity;
use lightlag_node::Error;
use std::fs;
use std::path::Path;

/// Makes keys and settings of two daemons in a folder: `near`, by which applications go out, and `far`, near what they
/// want to reach.
///
/// # Errors
/// The folder cannot be written, or has them already.
pub fn write(folder: &Path) -> Result<(), Error> {
    let [near, far] = ["near", "far"].map(|name| folder.join(name));
    let mut keys = Vec::new();
    for place in [&near, &far] {
        fs::create_dir_all(place).map_err(|why| Error::Input(format!("{}: {why}", place.display())))?;
        let identity = Identity::generate()?;
        identity.write(&place.join("key.pem"))?;
        keys.push(identity.public());
    }
    let near_settings = format!(
        r#"# By this daemon applications go out.
page = "127.0.0.1:8191"            # connections and switches, live; /metrics for Prometheus

[listen]                           # where other daemons reach this one
udpdtn = "127.0.0.1:4561"

[[socks]]                          # SOCKS5 for applications
listen = "127.0.0.1:1080"

[[http]]                           # HTTP CONNECT for applications
listen = "127.0.0.1:8118"

[[peer]]
name = "far"
key = "{}"
tcp = "127.0.0.1:4560"             # TLS over TCP
udpdtn = "127.0.0.1:4560"          # datagrams, for when TCP does not do
reach = ["*", "page"]              # which targets go by it: all, and its service "page"
"#,
        keys[1]
    );
    let far_settings = format!(
        r#"# This daemon is near what applications want to reach.
page = "127.0.0.1:8192"

[listen]
tcp = "127.0.0.1:4560"
udpdtn = "127.0.0.1:4560"

[services]                         # reached by name: http://page.lightlag/
page = "127.0.0.1:8192"

[[peer]]
name = "near"
key = "{}"
serve = ["*", "page"]              # what it may reach from here: any other machine, and "page"
"#,
        keys[0]
    );
    for (place, settings) in [(&near, near_settings), (&far, far_settings)] {
        let file = place.join("lightlagd.toml");
        fs::write(&file, settings).map_err(|why| Error::Input(format!("{}: {why}", file.display())))?;
    }
    Ok(())
}
