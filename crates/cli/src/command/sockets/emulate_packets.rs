//! `lightlag emulate` between two network namespaces: all packets of real programs and the kernel's stacks.

use super::Failed;
use super::emulate::{counts, link};
use crate::args::sockets::Emulate;
use crate::output::{Done, Failure, print};
use lightlag_capture::Packets;
use lightlag_lab::packets::seconds::{SecondRow, write_csv, write_parquet};
use lightlag_node::clock::{Clock, processor_time};
use lightlag_node::emulate::{
    ADDRESSES, Between, Ended, Namespaces, PacketEmulator, Passing, Programs, Second, Watcher, most_under_way,
};
use lightlag_node::interrupt::Interrupt;
use lightlag_protocols::link::LinkSpec;
use lightlag_protocols::time::{Duration, Instant};
use lightlag_protocols::units::Bytes;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// The least that IPv4 takes (RFC 791).
const MTU_MIN: u64 = 68;

pub fn emulate_packets(options: &Emulate) -> Done {
    let (links, seed) = link(options)?;
    let (span, memory) = (options.span, options.memory);
    let mtu = mtu(options.mtu)?;
    check_memory(&links, mtu, memory)?;
    let table = options.table.as_deref().map(Table::new).transpose()?;
    Namespaces::allowed().map_err(Failed)?;
    let capture = options.capture.as_deref().map(Capture::new).transpose()?;
    let asked = Interrupt::watch_until_end()?;
    let namespaces = namespaces(options)?;
    let between = Between { namespaces: &namespaces, links, mtu, memory, seed };
    let mut emulator = PacketEmulator::new(&between).map_err(Failed)?;
    tell_sides(&namespaces);
    let programs = Programs::start(&namespaces, &options.command, options.far.as_deref()).map_err(Failed)?;
    let mut watch = Watch { programs, asked, span, ended: None, clock: Clock::start(), capture, table };
    let ran = emulator.run(&mut watch);
    let carried_s = watch.clock.now().as_secs_f64();
    let ended = watch.programs.end()?;
    let ended = watch.ended.or(ended);
    ran.map_err(|why| Failure::Failed(format!("the device: {why}; was it removed?")))?;
    watch.capture.map_or(Ok(()), Capture::end)?;
    watch.table.map_or(Ok(()), |table| table.write())?;
    let told = Told { emulator: &emulator, carried_s, ended };
    if options.json {
        print(&(told.json().to_string() + "\n"))?
    } else {
        eprint!("{}", told.text())
    }
    match ended {
        Some(Ended(code)) if code != 0 => Err(Failure::Ended(code)),
        _ => Ok(()),
    }
}

/// Bytes of the largest packet.
fn mtu(bytes: Bytes) -> Result<u16, Failure> {
    let fits = u16::try_from(bytes.0).ok().filter(|bytes| u64::from(*bytes) >= MTU_MIN);
    fits.ok_or_else(|| {
        let right = format!("an MTU is from {MTU_MIN} to {} bytes", u16::MAX);
        Failure::Input(format!("--mtu: {} B is not an MTU; {right}", bytes.0))
    })
}

fn check_memory(links: &[LinkSpec; 2], mtu: u16, memory: Bytes) -> Done {
    let needs =
        links.iter().map(|link| most_under_way(link, Bytes(mtu.into())).0).fold(0, u64::saturating_add);
    if needs <= memory.0 {
        return Ok(());
    }
    let [needs_gb, memory_gb] = [needs, memory.0].map(|bytes| bytes as f64 / 1e9);
    Err(Failure::Input(format!(
        "--memory: the plan's rates and delays keep up to {needs_gb:.3} GB in flight, and {memory_gb:.3} GB are allowed; \
         allow more, or lower a rate, a delay or a queue"
    )))
}

fn namespaces(options: &Emulate) -> Result<Namespaces, Failure> {
    let left = Namespaces::remove_leftovers();
    if !left.is_empty() {
        eprintln!("removed what a killed run left: {}", left.join(", "));
    }
    Ok(match options.between.as_slice() {
        [near, far] => Namespaces::existing([near, far]),
        _ => Namespaces::make(),
    }
    .map_err(Failed)?)
}

fn tell_sides(namespaces: &Namespaces) {
    for ((side, name), [v4, v6]) in ["near", "far"].iter().zip(namespaces.names()).zip(ADDRESSES) {
        eprintln!("{side}: {v4} {v6}, ip netns exec {name} COMMAND");
    }
}

// --- while it runs --------------------------------------------------------------------------

struct Watch {
    programs: Programs,
    asked: Interrupt,
    span: Option<Duration>,
    ended: Option<Ended>,
    clock: Clock,
    capture: Option<Capture>,
    table: Option<Table>,
}

impl Watcher for Watch {
    fn goes_on(&mut self) -> io::Result<bool> {
        self.ended = self.programs.ended()?;
        let over = self.span.is_some_and(|span| self.clock.now() - Instant::ZERO >= span);
        Ok(self.ended.is_none() && !over && !self.asked.is_asked())
    }
    fn passes(&mut self, packet: &Passing<'_>) {
        if let Some(capture) = &mut self.capture {
            capture.write(packet);
        }
    }
    fn second(&mut self, ways: [Second; 2]) {
        if let Some(table) = &mut self.table {
            table.rows.extend(["there", "back"].into_iter().zip(ways).map(|(way, second)| row(way, &second)));
        }
    }
}

fn row(way: &'static str, second: &Second) -> SecondRow {
    let Second { number, offered, dropped, lost, arrived, bytes, delay_s } = *second;
    SecondRow { second: number, direction: way.into(), offered, dropped, lost, arrived, bytes, delay_s }
}

/// All packets in a file.
struct Capture {
    path: PathBuf,
    /// What the system said when it could not continue.
    file: io::Result<Packets<BufWriter<File>>>,
    /// When the emulator started, in nanoseconds since 1970.
    epoch_ns: i64,
}

/// Bytes that are written at once.
const BUFFER: usize = 1 << 20;

impl Capture {
    fn new(path: &Path) -> Result<Self, Failure> {
        let file = File::create(path).map(|file| BufWriter::with_capacity(BUFFER, file));
        let file = file.and_then(|file| Packets::new(file, &lightlag_lab::program(), &["near", "far"]));
        let file = Ok(file.map_err(|why| cannot("--capture", path, &why))?);
        let epoch_ns = Clock::start().both().1.map_or(0, |day| day.as_nanos() as i64);
        Ok(Self { path: path.to_owned(), file, epoch_ns })
    }
    fn write(&mut self, packet: &Passing<'_>) {
        let at_ns = self.epoch_ns + packet.at.as_nanos();
        if let Ok(file) = &mut self.file
            && let Err(why) = file.write(at_ns, packet.side as u32, packet.comes, packet.bytes)
        {
            self.file = Err(why);
        }
    }
    fn end(self) -> Done {
        self.file.and_then(Packets::finish).map_err(|why| cannot("--capture", &self.path, &why))
    }
}

/// A row for each second and direction.
struct Table {
    path: PathBuf,
    is_parquet: bool,
    file: File,
    rows: Vec<SecondRow>,
}

impl Table {
    fn new(path: &Path) -> Result<Self, Failure> {
        let is_parquet = match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => false,
            Some("parquet") => true,
            _ => {
                let line = format!("--table: {} is not a table; name a .csv or a .parquet", path.display());
                return Err(Failure::Input(line));
            }
        };
        let file = File::create(path).map_err(|why| cannot("--table", path, &why))?;
        Ok(Self { path: path.to_owned(), is_parquet, file, rows: Vec::new() })
    }
    fn write(self) -> Done {
        let file = BufWriter::new(self.file);
        let written = if self.is_parquet {
            write_parquet(&self.rows, file).map_err(|why| why.to_string())
        } else {
            write_csv(&self.rows, file).map_err(|why| why.to_string())
        };
        written.map_err(|why| cannot("--table", &self.path, &why))
    }
}

fn cannot(flag: &str, path: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::Input(format!("{flag}: cannot write {}: {why}", path.display()))
}

// --- output ----------------------------------------------------------------------------------

struct Told<'a> {
    emulator: &'a PacketEmulator,
    carried_s: f64,
    ended: Option<Ended>,
}

const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)];

impl Told<'_> {
    fn text(&self) -> String {
        let refused = self.emulator.refused();
        let mut text = String::new();
        for ((way, counts), refused) in ["there", "back"].iter().zip(self.emulator.counts()).zip(refused) {
            text += &format!(
                "{}: {} of {} packets arrived, {} dropped, {} lost",
                way,
                counts.arrived,
                counts.offered + refused,
                counts.dropped,
                counts.lost
            );
            text +=
                &if refused > 0 { format!(", {refused} had no room in memory\n") } else { "\n".to_owned() };
        }
        let late = QUANTILES.map(|(name, share)| format!("{name} {:.0} us", self.late_us(share)));
        text + &format!(
            "timing error: {}; {:.2} s of a processor in {:.2} s\n",
            late.join(", "),
            processor_time().as_secs_f64(),
            self.carried_s
        )
    }
    fn late_us(&self, share: f64) -> f64 {
        self.emulator.lateness().quantile(share).as_nanos() as f64 / 1e3
    }
    fn json(&self) -> Value {
        let [bytes, refused] = [self.emulator.arrived_bytes(), self.emulator.refused()];
        let way = |index: usize| {
            let mut way = counts(&self.emulator.counts()[index]);
            way["arrived_bytes"] = bytes[index].into();
            way["no_memory"] = refused[index].into();
            way
        };
        let late = QUANTILES.map(|(name, share)| (name.to_owned(), json!(self.late_us(share))));
        let bins = self.emulator.lateness().histogram();
        let bins: Vec<Value> =
            bins.iter().map(|(up_to, packets)| json!([up_to.as_nanos() as f64 / 1e3, packets])).collect();
        let mut late: serde_json::Map<String, Value> = late.into_iter().collect();
        late.insert("histogram".to_owned(), bins.into());
        json!({
            "there": way(0),
            "back": way(1),
            "timing_error_us": late,
            "duration_s": self.carried_s,
            "processor_s": processor_time().as_secs_f64(),
            "exit_code": self.ended.map(|Ended(code)| code),
        })
    }
}
