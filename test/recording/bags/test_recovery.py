# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is left of a broken bag becomes a whole one, and the broken one stays as it is."""

from __future__ import annotations

import hashlib
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcap.writer import Writer
from pendulum_experiment import write_pendulum_experiment
from rosbags.highlevel import AnyReader

from sysid_ros.cli import main
from sysid_ros.errors import BagError, ErrorCode, OutputError
from sysid_ros.recording.bags import (
    BagFolder,
    BagTopic,
    QosProfile,
    open_recording,
    read_extras,
    recover,
)

TEXT = "float64 data\n"
COUNT = 300


def write_bag(folder: Path, *, close: bool = True, compression: str = "none") -> Path:
    bag = BagFolder(folder, "broken", compression, dated=False)
    bag.attach("experiment.yaml", "application/yaml", b"model: arm.xml\n")
    bag.add_record("sysid_ros.model", {"sha256": "abc"})
    profile = QosProfile(history="keep_last", depth=7, reliability="best_effort")
    channels = [
        bag.add_topic(BagTopic(name, "std_msgs/msg/Float64", TEXT, "", (profile,)))
        for name in ("/first", "/second")
    ]
    for number in range(COUNT):
        bag.write(channels[number % 2], cdr(number), log_ns=1000 + number, publish_ns=900 + number)
        if number % 20 == 19:
            bag.flush()
    if close:
        bag.close()
    return bag.path


def cdr(number: int) -> bytes:
    return b"\x00\x01\x00\x00" + bytes(4) + number.to_bytes(8, "little")


def times(path: Path) -> list[tuple[int, int | None]]:
    with open_recording(path) as recording:
        return [(m.log_ns, m.publish_ns) for m in recording.messages()]


def digests(folder: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(share=st.floats(0.1, 1.0), compression=st.sampled_from(["none", "zstd", "lz4"]))
def test_file_cut_anywhere_keeps_what_came_before(
    tmp_path_factory: pytest.TempPathFactory, share: float, compression: str
):
    bag = write_bag(tmp_path_factory.mktemp("cut"), compression=compression)
    (bag / "metadata.yaml").unlink()
    file = bag / "broken_0.mcap"
    content = file.read_bytes()
    file.write_bytes(content[: round(share * len(content))])
    before = digests(bag)
    try:
        recovery = recover(bag)
    except BagError as error:
        assert "holds no messages" in str(error)
        assert share < 0.5
        return
    assert digests(bag) == before
    saved = times(recovery.path)
    assert saved == [(1000 + number, 900 + number) for number in range(len(saved))]
    assert len(saved) >= COUNT * (share - 0.4)
    assert recovery.messages == len(saved)
    with AnyReader([recovery.path]) as reader:
        assert reader.message_count == len(saved)
        assert len(reader.connections[0].ext.offered_qos_profiles) == 1


def test_attachments_records_and_qos_survive(tmp_path: Path):
    bag = write_bag(tmp_path, close=False)
    recovery = recover(bag)
    extras = read_extras(recovery.path / "broken_recovered_0.mcap")
    assert [(a.name, a.data) for a in extras.attachments] == [
        ("experiment.yaml", b"model: arm.xml\n")
    ]
    assert extras.records is not None
    assert extras.records["sysid_ros.model"] == {"sha256": "abc"}
    with open_recording(recovery.path) as recording:
        assert "best_effort" in recording.topic("/first").qos
        assert "depth: 7" in recording.topic("/first").qos


def test_damaged_chunk_costs_only_itself(tmp_path: Path):
    bag = write_bag(tmp_path)
    file = bag / "broken_0.mcap"
    content = bytearray(file.read_bytes())
    middle = content.index(cdr(150))
    content[middle + 8] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(BagError, match="checksum"):
        times(bag)
    recovery = recover(bag)
    assert recovery.messages == COUNT - 20
    assert any("the chunk is left out" in warning for warning in recovery.warnings)
    assert any(f"promises {COUNT} messages" in warning for warning in recovery.warnings)


def test_metadata_that_disagrees_with_the_files_is_ignored(tmp_path: Path):
    bag = write_bag(tmp_path)
    (bag / "broken_0.mcap").rename(bag / "renamed_0.mcap")
    with pytest.raises(BagError, match="incomplete"):
        times(bag)
    assert recover(bag).messages == COUNT


def test_files_of_a_split_bag_become_one(tmp_path: Path):
    bag = BagFolder(tmp_path, "split", dated=False)
    channel = bag.add_topic(BagTopic("/first", "std_msgs/msg/Float64", TEXT, ""))
    for part in range(3):
        for number in range(10):
            bag.write(channel, cdr(number), log_ns=10 * part + number, publish_ns=1)
        bag.split()
    bag.write(channel, cdr(0), log_ns=30, publish_ns=1)
    bag.flush()  # and never closed
    shutil.copy(bag.path / "split_1.mcap", bag.path / "split_2.mcap")
    (bag.path / "split_1.mcap").write_bytes(b"")
    recovery = recover(bag.path)
    assert recovery.messages == 21
    assert any("split_1.mcap is empty" in warning for warning in recovery.warnings)


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_killed_sqlite_recorder(tmp_path: Path, mode: str):
    """A real writer killed within a transaction that has reached the file."""
    bag = tmp_path / "bag"
    bag.mkdir()
    script = f"""
import os, signal, sqlite3
db = sqlite3.connect({str(bag / "bag.db3")!r}, isolation_level=None)
db.execute("PRAGMA journal_mode={mode}")
db.execute("PRAGMA cache_size=5")
db.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT,"
           " serialization_format TEXT, offered_qos_profiles TEXT)")
db.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER,"
           " data BLOB)")
db.execute("INSERT INTO topics VALUES(1, '/value', 'std_msgs/msg/Float64', 'cdr', '')")
def insert(count):
    db.execute("BEGIN")
    for number in range(count):
        db.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES(1, ?, ?)",
                   (number, bytes([0, 1, 0, 0]) + bytes(1000)))
insert(100)
db.execute("COMMIT")
insert(1000)
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    before = digests(bag)
    assert f"bag.db3-{'wal' if mode == 'wal' else 'journal'}" in before
    recovery = recover(bag)
    assert digests(bag) == before
    assert recovery.messages == 100
    with AnyReader([recovery.path]) as reader:  # it has a definition now
        assert {c.msgtype for c in reader.connections} == {"std_msgs/msg/Float64"}
        assert all(c.msgdef.data for c in reader.connections)


def test_command_says_what_it_saved(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    bag = write_bag(tmp_path, close=False)
    assert main(["recover", str(bag)]) == 0
    text = capsys.readouterr().out
    assert "broken_recovered: 300 messages" in text
    assert main(["recover", str(bag)]) == 0  # never over what is there
    assert (tmp_path / "broken_recovered_2" / "metadata.yaml").is_file()
    output = str(tmp_path / "broken_recovered")
    assert main(["recover", str(bag), "--output", output]) == ErrorCode.OUTPUT_UNWRITABLE
    assert main(["recover", str(tmp_path / "nothing")]) == ErrorCode.BAG_UNREADABLE


def test_half_a_copy_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bag = write_bag(tmp_path, close=False)

    def full(*message: Any, **times: int) -> None:
        raise OutputError("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(BagFolder, "write", full)
        with pytest.raises(OutputError, match="No space"):
            recover(bag, output=tmp_path / "whole")
    assert recover(bag, output=tmp_path / "whole").messages == 300


def test_fit_reads_a_bag_whose_recorder_was_killed(tmp_path: Path):
    experiment = write_pendulum_experiment(tmp_path)
    cut = [file for file in tmp_path.rglob("*") if file.suffix == ".mcap"]
    for file in cut:
        content = file.read_bytes()
        file.write_bytes(content[: round(0.8 * len(content))])
        (file.parent / "metadata.yaml").unlink()
    assert cut
    assert main(["fit", str(experiment), "--output", str(tmp_path / "results"), "--quiet"]) == 0


def write_mcap(path, schemas, encoding, messages):
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        for number, (kind, language, text) in enumerate(schemas):
            schema = writer.register_schema(kind, language, text.encode())
            channel = writer.register_channel("/topic", encoding, schema)
            for k, data in enumerate(messages):
                at = 10**18 + (10 * number + k) * 10**9
                writer.add_message(channel, at, data, at)
        writer.finish()


def test_messages_of_ros1_are_not_called_those_of_ros2(tmp_path):
    schema = ("std_msgs/Float64", "ros1msg", "float64 data")
    write_mcap(tmp_path / "old.mcap", [schema], "ros1", [struct.pack("<d", 1.0)] * 3)
    found = recover(tmp_path / "old.mcap")
    assert found.messages == 0
    assert "serialized as 'ros1'" in found.warnings[0]


def test_versions_of_a_type_stay_apart(tmp_path):
    (tmp_path / "bag").mkdir()
    data = b"\0\1\0\0" + struct.pack("<dd", 1.0, 2.0)
    for number, text in enumerate(("float64 a\nfloat64 b\n", "float64 b\nfloat64 a\n")):
        schema = ("my/msg/Two", "ros2msg", text)
        write_mcap(tmp_path / "bag" / f"bag_{number}.mcap", [schema], "cdr", [data] * 3)
    with open_recording(recover(tmp_path / "bag").path) as recording:
        assert len(recording.topics["/topic"].other_definitions) == 1


def test_a_decompressed_copy_is_not_saved_again(tmp_path: Path) -> None:
    bag = write_bag(tmp_path / "bag")
    (file,) = bag.glob("*.mcap")
    packed = zstandard.compress(file.read_bytes())
    file.with_name(file.name + ".zstd").write_bytes(packed)
    assert recover(bag).messages == COUNT
