//! Loss that a flow does not cause: what stays when it sends less.

use crate::math;

/// Reductions in a row without effect after which losses count as usual.
const PATIENCE: u32 = 3;
/// Fewest Interests of which a share of losses is made, and losses that would be expected among them.
const FEWEST: f64 = 24.0;
const EXPECTED: f64 = 6.0;
/// Interests after which a share that is surely smaller becomes the usual one.
const MANY: f64 = 256.0;
/// Fewer deviations than this have no meaning.
const SURE: f64 = 3.0;
/// Nor has less than this part of the usual share, whatever the number: losses come in the order of their timers.
const APART: f64 = 0.2;
/// Round trips until the effect of a reduction is seen: an Interest is lost after two.
const SETTLES: u32 = 2;
/// Fewest round trips of a share: losses are seen later than answers, and a window that changes moves them apart.
const ROUNDS: u32 = 4;
/// Round trips with close delays after which no other flow queues.
const QUIET_ROUNDS: u32 = 8;
/// No more than this is usual: 30 % in either direction.
const MOST: f64 = 0.55;
/// Usual losses do not explain a run of losses that is less probable than this.
const IMPROBABLE: f64 = 0.001;

/// What a loss asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Keep,
    /// To send less.
    Reduce,
    /// To undo the reductions: they had no effect.
    Undo,
}

/// Counts losses and answers, and finds by experiment which losses a flow causes itself: those that become fewer
/// when it sends less.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsualLoss {
    lost: f64,
    came: f64,
    /// Share of losses when the flow reduced, and such reductions in a row without effect.
    before: f64,
    vain: u32,
    settles: u32,
    /// Round trips that are counted.
    rounds: u32,
    /// Lost and counted since the first of them.
    tried: (f64, f64),
    /// The least delay ever, and for how many round trips all have been close to it.
    least: Option<f64>,
    quiet: u32,
    /// Lost in a row.
    lost_in_a_row: u32,
    usual: f64,
}

impl UsualLoss {
    /// Share of Interests that get lost whatever the flow does, in 0 to 1.
    pub fn share(&self) -> f64 {
        self.usual
    }
    /// Whether no other flow queued in the last round trip.
    pub fn is_quiet(&self) -> bool {
        self.quiet > 0
    }
    /// Reductions in a row of which no effect has been seen.
    pub fn tries(&self) -> u32 {
        self.vain
    }
    /// Whether usual losses do not explain how many were lost in a row.
    pub fn is_outage(&self) -> bool {
        math::pow(self.usual, f64::from(self.lost_in_a_row)) < IMPROBABLE
    }
    /// The window could not be reduced.
    pub fn forget(&mut self) {
        (self.vain, self.settles) = (0, 0);
    }
    /// A round trip is over, with the least and the greatest delay in it. If delays differ by more than `apart`, others
    /// queue.
    pub fn on_round(&mut self, delays: (f64, f64), apart: f64) {
        self.least = Some(self.least.map_or(delays.0, |least| least.min(delays.0)));
        let near = self.least.is_some_and(|least| delays.1 - least <= apart);
        self.quiet = if near { self.quiet + 1 } else { 0 };
        self.rounds += 1;
        if self.settles > 0 {
            self.settles -= 1;
            self.count_again();
        }
    }
    /// An answer came.
    pub fn on_answer(&mut self) {
        self.lost_in_a_row = 0;
        self.came += 1.0;
        self.tried.1 += 1.0;
        let (count, share) = self.counted();
        if self.vain > 0 && self.judges(count) && share < self.before / 2.0 {
            self.vain = 0;
            self.count_again();
        } else if self.vain == 0 && count >= MANY && self.rounds >= 2 * ROUNDS {
            if share < self.usual - self.uncertain(count) {
                self.usual = share;
            }
            self.count_again();
        }
    }
    /// An Interest was lost.
    pub fn on_loss(&mut self) {
        self.lost_in_a_row += 1;
        self.lost += 1.0;
        self.tried = (self.tried.0 + 1.0, self.tried.1 + 1.0);
    }
    /// What the loss asks for.
    pub fn judge(&mut self, episode: bool) -> Verdict {
        let (count, share) = self.counted();
        if self.vain == 0 && self.usual > 0.0 {
            let few = self.rounds < ROUNDS || count < FEWEST;
            if few || share <= self.usual + self.uncertain(count) {
                return Verdict::Keep;
            }
        }
        if self.quiet < QUIET_ROUNDS {
            self.vain = 0;
            return if episode { Verdict::Reduce } else { Verdict::Keep };
        }
        if self.settles > 0 {
            return Verdict::Keep;
        }
        if self.vain == 0 {
            self.tried = (0.0, 0.0);
            return self.reduce();
        }
        if !self.judges(count) || share < self.before / 2.0 {
            return Verdict::Keep;
        }
        if self.vain < PATIENCE {
            return self.reduce();
        }
        self.usual = (self.tried.0 / self.tried.1).min(MOST);
        self.vain = 0;
        self.count_again();
        Verdict::Undo
    }
    fn count_again(&mut self) {
        (self.lost, self.came, self.rounds) = (0.0, 0.0, 0);
    }
    fn counted(&self) -> (f64, f64) {
        let count = self.lost + self.came;
        (count, self.lost / count)
    }
    /// How far from the usual share one of this number may be.
    fn uncertain(&self, count: f64) -> f64 {
        SURE * math::sqrt(self.usual * (1.0 - self.usual) / count) + APART * self.usual
    }
    /// Whether an effect of the last reduction could be seen among this number.
    fn judges(&self, count: f64) -> bool {
        let enough = self.lost >= EXPECTED || count >= EXPECTED / self.before;
        self.settles == 0 && self.rounds >= ROUNDS && count >= FEWEST && enough
    }
    fn reduce(&mut self) -> Verdict {
        self.before = self.lost / (self.lost + self.came).max(FEWEST);
        self.vain += 1;
        self.settles = SETTLES;
        self.count_again();
        Verdict::Reduce
    }
}
