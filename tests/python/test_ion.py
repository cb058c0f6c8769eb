"""The guide for ION, followed literally, where ION is installed."""

import os
import random
import re
import shutil
import struct
import subprocess
import time
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
BUILT = TOP / "target/debug"
FENCE = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Processes, addresses and shared memory of its own: leaving them stops every program of ION.
NAMESPACES = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--ipc", "--net", "--mount"]
SETUP = """
set -e
ip link set lo up
ip addr add 192.0.2.1/32 dev lo
ip addr add 192.0.2.7/32 dev lo
# What one sends to the other comes from its own address.
ip route replace local 192.0.2.7 dev lo table local src 192.0.2.1
ip route replace local 192.0.2.1 dev lo table local src 192.0.2.7
mount -t tmpfs tmpfs /dev/shm
"""
PATIENCE_S = 300


def _number(value: int, major: int = 0) -> bytes:
    """A head of CBOR (RFC 8949, section 3)."""
    if value < 24:
        return bytes([major << 5 | value])
    size = next(size for size in (1, 2, 4, 8) if value < 256**size)
    return bytes([major << 5 | 23 + size.bit_length()]) + value.to_bytes(size, "big")


def _crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
    return crc ^ 0xFFFFFFFF


def _endpoint(node: int, service: int) -> bytes:
    return _number(2, 4) + _number(2) + _number(2, 4) + _number(node) + _number(service)


def bundle(payload: bytes, service: int, sequence: int) -> bytes:
    """A bundle from ipn:977.1 to a service of node 1 (RFC 9171)."""
    created_ms = int((time.time() - 946_684_800) * 1000)
    ends = _endpoint(1, service) + _endpoint(977, 1) + _endpoint(977, 0)
    created = _number(2, 4) + _number(created_ms) + _number(sequence)
    fields = _number(7) + _number(4) + _number(2) + ends + created + _number(86_400_000)
    primary = _number(9, 4) + fields
    crc = _crc32c(primary + b"\x44" + bytes(4))
    block = _number(5, 4) + _number(1) + _number(1) + _number(0) + _number(0)
    return (
        b"\x9f"
        + primary
        + b"\x44"
        + struct.pack(">I", crc)
        + block
        + _number(len(payload), 2)
        + payload
        + b"\xff"
    )


def test_the_guide_for_ion_works_as_it_is_written(tmp_path: Path) -> None:
    if not shutil.which("ionadmin"):
        pytest.skip("ionadmin is not installed")
    if subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode:
        pytest.skip("namespaces cannot be made (needs root)")
    if not (BUILT / "lightlag").exists():
        pytest.skip("there is no lightlag; cargo build builds it")
    noise = random.Random(1).randbytes
    payloads = {"a": noise(1000), "b": noise(1_000_000), "c": noise(5000)}
    for sequence, (name, payload) in enumerate(payloads.items()):
        service = 2 if name == "c" else 1
        (tmp_path / f"{name}.bundle").write_bytes(bundle(payload, service, sequence))
    files = {"notes.txt": noise(1000), "photo.jpg": noise(1_000_000)}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    blocks = FENCE.findall((TOP / "docs/guide/ion.md").read_text())
    assert len(blocks) == 4, "ION's files, to ION, from ION, and both"
    # After each direction the files that arrived at ION are put aside.
    take = "\n".join(
        [
            "for _ in $(seq 600); do [ -e testfile2 ] && break; sleep 0.1; done; sleep 1",
            "mkdir -p at_ion; mv testfile* at_ion",
        ]
    )
    take_last = "for _ in $(seq 600); do [ -e testfile1 ] && break; sleep 0.1; done; sleep 1"
    script = "\n".join([SETUP, blocks[0], "sleep 2", blocks[1], take, blocks[2], blocks[3], take_last])
    environment = {**os.environ, "PATH": f"{BUILT}:{os.environ['PATH']}"}
    done = subprocess.run(
        [*NAMESPACES, "bash", "-c", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    at_ion = {file.read_bytes() for file in (tmp_path / "at_ion").iterdir()}
    assert at_ion == {payloads["a"], payloads["b"]}
    assert (tmp_path / "testfile1").read_bytes() == payloads["c"]
    here = [file.read_bytes() for file in (tmp_path / "inbox").iterdir()]
    for name, content in files.items():
        assert any(content in found for found in here), f"{name} came from ION"
    assert len(here) == 3, "notes.txt came twice, in two bundles"
