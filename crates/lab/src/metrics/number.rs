//! Numbers as people read them.

/// A number with four significant digits, without an exponent where people don't want one.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !(1e-4..1e7).contains(&size) {
        format!("{value:.2e}")
    } else if size >= 1000.0 {
        format!("{value:.0}")
    } else {
        let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
        trimmed(format!("{value:.decimals$}"))
    }
}

fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_keep_four_digits() {
        let made: Vec<String> =
            [0.0, 0.33412, 12.0, 10_392.6, 0.1, -0.000_012, 6163.0].into_iter().map(number).collect();
        assert_eq!(made, ["0", "0.3341", "12", "10393", "0.1", "-1.20e-5", "6163"]);
    }
}
