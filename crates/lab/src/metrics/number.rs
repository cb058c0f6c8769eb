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

/// A mean and the numbers beside it (half the width of its interval, or its ends), all to one place: that of the second digit of
/// `half`, half the width, or of its first where the mean has four digits then. Without a width, or with exponents, as [`number`].
pub fn with_interval<const N: usize>(mean: f64, half: f64, beside: [f64; N]) -> (String, [String; N]) {
    let is_plain = |value: f64| (1e-4..1e7).contains(&value.abs());
    if !is_plain(half) || !(mean == 0.0 || is_plain(mean)) {
        return (number(mean), beside.map(number));
    }
    let decimals = |value: f64, digits: i32| digits - 1 - value.abs().log10().floor() as i32;
    let most = if mean == 0.0 { i32::MAX } else { decimals(mean, 4).max(decimals(half, 1)) };
    let place = decimals(half, 2).min(most);
    let scale = 10_f64.powi(place);
    // Not -0.
    let text = |value: f64| format!("{:.*}", place.max(0) as usize, (value * scale).round() / scale + 0.0);
    (text(mean), beside.map(text))
}

fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::{number, with_interval};

    #[test]
    fn numbers_keep_four_digits() {
        let made: Vec<String> =
            [0.0, 0.33412, 12.0, 10_392.6, 0.1, -0.000_012, 6163.0].into_iter().map(number).collect();
        assert_eq!(made, ["0", "0.3341", "12", "10393", "0.1", "-1.20e-5", "6163"]);
    }

    #[test]
    fn a_mean_has_the_digits_that_its_interval_warrants() {
        let of = |mean, half| {
            let (mean, [half]) = with_interval(mean, half, [half]);
            format!("{mean} ± {half}")
        };
        let made = [
            (0.55, 0.1242),
            (0.5, 0.1),
            (871.2, 24.1),
            (10_977.0, 142.6),
            (-0.001, 0.12),
            (0.99321, 0.000_12),
        ];
        let wanted =
            ["0.55 ± 0.12", "0.50 ± 0.10", "871 ± 24", "10980 ± 140", "0.00 ± 0.12", "0.9932 ± 0.0001"];
        assert_eq!(made.map(|(mean, half)| of(mean, half)), wanted);
        assert_eq!([of(0.5, 0.0), of(3e8, 1e6), of(0.0, 2.0)], ["0.5 ± 0", "3.00e8 ± 1000000", "0.0 ± 2.0"]);
        assert_eq!(
            with_interval(0.993, 0.03, [0.91, 0.9994]),
            ("0.993".into(), ["0.910".into(), "0.999".into()])
        );
    }
}
