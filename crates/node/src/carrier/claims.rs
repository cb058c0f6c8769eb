//! Who writes which file of a folder.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Who has been silent for so long leaves the name to another one.
const SILENT_MOST: Duration = Duration::from_secs(60);

/// Names that are being written now, and by whom.
#[derive(Clone, Default)]
pub struct Claims(Arc<Mutex<Names>>);

#[derive(Default)]
struct Names {
    owners: BTreeMap<String, Owner>,
    claims: u64,
}

struct Owner {
    claim: u64,
    digest: [u8; 32],
    heard: Instant,
}

/// A name that is ours, until somebody takes it over.
pub struct Claim {
    name: String,
    number: u64,
    claims: Claims,
}

impl Claims {
    fn names(&self) -> MutexGuard<'_, Names> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Claims a name for content with this digest. A sender that was started again has the same content and takes its
    /// own place; so does anybody where the one before is silent. None: another one is sending under that name.
    pub fn claim(&self, name: &str, digest: [u8; 32]) -> Option<Claim> {
        let mut names = self.names();
        let free = |owner: &Owner| owner.digest == digest || owner.heard.elapsed() > SILENT_MOST;
        if !names.owners.get(name).is_none_or(free) {
            return None;
        }
        names.claims += 1;
        let number = names.claims;
        names.owners.insert(name.to_owned(), Owner { claim: number, digest, heard: Instant::now() });
        Some(Claim { name: name.to_owned(), number, claims: self.clone() })
    }
}

impl Claim {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Something came. False if the name is another one's by now.
    pub fn renew(&self) -> bool {
        let mut names = self.claims.names();
        let own = names.owners.get_mut(&self.name).filter(|owner| owner.claim == self.number);
        own.map(|owner| owner.heard = Instant::now()).is_some()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut names = self.claims.names();
        if names.owners.get(&self.name).is_some_and(|owner| owner.claim == self.number) {
            names.owners.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_taken_over_by_the_same_content_only() {
        let claims = Claims::default();
        let first = claims.claim("a", [1; 32]).unwrap();
        assert!(claims.claim("a", [2; 32]).is_none());
        let again = claims.claim("a", [1; 32]).unwrap();
        assert!(!first.renew());
        drop(first);
        assert!(again.renew(), "who lost a name does not free it");
        drop(again);
        assert!(claims.claim("a", [2; 32]).is_some());
    }
}
