//! Parts of a whole.

/// A part of a whole; not a number (NaN) if the whole is zero.
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}

/// Jain's index of what several got: 1 if all are equal, 1/n if one has everything.
pub fn jain(shares: impl IntoIterator<Item = f64>) -> f64 {
    let (count, sum, squares) = shares.into_iter().fold((0.0, 0.0, 0.0), |(count, sum, squares), share| {
        (count + 1.0, sum + share, squares + share * share)
    });
    ratio(sum * sum, count * squares)
}
