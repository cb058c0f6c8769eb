"""Speed and memory of the world of packets, beside ns-2 and ns-3 where they are installed: `make bench`.

python3 tools/bench_packets.py --binary target/release/lightlag [--seconds 10000] [--ns3-python PYTHON]

Speed: one NewReno flow over 10 Mbit/s, a one-way delay of 25 ms, a queue of 60 packets, as many simulated
seconds as asked for; packets are data and acknowledgements that were sent over the link. Memory: 200,000
packets in flight on 1 Gbit/s at a round trip of 2.4 s, sent at a rate, less what a run with next to none
takes.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import timed

SPEED = """\
duration = "{seconds} s"
[links.wire]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "25 ms"
queue = "60 packets"
[flows.file]
from = "a"
to = "b"
transport = "tcp"
controller = "new_reno"
packet_size = "1500 B"
"""

MEMORY = """\
duration = "1000 s"
[links.wire]
from = "a"
to = "b"
rate = "1 Gbit/s"
delay = "1.2 s"
queue = "1000 packets"
[flows.file]
from = "a"
to = "b"
transport = "tcp"
controller = {{ name = "fixed", rate = "{rate}" }}
packet_size = "1500 B"
size = "{size}"
"""

NS2 = """\
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 10Mb 25ms DropTail
$ns queue-limit $a $b 60
$ns queue-limit $b $a 60
set tcp [new Agent/TCP/Newreno]
$tcp set packetSize_ 1460
$tcp set window_ 1000000
set sink [new Agent/TCPSink/DelAck]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0 "$ftp start"
$ns at {seconds} {{ puts "[$tcp set ndatapack_] [$tcp set ack_]"; exit 0 }}
$ns run
"""

NS3 = """\
import time
from ns import ns
ns.Config.SetDefault("ns3::TcpL4Protocol::SocketType", ns.StringValue("ns3::TcpNewReno"))
ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(1448))
ns.Config.SetDefault("ns3::TcpSocket::SndBufSize", ns.UintegerValue(1 << 24))
ns.Config.SetDefault("ns3::TcpSocket::RcvBufSize", ns.UintegerValue(1 << 24))
nodes = ns.NodeContainer()
nodes.Create(2)
wire = ns.PointToPointHelper()
wire.SetDeviceAttribute("DataRate", ns.StringValue("10Mbps"))
wire.SetChannelAttribute("Delay", ns.StringValue("25ms"))
wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns.StringValue("60p"))
devices = wire.Install(nodes)
ns.InternetStackHelper().Install(nodes)
addresses = ns.Ipv4AddressHelper()
addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
places = addresses.Assign(devices)
here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 9).ConvertTo()
there = ns.InetSocketAddress(places.GetAddress(1), 9).ConvertTo()
sink = ns.PacketSinkHelper("ns3::TcpSocketFactory", here).Install(nodes.Get(1))
bulk = ns.BulkSendHelper("ns3::TcpSocketFactory", there)
bulk.SetAttribute("MaxBytes", ns.UintegerValue(0))
bulk.Install(nodes.Get(0)).Start(ns.Seconds(0))
ns.Simulator.Stop(ns.Seconds({seconds}))
began = time.process_time()
ns.Simulator.Run()
took = time.process_time() - began
print(sink.Get(0).GetTotalRx() // 1448, took)
"""

# ns-3 is a hundred times slower: this many seconds are enough to see how fast it is.
NS3_SECONDS = 100
# What a packet in flight may take.
GOAL_BYTES_A_PACKET = 64.0
GOAL_GROWTH_MB = 1.0
# Packets of 1500 B: just below the rate of the link, for a whole round trip.
RATE_BIT_PER_S = 995_000_000
ROUND_TRIP_S = 2.4


def peak_bytes(command: list[str]) -> float:
    """Peak resident bytes. The system's own figure at the end counts this program too, as the parent."""
    peak_kb = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            found = re.search(r"VmHWM:\s+(\d+)", status)
            # Before it has become another program it is a copy of this one.
            if found and Path(command[0]).name[:15] in status.splitlines()[0]:
                peak_kb = max(peak_kb, int(found[1]))
            time.sleep(0.002)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit code {process.returncode}")
    return peak_kb * 1024.0


def command(binary: Path, folder: Path, text: str, *flags: str) -> list[str]:
    """Of a run of ours."""
    scenario = folder / "scenario.toml"
    scenario.write_text(text)
    return [str(binary), "run", str(scenario), "--json", *flags]


def ours(binary: Path, folder: Path, seconds: int, repeat: int) -> None:
    """Prints our speed, with the judge and without."""
    text = SPEED.format(seconds=seconds)
    for label, flags in (("no judge", ("--no-judge",)), ("judged", ())):
        runs = [timed(command(binary, folder, text, *flags)) for _ in range(repeat)]
        cpu_s, figures = min(r[0] for r in runs), json.loads(runs[0][2])
        data = figures["packets_sent"] - figures["packets_dropped"]
        # One acknowledgement for two segments, as of every receiver here.
        tell(f"lightlag, {label}", data * 1.5, cpu_s)


def tell(name: str, packets: float, cpu_s: float) -> None:
    """Prints a line of the table of speeds."""
    rate = packets / cpu_s / 1e6
    print(f"{name:22}{packets / 1e6:>10.2f}{cpu_s:>9.2f}{rate:>12.2f}", flush=True)


def ns2(folder: Path, seconds: int) -> None:
    """Prints ns-2's speed, or why it is skipped."""
    program = shutil.which("ns")
    if program is None:
        print("ns-2: skipped, `ns` is not installed")
        return
    script = folder / "speed.tcl"
    script.write_text(NS2.format(seconds=seconds))
    cpu_s, _, printed = timed([program, str(script)])
    data, _ = map(int, printed.split()[-2:])
    tell("ns-2", data * 1.5, cpu_s)


def ns3(folder: Path, interpreter: str) -> None:
    """Prints the speed of ns-3 without the start of its Python bindings, or why it is skipped."""
    script = folder / "speed.py"
    script.write_text(NS3.format(seconds=NS3_SECONDS))
    ran = subprocess.run([interpreter, str(script)], capture_output=True, text=True, check=False)
    if ran.returncode:
        last = ran.stderr.strip().splitlines()[-1:] or ["no reason given"]
        print(f"ns-3: skipped, `{interpreter}` has no module `ns` of 3.44 (`pip install ns3`): {last[0]}")
        return
    data, cpu_s = ran.stdout.split()[-2:]
    tell("ns-3", int(data) * 1.5, float(cpu_s))


def memory(binary: Path, folder: Path) -> None:
    """Prints what a packet in flight takes, and whether a long transfer takes more."""

    def peak(rate: str, size: str) -> float:
        return peak_bytes(command(binary, folder, MEMORY.format(rate=rate, size=size), "--no-judge"))

    under_way = RATE_BIT_PER_S / 8 / 1500 * ROUND_TRIP_S
    # Long enough to be looked at.
    least = peak("10 Mbit/s", "1 GB")
    short, long = (peak(f"{RATE_BIT_PER_S} bit/s", size) for size in ("1 GB", "10 GB"))
    each = (short - least) / under_way
    print(
        f"memory: {each:.1f} B for each of {under_way:,.0f} packets in flight"
        f" (< {GOAL_BYTES_A_PACKET:g} B{'' if each < GOAL_BYTES_A_PACKET else ' MISSED'});"
        f" peak {short / 1e6:.1f} MB for 1 GB, {long / 1e6:.1f} MB for 10 GB"
        f" (no more{'' if long - short < GOAL_GROWTH_MB * 1e6 else ' MISSED'})"
    )


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description="Speed and memory of the world of packets.")
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--seconds", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--ns3-python", default=sys.executable, help="a Python that has `ns3` of PyPI")
    options = parser.parse_args()
    print(f"{'':22}{'M packets':>10}{'CPU s':>9}{'M per CPU s':>12}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours(options.binary, folder, options.seconds, options.repeat)
        ns2(folder, options.seconds)
        ns3(folder, options.ns3_python)
        memory(options.binary, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
