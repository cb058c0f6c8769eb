//! Time series of bounded length: as points come, neighbours are joined.

/// Points of a series at most; a chart is no wider.
pub const POINTS_MAX: usize = 2_000;

/// What fell into a span of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Of the first value.
    pub at_ns: i64,
    /// Least value.
    pub low: u64,
    /// Most.
    pub high: u64,
    /// Sum of the values.
    pub sum: u64,
    /// How many.
    pub count: u64,
}

/// Ranges of values over time. Extremes survive; what lies between them may not.
#[derive(Clone, Debug, Default)]
pub struct Series {
    cells: Vec<Cell>,
    /// 2^n ns.
    width_log2: u32,
    origin_ns: i64,
}

impl Series {
    /// One more value, or a range of them.
    #[inline]
    pub fn add(&mut self, at_ns: i64, low: u64, high: u64) {
        if self.cells.is_empty() {
            self.origin_ns = at_ns;
        }
        let place = self.place(at_ns);
        match self.cells.last() {
            // A time that went back belongs to what is there.
            Some(last) if place <= self.place(last.at_ns) => {
                if let Some(last) = self.cells.last_mut() {
                    last.join(low, high, high, 1);
                }
            }
            _ => self.cells.push(Cell { at_ns, low, high, sum: high, count: 1 }),
        }
        while self.cells.len() > POINTS_MAX {
            self.widen();
        }
    }
    /// The points, by time.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    fn place(&self, at_ns: i64) -> i64 {
        at_ns.saturating_sub(self.origin_ns) >> self.width_log2
    }

    #[cold]
    fn widen(&mut self) {
        // From single nanoseconds to what halves the points would take many steps: begin where it matters.
        let span = self.cells.last().map_or(1, |last| last.at_ns.saturating_sub(self.origin_ns).max(1));
        let useful = (span / POINTS_MAX as i64).max(1).ilog2();
        self.width_log2 = (self.width_log2 + 1).max(useful.saturating_sub(2)).min(62);
        let cells = std::mem::take(&mut self.cells);
        let mut joined: Vec<Cell> = Vec::with_capacity(cells.len() / 2 + 1);
        for cell in cells {
            let place = self.place(cell.at_ns);
            let same = joined.last().is_some_and(|last| self.place(last.at_ns) == place);
            match joined.last_mut() {
                Some(last) if same => last.join(cell.low, cell.high, cell.sum, cell.count),
                _ => joined.push(cell),
            }
        }
        self.cells = joined;
    }
}

impl Cell {
    fn join(&mut self, low: u64, high: u64, sum: u64, count: u64) {
        self.low = self.low.min(low);
        self.high = self.high.max(high);
        self.sum = self.sum.saturating_add(sum);
        self.count += count;
    }
}
