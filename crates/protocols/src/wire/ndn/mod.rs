//! Named Data Networking on the wire: packet format v0.3 and the link protocol NDNLPv2.
//!
//! Everything is nested elements of type, length and value (`tlv`). What is read borrows from the bytes
//! that it was read from. An element of an unknown type is an error if its type is critical (below 32, or
//! odd) and is skipped otherwise; so is one that comes too late in the order of its packet.
//!
//! | file | what |
//! |---|---|
//! | `tlv` | numbers, elements, their order |
//! | `name` | names and their components, `uri` as text |
//! | `interest`, `data` | the two packets |
//! | `signature`, `keys` | what is signed, and by what |
//! | `lp`, `fragments` | what a link adds: fragments, Nacks, marks, send times |
//! | `control` | commands to a forwarder |
//! | `metadata` | which version of a name is the latest |

pub mod control;
pub mod data;
pub mod fragments;
pub mod interest;
#[cfg(feature = "ecdsa")]
pub mod keys;
pub mod lp;
pub mod metadata;
pub mod name;
pub mod signature;
pub mod tlv;
mod uri;

pub use data::{Data, Meta, Signed};
pub use fragments::{Fragments, Reassembler};
pub use interest::Interest;
#[cfg(feature = "ecdsa")]
pub use keys::TrustedKey;
pub use lp::{Headers, LpPacket, Nack, Part, PitToken};
pub use name::{Component, Name};
pub use signature::{Signer, Untrusted, Verifier};
pub use uri::NotAName;

use thiserror::Error;

/// Largest packet, headers of a link not counted: what NFD, ndnd and others take.
pub const PACKET_MOST: usize = 8800;

/// Why bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// An element ends after its container.
    #[error("it ends too early")]
    Truncated,
    /// Bytes follow the packet.
    #[error("bytes follow its end")]
    Trailing,
    /// A number is not in its shortest form, or is no type.
    #[error("a type or length is badly written")]
    Number,
    /// A value has a length that its type does not have.
    #[error("the value of type {0} has a wrong length")]
    Length(u32),
    /// A field comes twice or after its place.
    #[error("the field of type {0} is out of order")]
    Order(u32),
    /// A field that must be understood is not.
    #[error("the field of type {0} is critical and unknown")]
    Critical(u32),
    /// A field that must be there is not.
    #[error("the field of type {0} is missing")]
    Missing(u32),
    /// It is another packet.
    #[error("it has type {0}")]
    Kind(u32),
    /// A field has a value that means nothing.
    #[error("the field of type {0} means nothing")]
    Value(u32),
    /// The digest in the name is not that of the parameters.
    #[error("its parameters have another digest")]
    Digest,
    /// It has more bytes or fragments than a packet may have.
    #[error("it is larger than {PACKET_MOST} bytes")]
    TooLarge,
}

#[cfg(test)]
#[cfg(feature = "ecdsa")]
mod tests;
