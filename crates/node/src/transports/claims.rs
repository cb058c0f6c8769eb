//! Who writes which file of a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Files that are being written now, and by whom.
#[derive(Clone, Default)]
pub struct Claims(Arc<Mutex<Parts>>);

#[derive(Default)]
struct Parts {
    owners: BTreeMap<PathBuf, u64>,
    claims: u64,
}

/// A file that is ours, until the same content is sent again.
pub struct Claim {
    name: String,
    part: PathBuf,
    number: u64,
    overtakes: bool,
    claims: Claims,
}

impl Claims {
    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Claims the part in which a file of this name grows. A sender that was started again has the same content, so
    /// the same part, and takes its own place; other content of the same name has another part.
    pub fn claim(&self, name: &str, part: &Path) -> Claim {
        let mut parts = self.parts();
        parts.claims += 1;
        let number = parts.claims;
        let overtakes = parts.owners.insert(part.to_owned(), number).is_some();
        Claim { name: name.to_owned(), part: part.to_owned(), number, overtakes, claims: self.clone() }
    }
}

impl Claim {
    /// The final name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Whether it belonged to an earlier sender to this program.
    pub fn overtakes(&self) -> bool {
        self.overtakes
    }
    /// Whether it still is ours.
    pub fn is_ours(&self) -> bool {
        self.claims.parts().owners.get(&self.part) == Some(&self.number)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut parts = self.claims.parts();
        if parts.owners.get(&self.part) == Some(&self.number) {
            parts.owners.remove(&self.part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_over_by_the_same_content_only() {
        let claims = Claims::default();
        let first = claims.claim("a", Path::new("a.1.part"));
        let other = claims.claim("a", Path::new("a.2.part"));
        let again = claims.claim("a", Path::new("a.1.part"));
        assert!(!first.is_ours() && other.is_ours());
        drop(first);
        assert!(again.is_ours(), "who lost a file does not free it");
    }
}
