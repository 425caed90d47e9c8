# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Bags that recorders, disks and people leave behind, as a user of the command line sees them."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcap.writer import CompressionType, IndexType
from mcap.writer import Writer as McapWriter
from rosbags.rosbag1 import Writer as Rosbag1Writer
from rosbags.rosbag2 import CompressionMode

from sysid_ros.cli import main
from sysid_ros.errors import BagError, ErrorCode
from sysid_ros.recording.bags import open_recording

START = 1_700_000_000_000_000_000
POINT = "float64 x\nfloat64 y\n"
KIND = "odd_msgs/msg/Pair"


def info(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any] | str:
    """What ``sysid_ros info`` says, or the one sentence with which it refuses."""
    capsys.readouterr()
    status = main(["info", str(path), "--json"])
    printed = capsys.readouterr()
    if status == ErrorCode.NONE:
        found: dict[str, Any] = json.loads(printed.out)
        return found
    assert status == ErrorCode.BAG_UNREADABLE
    assert printed.err.startswith("sysid_ros: ")
    assert printed.err.count("\n") == 1
    return printed.err


def write_mcap(
    path: Path,
    *,
    encoding: str = "cdr",
    schema: tuple[str, str, bytes] = (KIND, "ros2msg", POINT.encode()),
    data: bytes = bytes([0, 1, 0, 0, *bytes(16)]),
    first: int = START,
    **options: Any,
) -> Path:
    """Write fifty messages with the options of the mcap library's writer."""
    with path.open("wb") as stream:
        writer = McapWriter(stream, **options)
        writer.start()
        channel = writer.register_channel("/pair", encoding, writer.register_schema(*schema))
        for tick in range(50):
            writer.add_message(channel, first + tick, data, first + tick)
        writer.finish()
    return path


@pytest.mark.parametrize("compression", list(CompressionType))
@pytest.mark.parametrize(
    "options",
    [
        {"use_chunking": False},
        {"chunk_size": 100},
        {"index_types": IndexType.NONE},
        {"repeat_channels": False, "repeat_schemas": False},
        {"use_summary_offsets": False, "enable_crcs": False},
    ],
)
def test_whatever_a_writer_leaves_out(tmp_path, capsys, compression, options) -> None:
    found = info(write_mcap(tmp_path / "a.mcap", compression=compression, **options), capsys)
    assert (found["messages"], found["promised"], found["warnings"]) == (50, 50, [])
    assert found["topics"][0]["problem"] is None


@pytest.mark.parametrize("name", ["protobuf", "json", "flatbuffer", ""])
def test_other_encodings_are_refused(tmp_path, capsys, name) -> None:
    bag = write_mcap(tmp_path / "a.mcap", encoding=name, schema=("Pair", name or "x", b"?"))
    assert f"is serialized as {name!r}" in info(bag, capsys)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"data": b""}, "starts with nothing"),
        ({"data": b"\0\1\0\0"}, "4 bytes does not fit"),
        ({"data": bytes([0, 1, 0, 0, *bytes(32)])}, "36 bytes does not fit"),
        ({"schema": (KIND, "ros2msg", b"float64 [")}, "is malformed"),
        ({"schema": (KIND, "ros2msg", b"\xff\xfe")}, "is malformed"),
        ({"schema": (KIND, "ros2msg", b"")}, "has no definition"),
        ({"schema": ("", "", b"")}, "does not say of which type"),
        ({"schema": (KIND, "ros2msg", b"wstring x\n")}, "uses wstring"),
    ],
)
def test_topics_that_cannot_be_decoded_are_said(tmp_path, capsys, changes, complaint) -> None:
    found = info(write_mcap(tmp_path / "a.mcap", **changes), capsys)
    assert complaint in found["topics"][0]["problem"]


def test_times_beyond_those_of_ros(tmp_path, capsys) -> None:
    bag = write_mcap(tmp_path / "a.mcap", first=2**63)
    assert "dated after the year 2262" in info(bag, capsys)


@pytest.mark.parametrize(
    "content",
    ["", "- 1", "a: &a [*a]", "a: " + "[" * 5000, "a:\n\t- b", "\0", "topics", "count", "encoding"],
)
def test_damaged_metadata_is_refused_and_can_be_done_without(
    arm, write_bag, capsys, content
) -> None:
    bag = write_bag(arm)
    text = (bag / "metadata.yaml").read_text()
    content = {
        "topics": text.replace("topics_with_message_count:", "topics:"),
        "count": text.replace("message_count: 100", "message_count: many"),
        "encoding": "\ufeff" * 3 + "\udcff",
    }.get(content, content)
    (bag / "metadata.yaml").write_bytes(content.encode(errors="surrogateescape"))
    refusal = info(bag, capsys)
    assert "metadata.yaml" in refusal
    assert "sysid_ros recover" in refusal
    assert info(bag / "bag.mcap", capsys)["messages"] == len(arm)


@pytest.mark.parametrize("form", ["mcap", "sqlite3"])
@pytest.mark.parametrize("promised", [90, 110])
def test_a_promise_that_is_not_kept_is_said(arm, write_bag, capsys, form, promised) -> None:
    bag = write_bag(arm, form=form)
    metadata = bag / "metadata.yaml"
    text = metadata.read_text()
    assert "message_count: 100" in text
    metadata.write_text(text.replace("message_count: 100", f"message_count: {promised}"))
    total = promised + 50
    assert info(bag, capsys)["warnings"] == [f"the bag promises {total} messages, 150 were read."]


def test_rows_without_a_topic_are_missed(arm, write_bag, capsys) -> None:
    bag = write_bag(arm, form="sqlite3")
    with sqlite3.connect(bag / "bag.db3") as database:
        database.execute("UPDATE messages SET topic_id = 77 WHERE id > 140")
    database.close()
    assert info(bag, capsys)["warnings"] == [
        "bag.db3: 10 messages belong to no topic and are left out.",
        "the bag promises 150 messages, 140 were read.",
    ]


def test_what_is_no_recording(tmp_path, arm, write_bag, capsys) -> None:
    assert "neither a file nor a folder" in info(Path("/dev/null"), capsys)
    assert "cannot be read" in info(Path("a" * 5000), capsys)
    folder = tmp_path / "several"
    folder.mkdir()
    for number, name in enumerate(("walk.mcap", "run1.mcap", "run2.mcap", "run_1.mcap")):
        shutil.copy(write_bag(arm, f"of_{number}") / f"of_{number}.mcap", folder / name)
    assert "several recordings" in info(folder, capsys)
    (folder / "walk.mcap").unlink()
    (folder / "run_1.mcap").unlink()
    assert "several recordings (run1.mcap, run2.mcap)" in info(folder, capsys)


def test_parts_of_a_recording(tmp_path, arm, write_bag, capsys) -> None:
    folder = tmp_path / "split"
    folder.mkdir()
    for number in range(3):
        part = write_bag(arm[50 * number : 50 * number + 50], f"of_{number}")
        shutil.copy(part / f"of_{number}.mcap", folder / f"run_2026-01-0{number + 1}_{number}.mcap")
    assert (info(folder, capsys)["messages"], info(folder, capsys)["warnings"]) == (150, [])
    (folder / "run_2026-01-04_3.mcap").touch()
    found = info(folder, capsys)
    assert found["messages"] == 150
    assert found["warnings"] == ["run_2026-01-04_3.mcap is empty (0 bytes) and was left out."]
    (folder / "run_2026-01-02_1.mcap").unlink()
    assert "lacks part 1" in info(folder, capsys)["warnings"][0]
    for file in folder.iterdir():
        file.write_bytes(b"")
    assert "all of its files are empty" in info(folder, capsys)


def test_two_versions_of_a_type_are_not_mixed(tmp_path, capsys) -> None:
    folder = tmp_path / "split"
    folder.mkdir()
    write_mcap(folder / "a_0.mcap")
    write_mcap(folder / "a_1.mcap", schema=(KIND, "ros2msg", b"# a comment\nfloat64 x\nfloat64 y"))
    assert info(folder, capsys)["topics"][0]["problem"] is None
    write_mcap(folder / "a_1.mcap", schema=(KIND, "ros2msg", b"float64 y\nfloat64 x\n"))
    assert "different versions of odd_msgs/msg/Pair" in info(folder, capsys)["topics"][0]["problem"]


@pytest.mark.parametrize("form", ["mcap", "sqlite3"])
def test_compressed_messages_need_no_metadata(arm, write_bag, capsys, form) -> None:
    bag = write_bag(arm, form=form, compression=CompressionMode.MESSAGE)
    (bag / "metadata.yaml").unlink()
    found = info(bag, capsys)
    assert found["messages"] == len(arm)
    assert [topic["problem"] for topic in found["topics"]] == [None, None]


@pytest.fixture(scope="module")
def kinds(tmp_path_factory) -> Path:
    """A folder with one file of each kind, of fifty messages each."""
    folder = tmp_path_factory.mktemp("kinds")
    for compression in CompressionType:
        for chunked in (True, False):
            path = folder / f"{compression.name}_{chunked}.mcap"
            write_mcap(path, compression=compression, use_chunking=chunked, chunk_size=300)
    for name, mode in (("plain", None), *((m.name, m) for m in Rosbag1Writer.CompressionFormat)):
        writer = Rosbag1Writer(folder / f"{name}.bag")
        if mode is not None:
            writer.set_compression(mode)
        with writer:
            text = "float64 x\nfloat64 y\n"
            connection = writer.add_connection("/pair", KIND, msgdef=text, md5sum="0" * 32)
            for tick in range(50):
                writer.write(connection, START + tick, bytes(16))
    return folder


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_file_cut_anywhere_is_read_up_to_the_cut_or_refused(kinds, tmp_path, data) -> None:
    file = data.draw(st.sampled_from(sorted(kinds.iterdir())))
    whole = file.read_bytes()
    cut = tmp_path / file.name
    cut.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    try:
        with open_recording(cut) as recording:
            stamps = [message.log_ns for message in recording.messages()]
            warnings = recording.warnings
    except BagError as error:
        assert "\n" not in str(error)
        return
    assert stamps == [START + tick for tick in range(len(stamps))]
    assert warnings or len(stamps) == 50, "what is lost is never passed over"


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_never_raises_anything_but_a_bag_error(kinds, tmp_path, data) -> None:
    file = data.draw(st.sampled_from(sorted(kinds.iterdir())))
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
    damaged = tmp_path / file.name
    damaged.write_bytes(content)
    try:
        with open_recording(damaged) as recording:
            list(recording.messages())
    except BagError as error:
        assert str(damaged) in str(error)


def test_a_torn_chunk_of_ros1_gives_what_it_holds(kinds, tmp_path) -> None:
    whole = (kinds / "plain.bag").read_bytes()
    cut = tmp_path / "cut.bag"
    cut.write_bytes(whole[: whole.index(b"op=\x05") + 1500])
    with open_recording(cut) as recording:
        read = sum(1 for _ in recording.messages())
        assert recording.warnings
    assert 10 < read < 50


def test_a_compressed_file_that_was_cut_is_called_by_its_own_name(arm, write_bag, capsys) -> None:
    bag = write_bag(arm, compression=CompressionMode.FILE)
    file = next(bag.glob("*.zstd"))
    file.write_bytes(file.read_bytes()[:200])
    refusal = info(file, capsys)
    assert str(file) in refusal
    assert "cut off" in refusal
