//! The scenario file of a network with a consumer of named data.
//!
//! Data take the link that packets of flows take, and Interests the other direction. Every consumer has an object of its
//! own: Interests for the same one would be aggregated.

use super::controllers::Contestant;
use super::space::{Arrival, Company, FILES, Network, PACKET_BYTES, Traffic};
use super::text::{OURS, PEERS, bytes_of_visit, decimal, far, visit};

/// Bytes of Data beside their content: name, MetaInfo and an empty signature, which are the world's default.
const OVERHEAD: f64 = 34.0;
/// Content of a packet of Data, which is as long as a packet of a flow.
pub const CONTENT: f64 = PACKET_BYTES - OVERHEAD;
/// Bytes of an Interest on a link, the world's default.
pub const INTEREST: f64 = 24.0;

/// Why a network cannot be drawn in the world of names; `None`: it can.
pub fn missing(network: &Network) -> Option<&'static str> {
    matches!(network.company, Company::Tcp(_)).then_some(BESIDE_TCP)
}

/// The reason that there is.
pub const BESIDE_TCP: &str = "flows of TCP are beside the one that is judged";

/// Producers and consumers.
pub fn people(network: &Network, contestant: &Contestant) -> String {
    // Here the link's queue is the producer's own; in a path it is a router's, and the producer's stamp is older.
    let mut text = "\n[producers.near]\nat = \"a\"\nprefix = \"/near\"\n".to_owned() + &segments();
    if far(network) {
        text += &("\n[producers.far]\nat = \"c\"\nprefix = \"/far\"\n".to_owned() + &segments());
    }
    text + &judged(network, contestant) + &peers(network, contestant)
}

/// Keys of the whole scenario.
pub const HEAD: &str = "stamps = \"application\"    # a stamp from before the queue\n";

fn segments() -> String {
    format!("segment = \"{CONTENT} B\"\noverhead = \"{OVERHEAD} B\"\n")
}

/// The consumer that is judged: one for each of its files.
fn judged(network: &Network, contestant: &Contestant) -> String {
    let one = |name: &str, more: String| consumer(contestant, name, &format!("/near/{name}"), &more);
    match network.traffic {
        Traffic::Endless => one(OURS, String::new()),
        Traffic::File(size) => one(OURS, format!("size = \"{size} B\"\n")),
        Traffic::Files(size) => {
            let start = |file: u32| decimal(0.1 * network.duration_s() * f64::from(file));
            let file = |file| {
                one(&format!("{OURS}{file}"), format!("start = \"{} s\"\nsize = \"{size} B\"\n", start(file)))
            };
            (0..FILES).map(file).collect()
        }
    }
}

/// Others of its kind.
fn peers(network: &Network, contestant: &Contestant) -> String {
    if network.company != Company::Own {
        return String::new();
    }
    let prefix = if far(network) { "/far" } else { "/near" };
    let times = |number: u32| match network.arrival {
        Arrival::Together => String::new(),
        Arrival::Apart(rounds) => {
            format!("start = \"{} s\"\n", decimal(f64::from(number) * rounds * network.round_s()))
        }
        Arrival::Visit => {
            format!("start = \"{} s\"\nsize = \"{} B\"\n", decimal(visit(network).0), bytes_of_visit(network))
        }
    };
    let peer = |number: u32| {
        let name = format!("{PEERS}{number}");
        consumer(contestant, &name, &format!("{prefix}/{name}"), &times(number))
    };
    (0..network.others).map(peer).collect()
}

fn consumer(contestant: &Contestant, name: &str, object: &str, more: &str) -> String {
    format!("\n[consumers.{name}]\nat = \"b\"\nobject = \"{object}\"\n{}\n{more}", contestant.keys)
}
