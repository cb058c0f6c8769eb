//! What each mechanism loses by not being the best of a network.
//!
//! The regret of a mechanism in a cell is the delivery ratio of the best real mechanism there minus its own, means
//! over the seeds. Real are ours and the others; references and ours without parts are measured by the same best.

use super::cells::{Cell, Measure, Standing, text};
use super::cells::{ROLE, TREATMENT};
use super::treatments::Role;
use crate::shared::runs::quantile;
use lightlag_lab::metrics::with_interval;
use lightlag_lab::statistics::{bootstrap, mean};

/// A mechanism is as good as the best within this, in the delivery ratio.
pub const NEAR: f64 = 0.01;

/// A mechanism in one cell.
pub struct In<'s, 'a> {
    /// The cell.
    pub cell: &'s Cell<'a>,
    /// Its delivery ratio.
    pub ratio: f64,
    /// Its regret.
    pub regret: f64,
    /// Bytes sent per byte delivered; none where it delivers nothing.
    bytes: Option<f64>,
}

/// A mechanism in all cells in which it can run.
pub struct Regret<'s, 'a> {
    /// Its name.
    pub name: &'a str,
    role: &'a str,
    /// Its cells.
    pub cells: Vec<In<'s, 'a>>,
}

impl<'s, 'a> Regret<'s, 'a> {
    /// Whether it has this role.
    pub fn is(&self, role: Role) -> bool {
        self.role == role.word()
    }
    /// Mean delivery ratio.
    pub fn ratio(&self) -> f64 {
        self.mean(|one| one.ratio)
    }
    /// Mean regret.
    pub fn regret(&self) -> f64 {
        self.mean(|one| one.regret)
    }
    /// The regret that 95 % of the cells do not exceed.
    pub fn regret_p95(&self) -> f64 {
        quantile(self.cells.iter().map(|one| one.regret), 0.95).unwrap_or(0.0)
    }
    /// The cell with the largest regret.
    pub fn worst(&self) -> Option<&In<'s, 'a>> {
        self.cells.iter().max_by(|one, other| one.regret.total_cmp(&other.regret))
    }
    /// Median of the bytes sent per byte delivered.
    pub fn bytes(&self) -> Option<f64> {
        quantile(self.cells.iter().filter_map(|one| one.bytes), 0.5)
    }
    /// Share of the cells in which it is as good as the best.
    pub fn near(&self) -> f64 {
        self.mean(|one| f64::from(u8::from(one.regret <= NEAR)))
    }
    fn mean(&self, of: impl Fn(&In<'s, 'a>) -> f64) -> f64 {
        mean(&self.cells.iter().map(of).collect::<Vec<_>>()).unwrap_or(0.0)
    }
}

/// Every mechanism: ours first, then the others, the parts and the reference, of each the smallest mean regret first.
pub fn regrets<'s, 'a>(standings: &'s [Standing<'a>]) -> Vec<Regret<'s, 'a>> {
    let mut all: Vec<Regret<'s, 'a>> = Vec::new();
    for standing in standings {
        add(&mut all, &standing.cell);
    }
    let roles = [Role::Ours, Role::Other, Role::Part, Role::Reference];
    let rank = |one: &Regret<'_, '_>| roles.iter().position(|role| one.is(*role));
    all.sort_by(|one, other| rank(one).cmp(&rank(other)).then(one.regret().total_cmp(&other.regret())));
    all
}

fn add<'s, 'a>(all: &mut Vec<Regret<'s, 'a>>, cell: &'s Cell<'a>) {
    let real = cell.of_role(Role::Ours).chain(cell.of_role(Role::Other));
    let Some(best) = real.filter_map(|point| Measure::Ratio.mean(point)).reduce(f64::max) else { return };
    for point in cell.points() {
        let Some(ratio) = Measure::Ratio.mean(point) else { continue };
        let (name, role) = (text(point, TREATMENT), text(point, ROLE));
        let index = all.iter().position(|one| one.name == name).unwrap_or(all.len());
        if index == all.len() {
            all.push(Regret { name, role, cells: Vec::new() });
        }
        let bytes = Measure::Bytes.mean(point);
        all[index].cells.push(In { cell, ratio, regret: best - ratio, bytes });
    }
}

/// Ours.
pub fn ours<'r, 's, 'a>(all: &'r [Regret<'s, 'a>]) -> Option<&'r Regret<'s, 'a>> {
    all.iter().find(|one| one.is(Role::Ours))
}

/// By how much more one delivers than another in the same cells: the mean, with its 95% interval by the bootstrap over the cells.
pub fn ahead(one: &Regret<'_, '_>, other: &Regret<'_, '_>) -> Option<String> {
    let there = |cell: &Cell<'_>| other.cells.iter().find(|found| std::ptr::eq(found.cell, cell));
    let gains: Vec<f64> =
        one.cells.iter().filter_map(|here| Some(here.ratio - there(here.cell)?.ratio)).collect();
    let (low, high) = bootstrap(&gains, 1)?;
    let (mean, [low, high]) = with_interval(mean(&gains)?, (high - low) / 2.0, [low, high]);
    Some(format!("{mean} ({low} to {high})"))
}

/// The others that run in every cell.
pub fn everywhere<'r, 's, 'a>(all: &'r [Regret<'s, 'a>]) -> impl Iterator<Item = &'r Regret<'s, 'a>> {
    let cells = ours(all).map_or(0, |ours| ours.cells.len());
    all.iter().filter(move |one| one.is(Role::Other) && one.cells.len() == cells)
}

/// A cell in a few words.
pub fn described(cell: &Cell<'_>) -> String {
    format!("{} ({}, {})", cell.case(), cell.place(), cell.router())
}
