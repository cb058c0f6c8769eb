//! The draws of one network.

use lightlag_protocols::math;
use lightlag_protocols::rng::Stream;

/// Draws of one network, one after the other.
pub struct Draw(Stream);

impl Draw {
    /// Those of the network with this index under this seed.
    pub fn new(seed: u64, index: u64) -> Self {
        Self(Stream::new(seed, "networks", index))
    }
    /// From `low` to `high`, each order of magnitude as often as every other; three digits.
    pub fn log(&mut self, low: f64, high: f64) -> f64 {
        rounded(low * math::pow(high / low, self.unit()))
    }
    /// A whole number from `low` to `high`, by orders of magnitude.
    pub fn whole(&mut self, low: u32, high: u32) -> u32 {
        let (low, beyond) = (f64::from(low), f64::from(high) + 1.0);
        (low * math::pow(beyond / low, self.unit())).floor() as u32
    }
    /// From `low` to `high`, uniformly; three digits.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        rounded(self.0.uniform(low, high))
    }
    /// From 0 to 1, uniformly.
    pub fn unit(&mut self) -> f64 {
        self.0.unit()
    }
    /// A whole number below another.
    pub fn below(&mut self, count: u32) -> u32 {
        self.0.below(u64::from(count)) as u32
    }
    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
    /// One of some, each as often as every other.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.below(of.len() as u64) as usize]
    }
    /// An exponential interval of this mean.
    pub fn wait(&mut self, mean: f64) -> f64 {
        -mean * std::f64::consts::LN_2 * math::log2(1.0 - self.unit())
    }
    /// A number of mean 0 and variance 1 that is nearly normal.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
    /// Puts items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        self.0.shuffle(items);
    }
}

/// With three digits.
pub fn rounded(value: f64) -> f64 {
    if value <= 0.0 {
        return value;
    }
    let unit = math::pow(10.0, 2.0 - math::log10(value).floor());
    math::rint(value * unit) / unit
}
