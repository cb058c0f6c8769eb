//! Figures of many values in a few bytes.

use serde::Serialize;

/// Count, extremes, mean and deviation (Welford 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    least: f64,
    most: f64,
    mean: f64,
    squares: f64,
}

/// The same, as reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// How many values.
    pub samples: u64,
    /// Least.
    pub min: f64,
    /// Mean.
    pub avg: f64,
    /// Most.
    pub max: f64,
    /// Standard deviation of the sample.
    pub sd: f64,
}

impl Moments {
    /// One more value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.least = if self.count == 0 { value } else { self.least.min(value) };
        self.most = if self.count == 0 { value } else { self.most.max(value) };
        self.count += 1;
        let off = value - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (value - self.mean);
    }
    /// None without any value.
    pub fn spread(&self) -> Option<Spread> {
        let freedom = self.count.saturating_sub(1).max(1) as f64;
        (self.count > 0).then(|| Spread {
            samples: self.count,
            min: self.least,
            avg: self.mean,
            max: self.most,
            sd: (self.squares / freedom).sqrt(),
        })
    }
}

/// Values in buckets of at most 1/16 of their size; those up to 32 exactly.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// One more value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let bucket = bucket(value);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
    }
    /// Part of the values that are at most `value`, exact up to 32. None without any.
    pub fn share_up_to(&self, value: u64) -> Option<f64> {
        let within: u64 = self.counts.iter().take(bucket(value) + 1).sum();
        (self.total > 0).then(|| within as f64 / self.total as f64)
    }
    /// The lower end of the bucket with the median. None without any value.
    pub fn median(&self) -> Option<u64> {
        let mut below = 0;
        let found = self.counts.iter().position(|count| {
            below += count;
            below * 2 >= self.total.max(1)
        });
        found.map(low_end)
    }
}

/// 16 buckets for every power of two.
fn bucket(value: u64) -> usize {
    if value < 32 {
        return value as usize;
    }
    let power = value.ilog2() as usize;
    (power - 3) * 16 + ((value >> (power - 4)) as usize & 15)
}

fn low_end(bucket: usize) -> u64 {
    if bucket < 32 {
        return bucket as u64;
    }
    let power = bucket / 16 + 3;
    (16 + (bucket % 16) as u64) << (power - 4)
}
