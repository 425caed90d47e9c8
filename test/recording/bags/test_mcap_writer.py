# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""MCAP files: read back by other readers, whole and cut off at any byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcap.reader import make_reader

from sysid_ros.recording.bags.mcap_writer import McapFile
from sysid_ros.recording.bags.storage_mcap import McapStorage

TEXT = "int32 data\n"


def write(path: Path, count: int, *, compression: str = "none", flush_every: int = 10) -> McapFile:
    file = McapFile(path, library="test", compression=compression)
    channels = [file.add_channel(f"/topic{i}", "pkg/msg/Int", "ros2msg", TEXT, {}) for i in (0, 1)]
    for number in range(count):
        data = b"\x00\x01\x00\x00" + number.to_bytes(4, "little")
        file.add_message(
            channels[number % 2],
            data,
            log_ns=1000 + number,
            publish_ns=900 + number,
            sequence=number,
        )
        if number % flush_every == flush_every - 1:
            file.flush()
    return file


@pytest.mark.parametrize("compression", ["none", "zstd", "lz4"])
def test_messages_come_back_with_both_times(tmp_path: Path, compression: str):
    path = tmp_path / "bag.mcap"
    write(path, 95, compression=compression).close()
    with path.open("rb") as stream:
        reader = make_reader(stream, validate_crcs=True)
        messages = list(reader.iter_messages())
        summary = reader.get_summary()
    assert [m.log_time for _, _, m in messages] == list(range(1000, 1095))
    assert [m.publish_time for _, _, m in messages] == list(range(900, 995))
    assert [m.sequence for _, _, m in messages] == list(range(95))
    assert {schema.name for schema, _, _ in messages if schema} == {"pkg/msg/Int"}
    assert summary is not None and summary.statistics is not None
    assert summary.statistics.message_count == 95
    assert summary.statistics.channel_message_counts == {1: 48, 2: 47}
    assert (summary.statistics.message_start_time, summary.statistics.message_end_time) == (
        1000,
        1094,
    )


def test_index_finds_messages_by_topic_and_time(tmp_path: Path):
    path = tmp_path / "bag.mcap"
    write(path, 100).close()
    with path.open("rb") as stream:
        found = make_reader(stream).iter_messages(
            topics="/topic1", starting_at=1050, ending_before=1060
        )
        assert [m.log_time for _, _, m in found] == [1051, 1053, 1055, 1057, 1059]


def test_attachments_and_metadata_come_back(tmp_path: Path):
    path = tmp_path / "bag.mcap"
    file = write(path, 10)
    file.add_attachment("experiment.yaml", "application/yaml", b"model: arm.xml")
    file.add_metadata("rosbag2", {"key": "value"})
    file.close()
    with path.open("rb") as stream:
        reader = make_reader(stream)
        assert [a.data for a in reader.iter_attachments()] == [b"model: arm.xml"]
        assert [m.metadata for m in reader.iter_metadata()] == [{"key": "value"}]


def test_what_was_flushed_is_on_the_disk(tmp_path: Path):
    file = write(tmp_path / "bag.mcap", 25)
    cut = tmp_path / "cut.mcap"
    cut.write_bytes((tmp_path / "bag.mcap").read_bytes())  # as a killed process leaves it
    storage = McapStorage(cut)
    assert len(list(storage.messages({"/topic0", "/topic1"}))) == 20
    storage.close()
    file.close()


def test_large_chunks_end_by_themselves(tmp_path: Path):
    path = tmp_path / "bag.mcap"
    file = McapFile(path, library="test")
    channel = file.add_channel("/big", "pkg/msg/Int", "ros2msg", TEXT, {})
    for number in range(30):
        file.add_message(channel, bytes(100_000), log_ns=number, publish_ns=number, sequence=0)
    assert path.stat().st_size > 2_000_000
    file.close()


def test_an_unknown_time_of_publication_is_that_of_receipt(tmp_path: Path):
    with_one = write(tmp_path / "bag.mcap", 1)
    with_one.add_message(1, b"\0\1\0\0", log_ns=1001, publish_ns=-1, sequence=1)
    with_one.close()
    with (tmp_path / "bag.mcap").open("rb") as stream:
        messages = [message for _, _, message in make_reader(stream).iter_messages()]
    assert [(m.log_time, m.publish_time) for m in messages] == [(1000, 900), (1001, 1001)]


def test_existing_file_is_never_touched(tmp_path: Path):
    path = tmp_path / "bag.mcap"
    path.write_bytes(b"precious")
    with pytest.raises(FileExistsError):
        McapFile(path, library="test")
    assert path.read_bytes() == b"precious"
