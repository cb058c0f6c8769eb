//! Files of recorded positions, as The ONE reads them.

use super::error::{Error, Place, Result, is_not, quoted, short};
use super::files::utf8;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_worlds::mobility::{Fix, MobilityError, Point, TrackBuilder, at_ticks};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The most nodes of a file.
const NODES_MAX: usize = super::model::NODES_MAX;

/// The positions of many nodes.
#[derive(Clone, PartialEq)]
pub struct Tracks {
    /// Of each node in the order of the file; with [`Format::Paths`] by number, empty for nodes without a path.
    pub list: Vec<Arc<[Fix]>>,
    /// Metres that all nodes go.
    pub length_m: f64,
    /// Sides of the rectangle around all positions, in metres.
    pub sides_m: [f64; 2],
    /// Form of the file.
    pub format: Format,
    /// The file of positions, and with [`Format::Paths`] the one of times, if they were read from files.
    pub files: Vec<PathBuf>,
    key: u64,
}

impl fmt::Debug for Tracks {
    /// Equal tracks, equal texts: the key of contacts has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tracks({}, {:x})", self.list.len(), self.key)
    }
}

/// Formats of files of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line a position: `time id x y`, in order of time, at equal intervals. The ONE's `ExternalMovement`.
    Samples,
    /// A line a path: `id time,x,y time,x,y ...`. The ONE's `ExternalPathMovement`.
    Paths,
}

impl Tracks {
    fn new(list: Vec<Arc<[Fix]>>, format: Format) -> Self {
        use lightlag_protocols::rng::mix;
        let mut key = list.len() as u64;
        for fix in list.iter().flat_map(|track| track.iter()) {
            for word in [fix.at.as_nanos() as u64, fix.point.x.to_bits(), fix.point.y.to_bits()] {
                key = mix(key ^ word);
            }
        }
        let steps = list.iter().flat_map(|track| track.windows(2));
        let length_m = steps.map(|two| two[0].point.distance(two[1].point)).sum();
        let points = || list.iter().flat_map(|track| track.iter().map(|fix| fix.point));
        let side = |of: fn(Point) -> f64| {
            let least = points().map(of).fold(f64::INFINITY, f64::min);
            (points().map(of).fold(f64::NEG_INFINITY, f64::max) - least).max(1.0)
        };
        let sides_m = [side(|p| p.x), side(|p| p.y)];
        Self { list, length_m, sides_m, format, files: Vec::new(), key }
    }
    /// The same, read from these files.
    #[must_use]
    pub fn of_files(mut self, files: Vec<PathBuf>) -> Self {
        self.files = files;
        self
    }
    /// Positions of all nodes.
    pub fn positions(&self) -> usize {
        self.list.iter().map(|track| track.len()).sum()
    }
}

struct Line<'t> {
    file: &'t str,
    number: u32,
    words: Vec<&'t str>,
}

impl Line<'_> {
    fn wrong(&self, what: impl AsRef<str>, right: impl AsRef<str>) -> Error {
        Error::new(&Place::Line(self.file.into(), self.number), what, right)
    }
    fn number(&self, word: &str) -> Result<f64> {
        let number = word.parse().ok().filter(|n: &f64| n.abs() <= 1e9);
        number.ok_or_else(|| self.wrong(is_not(word, "a number"), "write a number from -1e9 to 1e9"))
    }
    fn numbers(&self, count: usize, right: &str) -> Result<Vec<f64>> {
        if self.words.len() < count {
            return Err(self.wrong(format!("the line has {} words", self.words.len()), right));
        }
        self.words[..count].iter().map(|word| self.number(word)).collect()
    }
}

/// Lines with words; empty ones and comments are skipped.
fn lines<'t>(file: &'t str, text: &'t str) -> impl Iterator<Item = Line<'t>> {
    let numbered = (1..).zip(text.lines());
    let lines =
        numbered.map(move |(number, line)| Line { file, number, words: line.split_whitespace().collect() });
    lines.filter(|line| line.words.first().is_some_and(|word| !word.starts_with('#')))
}

fn instant(s: f64) -> Instant {
    Instant::ZERO.saturating_add(Duration::from_secs_f64(s))
}

const HEADER: &str = "the first line is `minTime maxTime minX maxX minY maxY`";
const SAMPLE: &str = "write `time id x y`";

/// Positions of the form [`Format::Samples`]. The first line gives the corner and the time that are subtracted from all
/// others. Nodes that the first instant does not have are skipped, as in The ONE.
///
/// # Errors
/// A line that is no such thing, or that goes back in time.
pub fn samples(file: &str, bytes: &[u8]) -> Result<Tracks> {
    let text = utf8(file, bytes)?;
    let mut lines = lines(file, text);
    let empty = || Error::new(&Place::File(file.into()), "the file has no position", HEADER);
    let header = lines.next().ok_or_else(empty)?.numbers(6, HEADER)?;
    let (origin_s, corner) = (header[0], Point::new(header[2], header[4]));
    let mut of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut nodes: Vec<Sampled> = Vec::new();
    let (mut first_s, mut interval_s, mut last_s) = (None, None, f64::NEG_INFINITY);
    for line in lines {
        if line.words.len() < 4 {
            return Err(line.wrong(format!("the line has {} words", line.words.len()), SAMPLE));
        }
        let s = line.number(line.words[0])? - origin_s;
        let point =
            Point::new(line.number(line.words[2])? - corner.x, line.number(line.words[3])? - corner.y);
        if s < last_s {
            let what = format!("the time {} s lies before that of the line above", short(s + origin_s));
            return Err(line.wrong(what, "sort the lines by time"));
        }
        last_s = s;
        let start_s = *first_s.get_or_insert(s);
        if s == start_s {
            let new = of.insert(line.words[1], nodes.len()).is_none();
            if new && nodes.len() < NODES_MAX {
                nodes.push(Sampled::new(s, point));
            }
            continue;
        }
        let interval_s = *interval_s.get_or_insert(s - start_s);
        if let Some(&node) = of.get(line.words[1]) {
            nodes[node].add(s, point, interval_s);
        }
    }
    if nodes.is_empty() {
        return Err(empty());
    }
    Ok(Tracks::new(nodes.into_iter().map(|node| node.track.build()).collect(), Format::Samples))
}

/// A node of a file of samples. As in The ONE, each step takes one interval, whenever the next sample is.
struct Sampled {
    track: TrackBuilder,
    at: Point,
    /// When the step that follows begins.
    from_s: f64,
}

impl Sampled {
    fn new(s: f64, at: Point) -> Self {
        let mut track = TrackBuilder::default();
        track.go(instant(s), at);
        Self { track, at, from_s: s }
    }
    fn add(&mut self, s: f64, to: Point, interval_s: f64) {
        if to == self.at {
            self.from_s = s.max(self.from_s);
            return;
        }
        self.track.go(instant(self.from_s), self.at);
        self.from_s += interval_s;
        self.track.go(instant(self.from_s), to);
        self.at = to;
    }
}

const PATHS_HEADER: &str = "the first line is `maxID minTime maxTime minX maxX minY maxY`";
const PATH: &str = "write `id time,x,y time,x,y ...`";
const ACTIVE: &str = "write `id start end`";

/// Positions of the form [`Format::Paths`], and when the nodes move, by a file of lines `id start end`; without one,
/// always. A node stands still at all other times, and the rest of a path that it was on follows later. With a tick,
/// nodes follow their paths as in The ONE ([`at_ticks`]).
///
/// # Errors
/// A line that is no such thing, or a path that goes back in time.
pub fn paths(
    file: &str,
    bytes: &[u8],
    activity: Option<(&str, &[u8])>,
    tick: Option<Duration>,
) -> Result<Tracks> {
    let text = utf8(file, bytes)?;
    let mut lines_of_file = lines(file, text);
    let empty = || Error::new(&Place::File(file.into()), "the file has no path", PATHS_HEADER);
    let first = lines_of_file.next().ok_or_else(empty)?;
    let header = first.numbers(7, PATHS_HEADER)?;
    if header[0].fract() != 0.0 || !(0.0..NODES_MAX as f64).contains(&header[0]) {
        let right = format!("give a whole number from 0 to {}", NODES_MAX - 1);
        return Err(first.wrong(format!("the greatest ID is {}", short(header[0])), right));
    }
    let count = header[0] as usize + 1;
    let (origin_s, corner) = (header[1], Point::new(header[3], header[5]));
    let active = match activity {
        Some(activity) => active(activity, count, origin_s)?,
        None => vec![vec![(f64::NEG_INFINITY, f64::INFINITY)]; count],
    };
    let mut nodes = vec![TrackBuilder::default(); count];
    let mut paths: Vec<Vec<Vec<(f64, Point)>>> = vec![Vec::new(); count];
    for line in lines_of_file {
        let node = id(&line, count)?;
        let mut path = Vec::with_capacity(line.words.len());
        for word in &line.words[1..] {
            path.push(fix(&line, word, origin_s, corner)?);
        }
        if path.windows(2).any(|two| two[1].0 < two[0].0) {
            return Err(line.wrong("the path goes back in time", "sort its positions by time"));
        }
        match tick {
            Some(_) => paths[node].push(path),
            None => follow(&mut nodes[node], &path, &active[node]),
        }
    }
    if let Some(tick) = tick {
        let track = |(paths, active): (_, &Vec<_>)| at_ticks(paths, active, tick);
        let tracks =
            paths.iter().map(Vec::as_slice).zip(&active).map(track).collect::<std::result::Result<_, _>>();
        let wrong = |error: MobilityError| {
            Error::new(&Place::File(file.into()), error.to_string(), "give a longer tick")
        };
        return Ok(Tracks::new(tracks.map_err(wrong)?, Format::Paths));
    }
    Ok(Tracks::new(nodes.into_iter().map(TrackBuilder::build).collect(), Format::Paths))
}

fn id(line: &Line, count: usize) -> Result<usize> {
    let node = line.words[0].parse().ok().filter(|node| *node < count);
    node.ok_or_else(|| {
        let right = format!("IDs are 0 to {} by the first line", count - 1);
        line.wrong(format!("the ID is {}", quoted(line.words[0])), right)
    })
}

/// A position of a path.
fn fix(line: &Line, word: &str, origin_s: f64, corner: Point) -> Result<(f64, Point)> {
    let parts: Vec<&str> = word.split(',').collect();
    let [s, x, y] = parts[..] else {
        return Err(line.wrong(is_not(word, "a position"), PATH));
    };
    let point = Point::new(line.number(x)? - corner.x, line.number(y)? - corner.y);
    Ok((line.number(s)? - origin_s, point))
}

/// When each node moves, in order of time, in seconds.
fn active((file, bytes): (&str, &[u8]), count: usize, origin_s: f64) -> Result<Vec<Vec<(f64, f64)>>> {
    let text = utf8(file, bytes)?;
    let mut all = vec![Vec::new(); count];
    for line in lines(file, text) {
        if line.words.len() < 3 {
            return Err(line.wrong(format!("the line has {} words", line.words.len()), ACTIVE));
        }
        let (start, end) = (line.number(line.words[1])? - origin_s, line.number(line.words[2])? - origin_s);
        all[id(&line, count)?].push((start, end));
    }
    all.iter_mut().for_each(join);
    Ok(all)
}

/// Puts spans in order of time and joins those that overlap; those without length are skipped.
fn join(spans: &mut Vec<(f64, f64)>) {
    spans.retain(|span| span.1 > span.0);
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    spans.dedup_by(|later, kept| {
        let joins = later.0 <= kept.1;
        if joins {
            kept.1 = kept.1.max(later.1);
        }
        joins
    });
}

/// The node is put to the beginning of a path, if it is elsewhere, and follows it while it is active.
fn follow(track: &mut TrackBuilder, path: &[(f64, Point)], active: &[(f64, f64)]) {
    let Some(&(start_s, first)) = path.first() else { return };
    let Some(last) = track.last() else {
        // The first path: its beginning is where the node is from the start.
        track.go(instant(start_s), first);
        return follow_on(track, path, active, start_s);
    };
    let Some(now_s) = next_active(active, start_s.max(last.at.as_secs_f64())) else { return };
    track.jump(instant(now_s), first);
    follow_on(track, path, active, now_s);
}

fn follow_on(track: &mut TrackBuilder, path: &[(f64, Point)], active: &[(f64, f64)], from_s: f64) {
    let mut now_s = from_s;
    for two in path.windows(2) {
        let (mut left_s, mut at, to) = (two[1].0 - two[0].0, two[0].1, two[1].1);
        loop {
            let Some((start_s, end_s)) = span(active, now_s) else { return };
            // It rests until it is active.
            if start_s > now_s {
                track.go(instant(start_s), at);
                now_s = start_s;
            }
            if now_s + left_s <= end_s {
                now_s += left_s;
                track.go(instant(now_s), to);
                break;
            }
            at = at.toward(to, (end_s - now_s) / left_s);
            left_s -= end_s - now_s;
            track.go(instant(end_s), at);
            // Just after the end of this span.
            now_s = end_s.next_up();
        }
    }
}

/// The first instant from `s` on at which the node is active.
fn next_active(active: &[(f64, f64)], s: f64) -> Option<f64> {
    span(active, s).map(|span| span.0.max(s))
}

/// The span in which the node is active at `s`, or else the next one.
fn span(active: &[(f64, f64)], s: f64) -> Option<(f64, f64)> {
    active.get(active.partition_point(|span| span.1 < s)).copied()
}
