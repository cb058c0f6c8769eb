//! Writing.

use super::{Contact, Flags, Item, MAGIC, Message};

impl Contact {
    /// Its bytes.
    pub fn to_bytes(&self) -> [u8; 6] {
        let [one, two, three, four] = *MAGIC;
        [one, two, three, four, self.version, self.can_tls.into()]
    }
}

impl Flags {
    fn number(self) -> u8 {
        self.others & !3 | u8::from(self.start) << 1 | u8::from(self.end)
    }
}

impl Message {
    /// Appends its bytes; the data of a segment must follow. A value too long for its length field is cut:
    /// node names at 65,535 B.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.push(self.number());
        match self {
            Self::Segment(segment) => {
                out.push(segment.flags.number());
                out.extend(segment.transfer.to_be_bytes());
                if segment.flags.start {
                    write_items(&segment.items, out);
                }
                out.extend(segment.length.to_be_bytes());
            }
            Self::Ack { flags, transfer, length } => {
                out.push(flags.number());
                out.extend(transfer.to_be_bytes());
                out.extend(length.to_be_bytes());
            }
            Self::Refuse { reason, transfer } => {
                out.push(reason.number());
                out.extend(transfer.to_be_bytes());
            }
            Self::Keepalive => {}
            Self::Term { reply, reason } => out.extend([u8::from(*reply), reason.number()]),
            Self::Reject { reason, message } => out.extend([reason.number(), *message]),
            Self::Init(init) => {
                out.extend(init.keepalive_s.to_be_bytes());
                out.extend(init.segment_mru.to_be_bytes());
                out.extend(init.transfer_mru.to_be_bytes());
                let node = crate::wire::udpdtn::cut_text(&init.node, usize::from(u16::MAX));
                out.extend((node.len() as u16).to_be_bytes());
                out.extend_from_slice(node.as_bytes());
                write_items(&init.items, out);
            }
        }
    }
}

fn write_items(items: &[Item], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend([0; 4]);
    for item in items {
        out.push(item.is_critical.into());
        out.extend(item.kind.to_be_bytes());
        let value = &item.value[..item.value.len().min(u16::MAX.into())];
        out.extend((value.len() as u16).to_be_bytes());
        out.extend_from_slice(value);
    }
    let length = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}
