# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""SQLite bags: old schemas, a recorder that was killed, damage."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sysid_ros.errors import BagError
from sysid_ros.recording.bags import open_recording

SCHEMAS = {
    "dashing": "id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT",
    "foxy": (
        "id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT, "
        "offered_qos_profiles TEXT"
    ),
}
MESSAGES = "id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB"


@pytest.mark.parametrize("schema", SCHEMAS)
def test_old_schemas(tmp_path, schema) -> None:
    path = tmp_path / "bag.db3"
    database = sqlite3.connect(path)
    database.execute(f"CREATE TABLE topics ({SCHEMAS[schema]})")
    database.execute(f"CREATE TABLE messages ({MESSAGES})")
    database.execute(
        "INSERT INTO topics (id, name, type, serialization_format) "
        "VALUES (7, '/switch', 'std_msgs/msg/Bool', 'cdr')"
    )
    if schema == "foxy":
        database.execute("UPDATE topics SET offered_qos_profiles = '- history: 3'")
    data = b"\x00\x01\x00\x00\x01"
    database.execute("INSERT INTO messages VALUES (1, 7, 99, ?)", (data,))
    database.commit()
    database.close()
    with open_recording(path) as recording:
        assert [tuple(message) for message in recording.messages()] == [("/switch", 99, None, data)]
        assert recording.topics["/switch"].qos == ("- history: 3" if schema == "foxy" else "")
        assert "std_msgs/msg/Bool" in recording.types("/switch")


def test_the_write_ahead_log_of_a_killed_recorder_is_read(arm, write_bag, tmp_path) -> None:
    path = write_bag(arm, form="sqlite3")
    database = sqlite3.connect(path / "bag.db3")
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("INSERT INTO messages VALUES (NULL, 1, 1700000000000000000, x'00010000')")
    database.commit()
    killed = tmp_path / "killed"
    shutil.copytree(path, killed)
    database.close()
    before = sorted(entry.name for entry in killed.iterdir())
    assert "bag.db3-wal" in before
    with open_recording(killed) as recording:
        assert sum(1 for _ in recording.messages()) == len(arm) + 1
        assert recording.warnings == ("bag.db3 was not closed; its write-ahead log was read.",)
    assert sorted(entry.name for entry in killed.iterdir()) == before


def test_a_truncated_database_is_refused(arm, write_bag) -> None:
    path = write_bag(arm, form="sqlite3") / "bag.db3"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(BagError, match="is damaged: SQLite says"), open_recording(path) as bag:
        list(bag.messages())


@pytest.fixture
def bag_file(arm, write_bag) -> Path:
    return write_bag(arm, form="sqlite3") / "bag.db3"


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_damage_never_raises_anything_but_a_bag_error(bag_file, tmp_path, data) -> None:
    content = bytearray(bag_file.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        position = data.draw(st.integers(0, len(content) - 1))
        content[position] = data.draw(st.integers(0, 255))
    damaged = Path(tmp_path / "damaged.db3")
    damaged.write_bytes(content)
    try:
        with open_recording(damaged) as recording:
            list(recording.messages())
    except BagError as error:
        assert str(damaged) in str(error)
