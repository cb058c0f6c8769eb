//! Where packets are captured.

use lightlag_protocols::record::packets::Packet;

/// Where to capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Where {
    /// Each flow at its sending end.
    #[default]
    Senders,
    /// Each flow at its receiving end.
    Receivers,
    /// What queues drop and wires lose, each with a comment that says why.
    Drops,
    /// Everything that passes a node.
    Node(String),
}

impl Where {
    /// From `senders`, `receivers`, `drops`, or the name of a node.
    pub fn parse(text: &str) -> Self {
        match text {
            "senders" => Self::Senders,
            "receivers" => Self::Receivers,
            "drops" => Self::Drops,
            node => Self::Node(node.to_owned()),
        }
    }
}

/// A direction of a link, between nodes.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a> {
    /// Its name; that of the opposite direction ends in `.back`.
    pub name: &'a str,
    /// The node where it begins.
    pub from: &'a str,
    /// The node where it ends.
    pub to: &'a str,
    /// Its rate at most.
    pub speed_bit_per_s: u64,
}

/// A flow: its links in both directions.
#[derive(Clone, Copy, Debug)]
pub struct FlowEnds<'a> {
    /// From the sender to the receiver.
    pub forward: &'a [u32],
    /// Back.
    pub backward: &'a [u32],
}

/// A capture at a node that the network does not have.
#[derive(Clone, Debug, thiserror::Error)]
#[error("unknown node `{node}` to capture at")]
pub struct NoSuchNode {
    /// Which was named.
    pub node: String,
    /// Those that there are.
    pub known: Vec<String>,
}

/// One end of a link, at a node: an interface of the capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// `NODE/LINK`, as `earth/space`.
    pub name: String,
    /// Rate towards the link at most, if it leads away from here.
    pub speed_bit_per_s: Option<u64>,
}

/// The points of a capture: which end of which direction of a link is which interface.
#[derive(Clone, Debug)]
pub struct Points {
    place: Where,
    /// Names of the nodes, in order of appearance.
    pub nodes: Vec<String>,
    /// All interfaces.
    pub interfaces: Vec<Interface>,
    /// Of each direction of a link: the interface where it begins, and the one where it ends.
    ends: Vec<[u32; 2]>,
    /// Of the same: the nodes.
    pub links: Vec<[u32; 2]>,
    /// Of the same: whether it begins, and ends, at the chosen node.
    chosen: Vec<[bool; 2]>,
    /// Of each flow: the number of links there, and back.
    hops: Vec<[u16; 2]>,
    /// Of each flow: its nodes.
    pub ends_of_flows: Vec<[u32; 2]>,
}

/// Direction of a packet through an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It comes.
    In,
    /// It goes.
    Out,
}

impl Points {
    /// Those of a network.
    ///
    /// # Errors
    /// A node that is not there.
    pub fn new(links: &[Ends<'_>], flows: &[FlowEnds<'_>], place: &Where) -> Result<Self, NoSuchNode> {
        let mut points = Self {
            place: place.clone(),
            nodes: Vec::new(),
            interfaces: Vec::new(),
            ends: Vec::new(),
            links: Vec::new(),
            chosen: Vec::new(),
            hops: Vec::new(),
            ends_of_flows: Vec::new(),
        };
        for link in links {
            let ends = [points.node(link.from), points.node(link.to)];
            points.links.push(ends);
        }
        for link in links {
            let name = link.name.strip_suffix(".back").unwrap_or(link.name);
            let near = points.interface(link.from, name);
            points.interfaces[near as usize].speed_bit_per_s = Some(link.speed_bit_per_s);
            let far = points.interface(link.to, name);
            points.ends.push([near, far]);
            let here = |node: &str| matches!(place, Where::Node(chosen) if chosen == node);
            points.chosen.push([here(link.from), here(link.to)]);
        }
        if let Where::Node(node) = place
            && !points.nodes.contains(node)
        {
            return Err(NoSuchNode { node: node.clone(), known: points.nodes });
        }
        for flow in flows {
            points.hops.push([flow.forward.len() as u16, flow.backward.len() as u16]);
            let first = links[flow.forward[0] as usize].from;
            let last = links[flow.backward[0] as usize].from;
            let ends = [points.node(first), points.node(last)];
            points.ends_of_flows.push(ends);
        }
        Ok(points)
    }
    fn node(&mut self, name: &str) -> u32 {
        let found = self.nodes.iter().position(|known| known == name);
        found.unwrap_or_else(|| {
            self.nodes.push(name.to_owned());
            self.nodes.len() - 1
        }) as u32
    }
    fn interface(&mut self, node: &str, link: &str) -> u32 {
        let name = format!("{node}/{link}");
        let found = self.interfaces.iter().position(|known| known.name == name);
        found.unwrap_or_else(|| {
            self.interfaces.push(Interface { name, speed_bit_per_s: None });
            self.interfaces.len() - 1
        }) as u32
    }
    /// Where a packet that is offered to a link is captured, if it is.
    pub fn offered(&self, link: u32, packet: &Packet) -> Option<(u32, Direction)> {
        let here = match self.place {
            Where::Senders => packet.forward && packet.hop == 0,
            Where::Receivers => !packet.forward && packet.hop == 0,
            Where::Drops => false,
            Where::Node(_) => self.chosen[link as usize][0],
        };
        here.then(|| (self.ends[link as usize][0], Direction::Out))
    }
    /// Where a packet that has come out of a link is captured, if it is.
    pub fn arrived(&self, link: u32, packet: &Packet) -> Option<(u32, Direction)> {
        let [there, back] = self.hops[packet.flow as usize];
        let here = match self.place {
            Where::Senders => !packet.forward && packet.hop + 1 == back,
            Where::Receivers => packet.forward && packet.hop + 1 == there,
            Where::Drops => false,
            Where::Node(_) => self.chosen[link as usize][1],
        };
        here.then(|| (self.ends[link as usize][1], Direction::In))
    }
    /// Where a packet that was dropped is captured, if it is.
    pub fn dropped(&self, link: u32) -> Option<(u32, Direction)> {
        (self.place == Where::Drops).then(|| (self.ends[link as usize][0], Direction::Out))
    }
}
