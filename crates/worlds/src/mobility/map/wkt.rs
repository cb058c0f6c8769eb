//! Roads from well-known text (OGC Simple Features), as far as maps for The ONE use it.

use super::{MapError, Point};

/// The largest file that is read, in bytes.
pub const BYTES_MAX: u64 = 1 << 30;

const RIGHT_TYPE: &str = "expected LINESTRING, MULTILINESTRING or POINT";
const RIGHT_PAIR: &str = "expected two finite numbers, as in \"106.97 76.25\"";

/// Reads the lines of a file: `LINESTRING (x y, x y, ...)` and `MULTILINESTRING ((...), (...))`.
/// `POINT` is checked and ignored, and `EMPTY` adds no line. Types may be in any case; a third
/// coordinate is ignored, as in The ONE. `name` stands for the file in errors.
///
/// # Errors
/// One that names file and line, what is there and what would be right.
pub fn parse(bytes: &[u8], name: &str) -> Result<Vec<Vec<Point>>, MapError> {
    Ok(lines(bytes, name)?.into_iter().map(|line| line.points).collect())
}

/// A line or a single point of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Where it begins: line of the file, from 1 on.
    pub line: u32,
    /// Its points.
    pub points: Vec<Point>,
}

/// As [`parse`], with the place of each line in the file.
///
/// # Errors
/// As of [`parse`].
pub fn lines(bytes: &[u8], name: &str) -> Result<Vec<Feature>, MapError> {
    let lines = features(bytes, name)?.lines;
    if lines.is_empty() {
        let right = "expected LINESTRING or MULTILINESTRING";
        return Err(MapError::NoRoad { file: name.to_owned(), right });
    }
    Ok(lines)
}

/// The points of a file: `POINT (x y)`; lines are checked and ignored.
///
/// # Errors
/// As of [`parse`], or no point at all.
pub fn points(bytes: &[u8], name: &str) -> Result<Vec<Feature>, MapError> {
    let points = features(bytes, name)?.points;
    if points.is_empty() { Err(MapError::NoPoint { file: name.to_owned() }) } else { Ok(points) }
}

#[derive(Default)]
struct Features {
    lines: Vec<Feature>,
    points: Vec<Feature>,
}

fn features(bytes: &[u8], name: &str) -> Result<Features, MapError> {
    if bytes.is_empty() {
        return Err(MapError::Empty { file: name.to_owned() });
    }
    if bytes.len() as u64 > BYTES_MAX {
        let (file, found) = (name.to_owned(), bytes.len() as u64);
        return Err(MapError::TooLarge { file, what: "bytes", found, most: BYTES_MAX });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|&&b| b == b'\n').count() as u32;
        let what = "bytes that are not UTF-8".to_owned();
        MapError::Syntax { file: name.to_owned(), line, what, right: "expected text in UTF-8" }
    })?;
    // A byte order mark is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { rest: text, line: 1, name };
    let mut all = Features::default();
    while reader.feature(&mut all)? {}
    Ok(all)
}

struct Reader<'a> {
    rest: &'a str,
    line: u32,
    name: &'a str,
}

impl<'a> Reader<'a> {
    /// One feature; false at the end of the text.
    fn feature(&mut self, all: &mut Features) -> Result<bool, MapError> {
        self.skip_space();
        if self.rest.is_empty() {
            return Ok(false);
        }
        let word = self.word().to_ascii_uppercase();
        if !matches!(word.as_str(), "LINESTRING" | "MULTILINESTRING" | "POINT") {
            let found = if word.is_empty() { self.here() } else { format!("\"{}\"", shortened(&word)) };
            return Err(self.wrong(found, RIGHT_TYPE));
        }
        if self.empty() {
            return Ok(true);
        }
        let line = self.line;
        match word.as_str() {
            "LINESTRING" => all.lines.push(Feature { line, points: self.points(2)? }),
            "MULTILINESTRING" => self.multi(&mut all.lines)?,
            _ => all.points.push(Feature { line, points: self.points(1)? }),
        }
        Ok(true)
    }

    fn multi(&mut self, lines: &mut Vec<Feature>) -> Result<(), MapError> {
        self.expect('(', "expected \"(\"")?;
        loop {
            if !self.empty() {
                self.skip_space();
                lines.push(Feature { line: self.line, points: self.points(2)? });
            }
            if !self.comma()? {
                return Ok(());
            }
        }
    }

    fn points(&mut self, least: usize) -> Result<Vec<Point>, MapError> {
        self.expect('(', "expected \"(\"")?;
        let mut points = Vec::new();
        loop {
            points.push(self.pair()?);
            if !self.comma()? {
                break;
            }
        }
        if points.len() < least {
            return Err(self.wrong("a line of one point".to_owned(), "expected at least two points"));
        }
        Ok(points)
    }

    /// True after a comma, false after a closing parenthesis.
    fn comma(&mut self) -> Result<bool, MapError> {
        self.skip_space();
        if self.take(',') {
            return Ok(true);
        }
        self.expect(')', "expected \",\" or \")\"")?;
        Ok(false)
    }

    fn pair(&mut self) -> Result<Point, MapError> {
        let (x, y) = (self.number()?, self.number()?);
        // Height and measure.
        for _ in 0..2 {
            self.skip_space();
            if !self.rest.starts_with([',', ')']) {
                self.number()?;
            }
        }
        Ok(Point { x, y })
    }

    fn number(&mut self) -> Result<f64, MapError> {
        self.skip_space();
        let end = self.rest.find(|c: char| c.is_whitespace() || "(),".contains(c)).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        if text.is_empty() {
            return Err(self.wrong(self.here(), RIGHT_PAIR));
        }
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => {
                self.rest = rest;
                Ok(x)
            }
            _ => Err(self.wrong(format!("\"{}\"", shortened(text)), RIGHT_PAIR)),
        }
    }

    fn empty(&mut self) -> bool {
        self.skip_space();
        let found = self.rest.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("EMPTY"));
        if found {
            self.rest = &self.rest[5..];
        }
        found
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn expect(&mut self, c: char, right: &'static str) -> Result<(), MapError> {
        self.skip_space();
        if self.take(c) { Ok(()) } else { Err(self.wrong(self.here(), right)) }
    }

    fn take(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn skip_space(&mut self) {
        let trimmed = self.rest.trim_start();
        let space = &self.rest[..self.rest.len() - trimmed.len()];
        self.line = self.line.saturating_add(space.bytes().filter(|&b| b == b'\n').count() as u32);
        self.rest = trimmed;
    }

    fn here(&self) -> String {
        match self.rest.chars().next() {
            Some(c) => format!("\"{}\"", c.escape_debug()),
            None => "the end of the file".to_owned(),
        }
    }

    fn wrong(&self, what: String, right: &'static str) -> MapError {
        MapError::Syntax { file: self.name.to_owned(), line: self.line, what, right }
    }
}

fn shortened(text: &str) -> String {
    let short: String = text.chars().take(24).flat_map(char::escape_debug).collect();
    if text.chars().nth(24).is_some() { format!("{short}...") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(bytes: &[u8]) -> String {
        parse(bytes, "map.wkt").expect_err("must be refused").to_string()
    }

    #[test]
    fn both_kinds_of_lines_are_read_over_several_lines_of_text() {
        let text =
            "LINESTRING (1 2, 3\n 4.5)\r\n\nMULTILINESTRING ((0 0, 1 1), (2 2, 3 3, 4 4))\nPOINT (9 9)\n";
        let lines = parse(text.as_bytes(), "map.wkt").expect("sound");
        assert_eq!(lines.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 3]);
        assert_eq!(lines[0][1], Point::new(3.0, 4.5));
    }

    #[test]
    fn lines_and_points_have_their_place_in_the_file() {
        let text = b"LINESTRING (0 0, 1 1)\n\nPOINT (7 8)\nMULTILINESTRING ((0 0, 1 1),\n (2 2, 3 3))\n";
        let places: Vec<u32> = lines(text, "map.wkt").expect("sound").iter().map(|line| line.line).collect();
        assert_eq!(places, [1, 4, 5]);
        let one = Feature { line: 3, points: vec![Point::new(7.0, 8.0)] };
        assert_eq!(points(text, "map.wkt").expect("sound"), [one]);
        let error = points(b"LINESTRING (0 0, 1 1)", "map.wkt").expect_err("no point").to_string();
        assert_eq!(error, "map.wkt: no point found, expected POINT");
    }

    #[test]
    fn errors_name_the_line_the_find_and_the_remedy() {
        assert_eq!(
            error(b"LINESTRING (1 2, 3 4)\nLINESTRING (1 2, x 4)"),
            "map.wkt:2: \"x\", expected two finite numbers, as in \"106.97 76.25\""
        );
        assert_eq!(
            error(b"\nPOLYGON ((1 2))"),
            "map.wkt:2: \"POLYGON\", expected LINESTRING, MULTILINESTRING or POINT"
        );
        assert_eq!(
            error(b"LINESTRING (1 2,\n3 4"),
            "map.wkt:2: the end of the file, expected two finite numbers, as in \"106.97 76.25\""
        );
        assert_eq!(
            error(b"LINESTRING (1 2)"),
            "map.wkt:1: a line of one point, expected at least two points"
        );
        assert_eq!(error(b"LINESTRING 1 2"), "map.wkt:1: \"1\", expected \"(\"");
    }

    #[test]
    fn empty_and_foreign_files_are_refused_in_one_line() {
        assert_eq!(error(b""), "map.wkt: the file is empty, expected a map");
        assert_eq!(error(b" \n "), "map.wkt: no road found, expected LINESTRING or MULTILINESTRING");
        assert_eq!(error(b"POINT (1 1)"), "map.wkt: no road found, expected LINESTRING or MULTILINESTRING");
        assert_eq!(
            error(b"LINESTRING (1 2, 3 4)\n\xff"),
            "map.wkt:2: bytes that are not UTF-8, expected text in UTF-8"
        );
        assert!(error(b"LINESTRING (1 inf, 2 2)").contains("\"inf\", expected two finite"));
        assert!(!error(b"\x1b[31m").contains('\x1b'));
    }
}
