"""What tshark and tcptrace say of our DCCP and LTP, an hour of each: `make fidelity`.

python3 tools/fidelity_dccp.py --binary target/release/lightlag [--keep FOLDER]

Flows run in the world of packets over a path with losses, overtaking and duplicates, and are captured at
their senders. tshark shows no malformed packet, nothing to warn of and no wrong checksum, also where DCCP was
carried in UDP and rewritten as IP protocol 33. tcptrace reads `--to-tcp`: its figures are those that we show
of the same file, and packets and bytes are those that we show of the DCCP. What needs a tool that is missing
is skipped.
"""

from __future__ import annotations

import argparse
import json
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fidelity_capture

SCENARIO = """
duration = "6000 s"
[parameters]
transport = "dccp"
controller = "ccid2"
loss = 0.001
[links.near]
from = "lander"
to = "relay"
rate = "2 Mbit/s"
delay = "10 ms"
[links.far]
from = "relay"
to = "earth"
rate = "1 Mbit/s"
delay = "90 ms"
loss = "$loss"
reorder = { share = 0.001, delay = "20 ms" }
duplicate = 0.0005
queue = "40 packets"
[flows.file]
from = "lander"
to = "earth"
count = 2
apart = "7 s"
transport = "$transport"
controller = "$controller"
size = "230 MB"
"""
HALF = '{ name = "fixed", rate = "450 kbit/s" }'
CASES = [
    # name, transport, controller, loss
    ("ccid2", "dccp", "ccid2", "0.001"),
    ("ccid3", "dccp", "ccid3", "0.001"),
    ("ltp_fixed", "ltp", HALF, "0.01"),
    ("ltp_ccid2", "ltp", "ccid2", "0.001"),
    ("ltp_dccp", "ltp-dccp", "ccid2", "0.001"),
    # So bad that sessions are given up.
    ("ltp_cancelled", "ltp", '{ name = "fixed", rate = "50 kbit/s" }', "0.9"),
]
CHECKSUMS = ["ip", "udp", "tcp", "dccp"]
# tshark up to 4.0 wants content in an acknowledgement of a cancellation, which has none (RFC 5326, section
# 3.2.4): it calls these malformed, and only these are passed over.
CANCEL_ACKNOWLEDGEMENTS = {"0x0d", "0x0f", "13", "15"}
# Packets whose checksums are looked at: payloads must be whole for it.
WHOLE_PACKETS = 20_000


def run(binary: Path, scenario: Path, case: tuple[str, str, str, str], capture: Path) -> float:
    """Runs a case with a capture; how long it took in the world."""
    _, transport, controller, loss = case
    command = [str(binary), "run", str(scenario), "--json", "--trace", str(capture)]
    for name, value in (("transport", transport), ("controller", controller), ("loss", loss)):
        command += ["--set", f"{name}={value}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return float(told(binary, capture)["duration_s"])


def told(binary: Path, capture: Path) -> dict[str, Any]:
    """What we say of a capture."""
    command = [str(binary), "capture", "--json", str(capture)]
    figures: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return figures


def rewritten(binary: Path, option: str, capture: Path, to: Path) -> Path:
    """A capture rewritten."""
    command = [str(binary), "capture", str(capture), option, str(to)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return to


def fields(capture: Path, shown: str, names: list[str]) -> Iterator[list[str]]:
    """Fields of the packets that tshark's filter shows."""
    command = ["tshark", "-r", str(capture), "-Y", shown, "-T", "fields"]
    for name in names:
        command += ["-e", name]
    for protocol in CHECKSUMS:
        command += ["-o", f"{protocol}.check_checksum:TRUE"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stderr
        for line in process.stdout:
            yield line.rstrip("\n").split("\t")
        wrong = process.stderr.read()
    if process.returncode != 0:
        raise SystemExit(f"tshark ended with exit code {process.returncode}: {wrong.strip()}")


def odd(capture: Path, protocol: str) -> tuple[Counter[str], int]:
    """What tshark warns of, how often, and how many acknowledgements of cancellations it passed over.

    Packets that are not dissected as `protocol` count too.
    """
    found: Counter[str] = Counter()
    passed = 0
    shown = f"_ws.expert or _ws.malformed or not {protocol}"
    for kind, *words in fields(capture, shown, ["ltp.type", "_ws.expert.message", "_ws.malformed"]):
        text = " ".join(word for word in words if word)
        if "alformed" in text and kind in CANCEL_ACKNOWLEDGEMENTS:
            passed += 1
        else:
            found[text or f"not dissected as {protocol}"] += 1
    return found, passed


def packets_of_ip(capture: Path) -> Iterator[tuple[bytes, bytes]]:
    """Record heads and whole packets of a capture of ours (raw IP, big-endian); what was cut is zeros."""
    data = capture.read_bytes()
    at = 24
    while at + 16 <= len(data):
        head = data[at : at + 16]
        kept, length = struct.unpack(">II", head[8:])
        yield head[:8], data[at + 16 : at + 16 + kept].ljust(length, b"\0")
        at += 16 + kept


def write(path: Path, head: bytes, records: list[tuple[bytes, bytes]]) -> None:
    """A capture of these packets."""
    with path.open("wb") as out:
        out.write(head)
        for time, packet in records:
            out.write(time + struct.pack(">II", len(packet), len(packet)) + packet)


def in_udp(packet: bytes) -> bytes:
    """A packet of IPv4 with DCCP as one with DCCP in UDP (RFC 6773), whose checksum is that of UDP: none."""
    dccp = packet[20:26] + b"\0\0" + packet[28:]
    udp = struct.pack(">HHHH", 6511, 6511, 8 + len(dccp), 0) + dccp
    head = bytearray(packet[:20])
    head[2:4] = struct.pack(">H", 20 + len(udp))
    head[9] = 17
    return bytes(head) + udp


def check_udp(binary: Path, capture: Path, folder: Path) -> list[str]:
    """What is wrong with DCCP in UDP once it is rewritten, as tshark sees it."""
    plain = rewritten(binary, "--to-dccp", capture, folder / "plain.pcap")
    head = plain.read_bytes()[:24]
    records = [record for record, _ in zip(packets_of_ip(plain), range(WHOLE_PACKETS), strict=False)]
    inside = folder / "inside.pcap"
    write(inside, head, [(time, in_udp(packet)) for time, packet in records])
    back = rewritten(binary, "--to-dccp", inside, folder / "back.pcap")
    wrong = [f"{count} times: {text}" for text, count in odd(back, "dccp")[0].items()]
    good = sum(1 for _ in fields(back, 'dccp.checksum.status == "Good"', ["frame.number"]))
    if good != len(records):
        wrong.append(f"tshark finds {good} good checksums in {len(records)} packets")
    if [packet[20:] for _, packet in packets_of_ip(back)] != [packet[20:] for _, packet in records]:
        wrong.append("packets differ from those that were put into UDP")
    return wrong


def check_tcp(binary: Path, capture: Path, folder: Path) -> list[str]:
    """Where tcptrace and we differ on DCCP that was rewritten as TCP."""
    file = rewritten(binary, "--to-tcp", capture, folder / "as_tcp.pcap")
    compared, differ = fidelity_capture.compare(binary, file)
    wrong = [f"{differ} of {compared} figures differ from tcptrace's"] if differ else []
    # Numbers of packets and bytes are those of the DCCP itself.
    exact = [("total packets", "packets"), ("actual data bytes", "data_bytes")]
    exact += [("unique bytes sent", "unique_bytes")]
    for flow, ways in zip(told(binary, capture)["flows"], fidelity_capture.theirs(file), strict=True):
        for way, their in zip(("out", "back"), ways, strict=True):
            half = flow[way]
            for their_name, our_name in exact:
                if their[their_name] != half[our_name]:
                    wrong.append(f"{their_name} {their[their_name]}, DCCP's {our_name} {half[our_name]}")
        wrong += check_round_trips(ways[0], flow["out"])
    return wrong


def check_round_trips(their: dict[str, float], half: dict[str, Any]) -> list[str]:
    """Where round trips of DCCP are others than those of the TCP made of it.

    The opening, which is the shortest, is the same packet. Of DCCP's others the time that the receiver waited
    is taken away, and those above a gap count: means are near each other, not the same.
    """
    wrong = []
    for their_name, name, apart in (("RTT min", "min", 0.0), ("RTT avg", "avg", 0.02)):
        value = half["rtt_ms"][name]
        if abs(their[their_name] - value) > max(0.051, apart * value):
            wrong.append(f"{their_name} {their[their_name]}, DCCP's {value:.1f}")
    return wrong


def check(binary: Path, case: tuple[str, str, str, str], folder: Path) -> list[str]:
    """Runs a case; what is wrong with it. Prints what was looked at."""
    name, transport, *_ = case
    capture, scenario = folder / f"{name}.pcapng", folder / "scenario.toml"
    scenario.write_text(SCENARIO)
    duration_s = run(binary, scenario, case, capture)
    wrong = [] if duration_s >= 3600 else [f"the capture is {duration_s:.0f} s long, not an hour"]
    passed = 0
    if shutil.which("tshark"):
        found, passed = odd(capture, transport.removeprefix("ltp-"))
        wrong += [f"tshark, {count} times: {text}" for text, count in found.items()]
        if transport == "dccp":
            wrong += check_udp(binary, capture, folder)
    if transport == "dccp" and shutil.which("tcptrace"):
        wrong += check_tcp(binary, capture, folder)
    count = told(binary, capture)["packets"]
    also = f", {passed} acknowledgements of cancellations that tshark misreads passed over" if passed else ""
    print(f"{name}: {count} packets in {duration_s:.0f} s{also}: {'; '.join(wrong) or 'nothing is wrong'}")
    return wrong


def main() -> int:
    """Prints a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="folder for the captures")
    options = parser.parse_args()
    for tool in ("tshark", "tcptrace"):
        if shutil.which(tool) is None:
            print(f"what {tool} says is skipped, as it is not installed")
    if shutil.which("tshark") is None and shutil.which("tcptrace") is None:
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        wrong = [check(options.binary, case, folder) for case in CASES]
    return 1 if any(wrong) else 0


if __name__ == "__main__":
    sys.exit(main())
