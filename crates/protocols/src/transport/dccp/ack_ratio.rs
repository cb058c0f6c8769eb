//! Congestion control of acknowledgements (RFC 4341, section 6.1): how many data packets the other end may
//! let come before it acknowledges.

/// The Ack Ratio that a sender wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckRatio {
    ratio: u64,
    /// Windows of data without a lost acknowledgement.
    clean_windows: u64,
}

impl Default for AckRatio {
    /// Two, as it is before anybody asks (RFC 4340, section 11.3).
    fn default() -> Self {
        Self { ratio: 2, clean_windows: 0 }
    }
}

impl AckRatio {
    /// The ratio that goes with a window of `window` packets: never more than half of it, rounded up, so that
    /// a window is acknowledged in two at least; two or more from four packets on (section 6.1.2).
    pub fn fitting(&self, window: u64) -> u64 {
        let least = if window >= 4 { 2 } else { 1 };
        self.ratio.clamp(least, window.div_ceil(2).max(least))
    }
    /// A window of data was acknowledged, and `lost` acknowledgements were lost meanwhile.
    pub fn on_window(&mut self, window: u64, lost: u64) {
        self.ratio = self.fitting(window);
        if lost > 0 {
            self.clean_windows = 0;
            self.ratio = self.ratio.saturating_mul(2).min(u64::from(u16::MAX));
        } else {
            self.clean_windows += 1;
            let ratio = self.ratio;
            // Cwnd/(R² − R) windows: the rate of acknowledgements grows by about one a round trip.
            if ratio > 1 && self.clean_windows >= window.div_ceil(ratio * ratio - ratio) {
                self.ratio -= 1;
                self.clean_windows = 0;
            }
        }
        self.ratio = self.fitting(window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_never_exceeds_half_the_window_and_comes_back_as_the_rfc_says() {
        let mut ratio = AckRatio::default();
        assert_eq!([1, 2, 3, 4, 100].map(|window| ratio.fitting(window)), [1, 1, 2, 2, 2]);
        ratio.on_window(100, 1);
        ratio.on_window(100, 3);
        assert_eq!(ratio.fitting(100), 8);
        assert_eq!(ratio.fitting(6), 3, "a window that shrinks takes the ratio with it at once");
        // 100 / (64 − 8) windows, rounded up.
        ratio.on_window(100, 0);
        assert_eq!(ratio.fitting(100), 8);
        ratio.on_window(100, 0);
        assert_eq!(ratio.fitting(100), 7);
    }
}
