# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Small files that would fill the memory, wait for ever or run what strangers wrote."""

from __future__ import annotations

import bz2
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import lz4.frame
import pytest
import zstandard
from hostile.damaged_bags import write_mcap, write_sqlite3
from mcap.data_stream import RecordBuilder
from mcap.records import Chunk, DataEnd, Footer, Header
from mcap.writer import Writer

from sysid_ros.errors import BagError, ModelError
from sysid_ros.experiment import load_experiment
from sysid_ros.files import dumps
from sysid_ros.printable import printable
from sysid_ros.recording.bags import describe, open_recording
from sysid_ros.recording.bags.decompression import LARGEST_CHUNK, UNDECOMPRESSABLE, decompress
from sysid_ros.recording.messages import Definition, Definitions, locate
from sysid_ros.robots.source import load_model

MAGIC = b"\x89MCAP0\r\n"
MOST_MEMORY = 1 << 30
SEPARATOR = "\n" + "=" * 80 + "\n"
COMPRESSORS = {"lz4": lz4.frame.compress, "bz2": bz2.compress}


def _zstd_without_size(content: bytes) -> bytes:
    compressor = zstandard.ZstdCompressor().compressobj()
    return compressor.compress(content) + compressor.flush()


@pytest.mark.parametrize(
    ("name", "compress"),
    [
        *COMPRESSORS.items(),
        ("zstd", zstandard.ZstdCompressor().compress),
        ("zstd", _zstd_without_size),
    ],
)
def test_decompression_stops_at_the_limit(name, compress) -> None:
    assert LARGEST_CHUNK < 512 << 20
    packed = compress(bytes(LARGEST_CHUNK + 1))
    with pytest.raises(UNDECOMPRESSABLE, match="more than 128 MiB"):
        decompress(name, packed)
    assert decompress(name, compress(b"abc" * 1000)) == b"abc" * 1000
    with pytest.raises(UNDECOMPRESSABLE):
        decompress(name, compress(os.urandom(5000))[:-20])


def write_bomb(path: Path) -> Path:
    """A chunk of zeros that says that it is small."""
    packed = _zstd_without_size(bytes(2 << 30))
    builder = RecordBuilder()
    Header(profile="ros2", library="").write(builder)
    Chunk(
        compression="zstd",
        data=packed,
        message_start_time=0,
        message_end_time=0,
        uncompressed_crc=0,
        uncompressed_size=100,
    ).write(builder)
    DataEnd(data_section_crc=0).write(builder)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(builder)
    path.write_bytes(MAGIC + builder.end() + MAGIC)
    return path


READ = """
import sys
from pathlib import Path
from sysid_ros.errors import BagError
from sysid_ros.recording.bags import describe
try:
    describe(sys.argv[1])
except BagError as error:
    print(error)
# Not getrusage: its peak is also that of the process that started this one.
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


@pytest.mark.slow
def test_a_bomb_takes_no_more_memory_than_the_limit(tmp_path) -> None:
    bomb = write_bomb(tmp_path / "bomb.mcap")
    output = subprocess.run(
        [sys.executable, "-c", READ, bomb], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "decompresses to more than 128 MiB" in output[0]
    assert int(output[-1]) << 10 < MOST_MEMORY


def definition(main: str, **others: str) -> Definition:
    parts = [f"{SEPARATOR}MSG: p/{name}\n{text}" for name, text in others.items()]
    return Definition("msg", main + "".join(parts))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (definition("A a", A="A a"), "contains itself"),
        (definition("A[] a", A="A[] a"), "contains itself"),
        (definition("A a", A="B b", B="A a"), "contains itself"),
        (
            definition("T0 a", T40="int32 x", **{f"T{i}": f"T{i + 1}[2] a" for i in range(40)}),
            "more than 100000 values",
        ),
        (definition("E[1000000000] e", E=""), "more than 100000 values"),
        (
            definition("T0 a", T60="int32 x", **{f"T{i}": f"T{i + 1} a" for i in range(60)}),
            "nested more than 50 levels",
        ),
        (Definition("msg", "float64 x\n" * 20_000), "the limit is 120000"),
        (Definition("msg", "\x00[[[["), "malformed"),
        (Definition("idl", "module a{" * 3000), "malformed"),
    ],
)
def test_definitions_without_bounds_are_refused(text, said) -> None:
    with pytest.raises(BagError, match=said):
        Definitions().types("p/msg/M", text)


def test_parts_without_bytes_have_an_end() -> None:
    types = Definitions().types("p/msg/M", definition("F[] f", F="E[] e", E=""))
    data = (10_000).to_bytes(4, "little") * 20_000
    with pytest.raises(BagError, match="does not fit"):
        locate(data, "p/msg/M", types, serialization="ros1")


@pytest.mark.parametrize(
    "statements",
    [
        ["ALTER TABLE messages RENAME TO m", "CREATE VIEW messages AS SELECT * FROM m"],
        ["ALTER TABLE topics RENAME TO t", "CREATE VIEW topics AS SELECT * FROM t"],
        ["ALTER TABLE messages ADD COLUMN more BLOB AS (zeroblob(1000000000))"],
    ],
)
def test_what_a_database_computes_is_not_read(tmp_path, statements) -> None:
    bag = write_sqlite3(tmp_path / "bag.db3")
    with closing(sqlite3.connect(bag)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    with pytest.raises(BagError, match="no plain table"):
        open_recording(bag)


def test_a_pipe_is_no_part_of_a_bag(tmp_path) -> None:
    (tmp_path / "bag").mkdir()
    os.mkfifo(tmp_path / "bag" / "bag_0.mcap")
    with pytest.raises(BagError, match="it is a pipe, not a file"):
        open_recording(tmp_path / "bag")
    with pytest.raises(BagError, match="neither a file nor a folder"):
        open_recording("/dev/zero")


def test_a_pipe_is_no_experiment(tmp_path) -> None:
    os.mkfifo(tmp_path / "fit.yaml")
    with pytest.raises(Exception, match="it is a pipe, not a file"):
        load_experiment(tmp_path / "fit.yaml")


BODY = '<body name="a"><joint name="j"/><geom size=".1"/></body>'


@pytest.mark.parametrize(
    ("xml", "said"),
    [
        (f'<worldbody><replicate count="1000000">{BODY}</replicate></worldbody>', "6000 elements"),
        (
            '<worldbody><replicate count="1000"><replicate count="1000">'
            f"{BODY}</replicate></replicate></worldbody>",
            "6000 elements",
        ),
        ('<include file="pipe.stl"/>', "it is a pipe, not a file"),
        ('<asset><mesh name="m" file="pipe.stl"/></asset>', "it is a pipe, not a file"),
        ('<asset><mesh name="m" file="/dev/zero"/></asset>', "it is a device, not a file"),
        (
            f'<worldbody>{BODY}</worldbody><equality><joint joint1="no" joint2="j"/></equality>',
            "unknown element 'no' in equality",
        ),
        (
            f'<worldbody>{BODY}</worldbody><actuator><motor joint="no"/></actuator>',
            "unknown transmission target 'no'",
        ),
    ],
)
def test_models_that_cannot_be_are_refused(tmp_path, xml, said) -> None:
    os.mkfifo(tmp_path / "pipe.stl")
    model = tmp_path / "model.xml"
    model.write_text(f"<mujoco>{xml}</mujoco>")
    with pytest.raises(ModelError, match=said):
        load_model(model)


@pytest.mark.parametrize("step", ["0", "nan", "1e-9", "-1", "inf"])
def test_time_steps_without_an_end_are_refused(tmp_path, step) -> None:
    model = tmp_path / "model.xml"
    model.write_text(f'<mujoco><option timestep="{step}"/><worldbody>{BODY}</worldbody></mujoco>')
    with pytest.raises(ModelError, match="the timestep of the model"):
        load_model(model)


def test_entities_are_not_expanded(tmp_path) -> None:
    model = tmp_path / "model.xml"
    model.write_text('<!DOCTYPE m [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><mujoco model="&b;"/>')
    with pytest.raises(ModelError, match="declares entities"):
        load_model(model)


def test_a_chain_of_thousands_of_links_is_refused(tmp_path) -> None:
    links = "".join(f'<link name="l{n}"/>' for n in range(1500))
    joints = "".join(
        f'<joint name="j{n}" type="fixed"><parent link="l{n}"/><child link="l{n + 1}"/></joint>'
        for n in range(1499)
    )
    model = tmp_path / "model.urdf"
    model.write_text(f'<robot name="r">{links}{joints}</robot>')
    with pytest.raises(ModelError, match="more than 500 links one behind the other"):
        load_model(model)


def test_more_topics_than_any_robot_has_are_refused(tmp_path) -> None:
    bag = tmp_path / "bag"
    bag.mkdir()
    write_mcap(bag / "bag.mcap")
    (bag / "metadata.yaml").write_text("[" * 100_000)
    with pytest.raises(BagError, match="nested more than 20 levels deep"):
        open_recording(bag)
    (bag / "metadata.yaml").write_text("x: " + "a" * (8 << 20))
    with pytest.raises(BagError, match="more than 1 MiB"):
        open_recording(bag)
    with (bag / "bag.mcap").open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        for number in range(4001):
            writer.register_channel(f"/topic_{number}", "cdr", 0)
        writer.finish()
    with pytest.raises(BagError, match="more than 4000 channels"):
        open_recording(bag / "bag.mcap")


def test_control_sequences_are_shown() -> None:
    forged = "/joint\x1b[2J\x1b]52;c;Zm9v\x07\r\x9b31m\u202edrow"
    shown = printable(forged)
    assert shown == "/joint\\x1b[2J\\x1b]52;c;Zm9v\\x07\\x0d\\x9b31m\\u202edrow"
    assert printable("é\tmm·s⁻¹\n关节") == "é\tmm·s⁻¹\n关节"


def test_a_topic_cannot_clear_the_screen(tmp_path, capsys) -> None:
    from sysid_ros.cli import main

    bag = write_mcap(tmp_path / "bag.mcap", crc=False)
    bag.write_bytes(bag.read_bytes().replace(b"/joint", b"/j\x1b[2J"))
    assert main(["info", str(bag)]) == 0
    output = capsys.readouterr()
    assert "\x1b" not in output.out + output.err
    assert "/j\\x1b[2J" in output.out
    assert describe(bag).topics[1].name == "/j\x1b[2J"


def test_json_has_no_control_sequences() -> None:
    """JSON itself leaves those beyond ASCII as they are, and ``--json`` prints it."""
    forged = {"pivot\x9b2J\u202edrow": ["\x7f\x1b[2J", "\ud800", "é·s⁻¹"]}
    text = dumps(forged)
    assert printable(text) == text
    assert json.loads(text) == forged
    assert "é·s⁻¹" in text
