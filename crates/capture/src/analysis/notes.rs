//! What is wrong with a capture, counted.

macro_rules! notes {
    ($($(#[$doc:meta])* $note:ident: $one:literal $(, $several:literal)?;)+) => {
        /// Something about a capture that its reader should know.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Note { $($(#[$doc])* $note,)+ }

        impl Note {
            /// Each in the singular, then in the plural; without a plural it comes once.
            const ALL: &[(Self, &str, Option<&str>)] =
                &[$((Self::$note, $one, [$(Some($several),)? None][0])),+];
        }
    };
}

notes! {
    /// The file ends within a record.
    Cut: "the file is cut within its last record, which was skipped";
    /// What gzip compressed cannot be inflated.
    Compressed: "the compressed file is cut or damaged: what follows the last packet was skipped";
    /// What follows is no record.
    Damaged: "the file is damaged: what follows the last packet is not a record and was skipped";
    /// A record claims a length that no record has.
    RecordTooLong: "a record claims more than 16 MiB: it and what follows were skipped";
    /// A length contradicts another.
    WrongLength: "record whose lengths contradict each other", "records whose lengths contradict each other";
    /// A packet of an interface that was not described.
    UnknownInterface: "packet of an interface that is not described was skipped",
        "packets of an interface that is not described were skipped";
    /// A packet earlier than the one before.
    TimeWentBack: "packet is earlier than the one before it", "packets are earlier than the one before them";
    /// A link of an unknown type.
    UnknownLink: "packet of a link of an unknown type was skipped",
        "packets of links of an unknown type were skipped";
    /// Neither IPv4 nor IPv6.
    NotIp: "packet is not of IP and was skipped", "packets are not of IP and were skipped";
    /// The capture kept too little of it.
    HeaderCut: "packet was kept too short for its headers and skipped",
        "packets were kept too short for their headers and skipped";
    /// A header that contradicts itself.
    BadHeader: "packet with contradicting headers was skipped", "packets with contradicting headers were skipped";
    /// A later part of a fragmented packet.
    Fragment: "later fragment of an IP packet was skipped", "later fragments of IP packets were skipped";
    /// Carries none of the transports that are analysed.
    OtherTransport: "packet is of another transport and was skipped",
        "packets are of other transports and were skipped";
    /// Of a flow that counts at another interface.
    OtherInterface: "packet was captured at a second interface as well and counts once; --interface chooses one",
        "packets were captured at a second interface as well and count once; --interface chooses one";
    /// Of flows beyond the most that are kept.
    TooManyFlows: "packet of a flow beyond the most that are kept was skipped",
        "packets of flows beyond the most that are kept were skipped";
}

/// How often each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    counts: [u64; Note::ALL.len()],
}

impl Notes {
    /// Once more.
    pub fn count(&mut self, note: Note) {
        self.counts[note as usize] += 1;
    }
    /// How often.
    pub fn of(&self, note: Note) -> u64 {
        self.counts[note as usize]
    }
    /// Whether the reading had to end before the file did.
    pub fn ended(&self) -> bool {
        [Note::Cut, Note::Damaged, Note::RecordTooLong].iter().any(|note| self.of(*note) > 0)
    }
    /// Adds those of another.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(own, more)| *own += more);
    }
    /// One line for each that there is.
    pub fn lines(&self) -> Vec<String> {
        let told = Note::ALL.iter().filter(|(note, ..)| self.of(*note) > 0);
        told.map(|&(note, one, several)| match (several, self.of(note)) {
            (None, _) => one.to_owned(),
            (Some(_), 1) => format!("1 {one}"),
            (Some(several), count) => format!("{count} {several}"),
        })
        .collect()
    }
}
