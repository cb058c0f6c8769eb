//! Segments to bytes.

use super::{Checkpoint, Content, Data, EXTENSIONS_MOST, Extension, Packet, Report, Segment, VERSION, sdnv};

impl Packet<'_> {
    /// Appends its bytes. Extensions beyond the 15 that a header can count are omitted.
    pub fn write(&self, out: &mut Vec<u8>) {
        let [header, trailer] = [&self.header, &self.trailer].map(|list| counted(list));
        begin(&self.segment, header.len() as u8, trailer.len() as u8 | self.unread_trailers & 15, out);
        header.iter().for_each(|extension| extension.write(out));
        self.segment.content.write(out);
        out.extend_from_slice(self.data);
        trailer.iter().for_each(|extension| extension.write(out));
    }
    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes
    }
}

fn counted<'e, 'a>(extensions: &'e [Extension<'a>]) -> &'e [Extension<'a>] {
    &extensions[..extensions.len().min(EXTENSIONS_MOST)]
}

/// Appends the first byte, the session, and how many extensions there are.
fn begin(segment: &Segment, header: u8, trailer: u8, out: &mut Vec<u8>) {
    out.push(VERSION << 4 | segment.kind());
    sdnv::write(segment.session.originator, out);
    sdnv::write(segment.session.number, out);
    out.push(header << 4 | trailer);
}

impl Extension<'_> {
    /// Appends it.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.push(self.tag);
        sdnv::write(self.value.len() as u64, out);
        out.extend_from_slice(self.value);
    }
}

impl Content {
    /// Appends it without data.
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Data(data) => data.write(out),
            Self::Report(report) => report.write(out),
            Self::ReportAck(serial) => sdnv::write(*serial, out),
            Self::Cancel(_, reason) => out.push(reason.code()),
            Self::CancelAck(_) | Self::Undefined { .. } => {}
        }
    }
    /// Bytes of it without data.
    fn size(&self) -> usize {
        match self {
            Self::Data(data) => data.head_size(),
            Self::Report(report) => report.size(),
            Self::ReportAck(serial) => sdnv::length(*serial),
            Self::Cancel(..) => 1,
            Self::CancelAck(_) | Self::Undefined { .. } => 0,
        }
    }
}

impl Data {
    fn write(&self, out: &mut Vec<u8>) {
        for number in [self.service, self.offset, self.length] {
            sdnv::write(number, out);
        }
        if let Some(Checkpoint { serial, report, .. }) = self.checkpoint() {
            sdnv::write(serial, out);
            sdnv::write(report, out);
        }
    }
    fn head_size(&self) -> usize {
        let fields = [self.service, self.offset, self.length].map(sdnv::length).iter().sum::<usize>();
        let serials = |one: Checkpoint| sdnv::length(one.serial) + sdnv::length(one.report);
        fields + self.checkpoint().map_or(0, serials)
    }
}

impl Report {
    fn write(&self, out: &mut Vec<u8>) {
        for number in [self.serial, self.checkpoint, self.upper, self.lower, self.claims.len() as u64] {
            sdnv::write(number, out);
        }
        for claim in &self.claims {
            sdnv::write(claim.offset, out);
            sdnv::write(claim.length, out);
        }
    }
    fn size(&self) -> usize {
        let head = [self.serial, self.checkpoint, self.upper, self.lower, self.claims.len() as u64];
        let claims = self.claims.iter().map(|claim| sdnv::length(claim.offset) + sdnv::length(claim.length));
        head.map(sdnv::length).iter().sum::<usize>() + claims.sum::<usize>()
    }
}

impl Segment {
    /// Appends all but its data, as it is without extensions: the sender of much data appends these
    /// itself.
    pub fn write_head(&self, out: &mut Vec<u8>) {
        begin(self, 0, 0, out);
        self.content.write(out);
    }
    /// Bytes of what [`Segment::write_head`] appends.
    pub fn head_size(&self) -> u64 {
        let session = sdnv::length(self.session.originator) + sdnv::length(self.session.number);
        (2 + session + self.content.size()) as u64
    }
    /// Bytes of the whole without extensions.
    pub fn size(&self) -> u64 {
        self.head_size().saturating_add(self.data_length())
    }
}
