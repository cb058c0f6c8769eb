//! The order in which The ONE lists the vertices of a map.
//!
//! It keeps them in a `java.util.Hashtable` whose keys are coordinates, hashed as the string "x,y",
//! and draws a vertex by its place in that table. The documented behaviour of three classes decides:
//! `Double.toString`, `String.hashCode`, and `Hashtable` (11 buckets, load factor 0.75, twice as
//! many plus one when full, new entries at the head of their bucket, listed from the last bucket to
//! the first). Double.toString before JDK 19 prints a few numbers with more digits than needed;
//! they are not known here.

use super::Point;

/// The indices of different `points`, put into the table one after the other, as the table lists
/// them.
pub(super) fn hashtable_order(points: &[Point]) -> Vec<u32> {
    let hashes: Vec<i32> = points.iter().map(|p| string_hash(&printed(*p))).collect();
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); 11];
    for i in 0..points.len() as u32 {
        if i as usize >= buckets.len() * 3 / 4 {
            buckets = grown(&buckets, &hashes);
        }
        let bucket = place(hashes[i as usize], buckets.len());
        buckets[bucket].push(i);
    }
    listed(&buckets).collect()
}

/// From the last bucket to the first; the head of a bucket is the end of its vector.
fn listed(buckets: &[Vec<u32>]) -> impl Iterator<Item = u32> + '_ {
    buckets.iter().rev().flat_map(|bucket| bucket.iter().rev().copied())
}

fn grown(buckets: &[Vec<u32>], hashes: &[i32]) -> Vec<Vec<u32>> {
    let mut larger = vec![Vec::new(); buckets.len() * 2 + 1];
    let count = larger.len();
    for i in listed(buckets) {
        larger[place(hashes[i as usize], count)].push(i);
    }
    larger
}

fn place(hash: i32, buckets: usize) -> usize {
    (hash & i32::MAX) as usize % buckets
}

/// s\[0\]·31^(n-1) + ... + s\[n-1\] in 32 bits.
fn string_hash(s: &str) -> i32 {
    s.bytes().fold(0_i32, |hash, byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte)))
}

fn printed(p: Point) -> String {
    format!("{},{}", java_double(p.x), java_double(p.y))
}

/// As Java prints a finite double: plain from 10^-3 up to 10^7, else with an exponent; at least one
/// digit after the point.
fn java_double(x: f64) -> String {
    if x == 0.0 || (1e-3..1e7).contains(&x.abs()) {
        return format!("{x:?}");
    }
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_printed_as_java_does() {
        let cases = [
            (106.97, "106.97"),
            (30.0, "30.0"),
            (0.0, "0.0"),
            (-0.5, "-0.5"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (1e7, "1.0E7"),
            (12_345_678.9, "1.23456789E7"),
            (9_999_999.5, "9999999.5"),
        ];
        for (x, text) in cases {
            assert_eq!(java_double(x), text);
        }
    }

    #[test]
    fn strings_hash_as_in_java() {
        assert_eq!(string_hash("hello"), 99_162_322);
        assert_eq!(string_hash("polygenelubricants"), i32::MIN, "a known string of this hash");
    }

    /// Printed by OpenJDK 17 for a `Hashtable` of these thirty coordinates.
    #[test]
    fn the_order_is_that_of_a_java_hashtable() {
        let points = |i: u32| Point::new(f64::from(i) * 1.25 - 7.0, f64::from(i * i) * 100_000.0);
        let order = [
            7, 28, 17, 12, 14, 0, 9, 3, 20, 11, 27, 21, 18, 2, 8, 22, 1, 10, 23, 25, 26, 5, 24, 19, 6, 15, 4,
            16, 13, 29,
        ];
        assert_eq!(hashtable_order(&(0..30).map(points).collect::<Vec<_>>()), order);
    }
}
