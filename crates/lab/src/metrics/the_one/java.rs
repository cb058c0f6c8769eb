//! How Java prints numbers and orders maps: The ONE's files are compared byte by byte.

pub(super) use java_random::Random;

/// `Double.toString`: the shortest digits that identify the number, in decimal from 0.001 to 10^7 and in
/// scientific notation elsewhere (Java SE API, `java.lang.Double`).
pub(super) fn shortest(value: f64) -> String {
    if !value.is_finite() {
        return special(value);
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0.0" } else { "0.0" }.to_owned();
    }
    if (1e-3..1e7).contains(&value.abs()) {
        return format!("{value:?}");
    }
    let (mantissa, exponent) = scientific(value);
    let point = if mantissa.contains('.') { "" } else { ".0" };
    format!("{mantissa}{point}E{exponent}")
}

/// `String.format("%.nf")`: the shortest digits, rounded half up in decimal (`java.util.Formatter`).
/// Rust would round the binary value, half to even.
pub(super) fn fixed(value: f64, precision: usize) -> String {
    if !value.is_finite() {
        return special(value);
    }
    let (mantissa, exponent) = scientific(value.abs());
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    let rounded = round_half_up(&digits, exponent, precision);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let whole = rounded.len() - precision;
    let text: String = rounded.iter().map(|&digit| char::from(b'0' + digit)).collect();
    let point = if precision == 0 { "" } else { "." };
    format!("{sign}{}{point}{}", &text[..whole], &text[whole..])
}

/// The digits of d.ddd · 10^exponent with `precision` of them after the point and at least one before.
fn round_half_up(digits: &[u8], exponent: i32, precision: usize) -> Vec<u8> {
    let first = exponent.max(0);
    let at = |position: i32| {
        let index = usize::try_from(exponent - position).ok();
        index.and_then(|index| digits.get(index)).copied().unwrap_or(0)
    };
    let last = -(precision as i32);
    let mut kept: Vec<u8> = (last..=first).rev().map(at).collect();
    if at(last - 1) >= 5 {
        carry(&mut kept);
    }
    kept
}

fn carry(digits: &mut Vec<u8>) {
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
}

fn scientific(value: f64) -> (String, i32) {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_owned(), exponent.parse().unwrap_or(0))
}

fn special(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
}

/// A `java.util.HashMap` with texts as keys, for its order: by slots of a table that doubles when more than three quarters
/// of it would be taken, and in a slot by insertion (`java.lang.String.hashCode`, Java SE API).
#[derive(Clone, Debug)]
pub(super) struct HashOrder<V> {
    slots: Vec<Vec<Held<V>>>,
    count: usize,
}

#[derive(Clone, Debug)]
struct Held<V> {
    hash: u32,
    key: String,
    value: V,
}

impl<V> Default for HashOrder<V> {
    fn default() -> Self {
        Self { slots: (0..16).map(|_| Vec::new()).collect(), count: 0 }
    }
}

impl<V> HashOrder<V> {
    /// Puts a value in; one of the same key is replaced and keeps its place.
    pub(super) fn insert(&mut self, key: &str, value: V) {
        let hash = spread_hash(key);
        let slot = self.slot(hash);
        if let Some(held) = slot.iter_mut().find(|held| held.key == key) {
            held.value = value;
            return;
        }
        slot.push(Held { hash, key: key.to_owned(), value });
        self.count += 1;
        if self.count > self.slots.len() / 4 * 3 {
            self.grow();
        }
    }
    pub(super) fn remove(&mut self, key: &str) -> Option<V> {
        let slot = self.slot(spread_hash(key));
        let at = slot.iter().position(|held| held.key == key)?;
        let held = slot.remove(at);
        self.count -= 1;
        Some(held.value)
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.slots.iter().flatten().map(|held| (held.key.as_str(), &held.value))
    }
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }
    fn slot(&mut self, hash: u32) -> &mut Vec<Held<V>> {
        let most = self.slots.len() - 1;
        &mut self.slots[hash as usize & most]
    }
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let before = std::mem::replace(&mut self.slots, (0..size).map(|_| Vec::new()).collect());
        for held in before.into_iter().flatten() {
            self.slot(held.hash).push(held);
        }
    }
}

/// The hash of a text, its upper half folded into the lower one.
fn spread_hash(text: &str) -> u32 {
    let hash =
        text.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_prints_as_double_to_string_does() {
        let cases = [
            (0.0, "0.0"),
            (12.0, "12.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (12_345_678.5, "1.23456785E7"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(shortest(value), text);
        }
    }

    #[test]
    fn maps_have_the_order_of_java() {
        let mut map = HashOrder::default();
        (1..=30).for_each(|number| map.insert(&format!("M{number}"), number));
        for number in (3..=30).step_by(4) {
            assert_eq!(map.remove(&format!("M{number}")), Some(number));
        }
        map.insert("x_αβ", 0);
        map.insert("M12", 0);
        // As java.util.HashMap of OpenJDK 17 lists them.
        let java =
            "M1 M2 M4 M5 M6 M20 M8 M9 M22 M21 M24 M26 M25 M28 M29 M30 M10 M13 M12 x_αβ M14 M17 M16 M18";
        assert_eq!(map.keys().collect::<Vec<_>>().join(" "), java);
        assert_eq!((map.remove("M3"), map.remove("M12")), (None, Some(0)));
    }

    #[test]
    fn fixed_rounds_the_decimal_digits_half_up() {
        // 1.00005 is below the half in binary, and so is 0.125 + nothing: Java looks at decimals.
        let cases = [
            (1.00005, 4, "1.0001"),
            (0.125, 2, "0.13"),
            (2.5, 0, "3"),
            (0.00004, 4, "0.0000"),
            (9.99995, 4, "10.0000"),
            (14_400.0, 4, "14400.0000"),
            (0.1717171717, 4, "0.1717"),
            (-1.5, 0, "-2"),
            (1e20, 1, "100000000000000000000.0"),
            (f64::NAN, 4, "NaN"),
        ];
        for (value, precision, text) in cases {
            assert_eq!(fixed(value, precision), text);
        }
    }
}
