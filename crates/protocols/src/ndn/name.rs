//! Names, interned.

use std::collections::BTreeMap;

/// Everything of a name before the segment: a number that [`Names`] knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(pub u32);

/// The name of a packet: a prefix, and a segment under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// What stands before the segment.
    pub prefix: Prefix,
    /// Which segment; [`Name::WHOLE`] for the prefix itself.
    pub segment: u32,
}

impl Name {
    /// In place of a segment: the prefix itself.
    pub const WHOLE: u32 = u32::MAX;

    /// As one word.
    #[inline]
    pub fn word(self) -> u64 {
        u64::from(self.prefix.0) << 32 | u64::from(self.segment)
    }
    /// For tables: segments that follow each other lie far apart (Fibonacci hashing; Knuth, volume 3,
    /// section 6.4).
    #[inline]
    pub fn hash(self) -> u64 {
        let spread = self.word().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        spread ^ (spread >> 32)
    }
}

/// The tree of all prefixes that were ever named.
#[derive(Clone, Debug)]
pub struct Names {
    children: BTreeMap<(u32, Box<[u8]>), u32>,
    /// Parent and last component of each; the root is its own parent.
    nodes: Vec<(u32, Box<[u8]>)>,
}

impl Default for Names {
    fn default() -> Self {
        Self { children: BTreeMap::new(), nodes: vec![(0, Box::default())] }
    }
}

impl Names {
    /// The prefix of no components, which every name has.
    pub const ROOT: Prefix = Prefix(0);

    /// The number of a prefix, made if it is new.
    pub fn intern<'c>(&mut self, components: impl IntoIterator<Item = &'c [u8]>) -> Prefix {
        components.into_iter().fold(Self::ROOT, |parent, component| self.child(parent, component))
    }
    /// How many prefixes are known, the root among them.
    pub fn known(&self) -> usize {
        self.nodes.len()
    }
    /// `parent` and one more component.
    ///
    /// # Panics
    /// With 2³² − 1 prefixes.
    pub fn child(&mut self, parent: Prefix, component: &[u8]) -> Prefix {
        let key = (parent.0, Box::from(component));
        let next = self.nodes.len();
        let index = *self.children.entry(key).or_insert_with_key(|key| {
            self.nodes.push((key.0, key.1.clone()));
            u32::try_from(next).expect("names fit the numbers of names")
        });
        Prefix(index)
    }
    /// A prefix from text: `/a/b`.
    pub fn intern_text(&mut self, text: &str) -> Prefix {
        self.intern(text.split('/').filter(|part| !part.is_empty()).map(str::as_bytes))
    }
    /// Without its last component; the root's is the root.
    pub fn parent(&self, prefix: Prefix) -> Prefix {
        Prefix(self.nodes[prefix.0 as usize].0)
    }
    /// From a prefix up to the root.
    pub fn lineage(&self, prefix: Prefix) -> impl Iterator<Item = Prefix> {
        let up = move |at: &Prefix| (*at != Self::ROOT).then(|| self.parent(*at));
        std::iter::successors(Some(prefix), up)
    }
    /// How many there are, the root included.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }
    /// As text: `/a/b`, and `/a/b/seg=3` for a segment.
    pub fn text(&self, name: Name) -> String {
        let mut components: Vec<&[u8]> = Vec::new();
        for at in self.lineage(name.prefix).take_while(|at| *at != Self::ROOT) {
            components.push(&self.nodes[at.0 as usize].1);
        }
        let mut text = String::new();
        for component in components.into_iter().rev() {
            text.push('/');
            text.push_str(&String::from_utf8_lossy(component));
        }
        if name.segment != Name::WHOLE {
            text.push_str(&format!("/seg={}", name.segment));
        } else if text.is_empty() {
            text.push('/');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_one_number_and_prefixes_lead_up_to_the_root() {
        let mut names = Names::default();
        let film = names.intern_text("/video/film");
        assert_eq!(names.intern_text("video/film/"), film);
        let video = names.intern_text("/video");
        assert_eq!(names.lineage(film).collect::<Vec<_>>(), [film, video, Names::ROOT]);
        assert_eq!(names.text(Name { prefix: film, segment: 3 }), "/video/film/seg=3");
        assert_eq!(names.text(Name { prefix: Names::ROOT, segment: Name::WHOLE }), "/");
    }
}
