# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``python -m benchmark.ingest``: how fast joint states are read, and in how much memory.

Speed is that of decoding two fields of every joint, against ``AnyReader`` of rosbags with its
``deserialize``, alternating on the same bag in one process; the ratio of the medians counts. The
values of both are compared. Memory is the peak of a process that runs a command of the package on
a bag of ``--gigabytes``, with six signals mapped and with every number of the bag.

Writes ``benchmark/results/ingest.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from sysid_ros.recording.bags import open_recording, read_columns
from sysid_ros.recording.messages import parse_field

KIND = "sensor_msgs/msg/JointState"
START_NS = 1_700_000_000_000_000_000
RATE = 1000  # Hz
RESULTS = Path(__file__).parent / "results"
MODEL = (
    "<mujoco><worldbody>{bodies}</worldbody><sensor>"
    '<jointpos name="p0" joint="joint_00"/></sensor></mujoco>'
)


def main() -> int:
    """Run, print, write the file."""
    options = _options()
    document: dict[str, Any] = {"speed": [], "memory": []}
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        print(f"{'joints':>8s}{'storage':>10s}{'rosbags':>12s}{'sysid_ros':>12s}{'ratio':>8s}")
        for joints in (7, 29):
            for storage in StoragePlugin:
                bag = folder / f"{joints}_{storage.name}"
                write_bag(bag, joints, options.messages, storage)
                found = _speed(bag, joints, options.repetitions)
                document["speed"].append({"joints": joints, "storage": storage.name, **found})
                rates = f"{found['rosbags']:>10.0f}/s{found['sysid_ros']:>10.0f}/s"
                print(f"{joints:8d}{storage.name:>10s}{rates}{found['ratio']:8.1f}", flush=True)
        if options.gigabytes:
            document["memory"] = _memory(folder, options.gigabytes)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "ingest.json").write_text(json.dumps(document, indent=1))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, help="of each bag for the speed")
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--gigabytes", type=float, default=1.0, help="of the large bag; 0 for none")
    parser.add_argument("--folder", type=Path, help="where bags are written for a while")
    return parser.parse_args()


def joint_names(joints: int) -> list[str]:
    """The names of some joints."""
    return [f"joint_{number:02d}" for number in range(joints)]


def write_bag(path: Path, joints: int, messages: int, storage: StoragePlugin) -> None:
    """Write joint states with position, velocity and effort at 1 kHz.

    One message is serialized; the others are its bytes with other stamps and numbers.
    """
    store = get_typestore(Stores.LATEST)
    types: Any = store.types
    header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](0, 0), "base_link")
    marks = np.arange(1.0, 3 * joints + 1.0)  # found again in the bytes
    message = types[KIND](header, joint_names(joints), *np.split(marks, 3))
    template = np.frombuffer(bytes(store.serialize_cdr(message, KIND)), np.uint8).copy()
    places = [template.tobytes().index(part.tobytes()) for part in np.split(marks, 3)]
    with Writer(path, version=9, storage_plugin=storage) as writer:
        connection = writer.add_connection("/joint_states", KIND, typestore=store)
        for tick in range(messages):
            stamp = START_NS + tick * (10**9 // RATE)
            template[4:12].view(np.uint32)[:] = stamp // 10**9, stamp % 10**9
            values = np.sin(marks + 1e-3 * tick)
            for place, part in zip(places, np.split(values, 3), strict=True):
                template[place : place + part.nbytes] = part.view(np.uint8)
            writer.write(connection, stamp, template.tobytes())


def _speed(bag: Path, joints: int, repetitions: int) -> dict[str, float]:
    """Messages per second by either reader, alternating, and the median ratio."""
    names = joint_names(joints)
    fields = [parse_field(f"{part}[{name}]") for part in ("position", "effort") for name in names]

    def by_rosbags() -> np.ndarray:
        with AnyReader([bag]) as reader:
            read = [reader.deserialize(data, KIND) for _, _, data in reader.messages()]
        return np.array([[*message.position, *message.effort] for message in read])

    def by_columns() -> np.ndarray:
        with open_recording(bag) as recording:
            return read_columns(recording, {"/joint_states": fields})["/joint_states"].values

    if not np.array_equal(by_rosbags(), by_columns()):
        raise SystemExit("the readers disagree")
    pairs = [(_seconds(by_rosbags), _seconds(by_columns)) for _ in range(repetitions)]
    count = len(by_columns())
    theirs, ours = (statistics.median(times) for times in zip(*pairs, strict=True))
    return {
        "rosbags": count / theirs,
        "sysid_ros": count / ours,
        "ratio": statistics.median(one / other for one, other in pairs),
    }


def _seconds(function: Callable[[], object]) -> float:
    """CPU time of this thread: other processes of the machine do not count."""
    began = time.thread_time()
    function()
    return time.thread_time() - began


def _memory(folder: Path, gigabytes: float) -> list[dict[str, Any]]:
    """Peak memory and time of commands on a large bag."""
    joints = 29
    small, large = folder / "small", folder / "large"
    write_bag(small, joints, 1000, StoragePlugin.MCAP)
    each = sum(file.stat().st_size for file in small.glob("*.mcap")) / 1000
    write_bag(large, joints, round(gigabytes * 1e9 / each), StoragePlugin.MCAP)
    size = sum(file.stat().st_size for file in large.glob("*.mcap"))
    found = []
    print(f"{'command':>28s}{'MB of bag':>12s}{'peak MiB':>10s}{'s':>8s}")
    for name, arguments in _commands(folder, small, large, joints).items():
        mebibytes, seconds = peak(arguments)
        found.append({"command": name, "bag": size, "peak_mib": mebibytes, "seconds": seconds})
        print(f"{name:>28s}{size / 1e6:12.0f}{mebibytes:10.0f}{seconds:8.1f}", flush=True)
    return found


def _commands(folder: Path, small: Path, large: Path, joints: int) -> dict[str, list[str]]:
    """What is run: nothing much, for comparison, and on the large bag."""
    bodies = "".join(
        f'<body><joint name="{name}"/><geom size="0.1" pos="0 0 1"/>'
        for name in joint_names(joints)
    )
    (folder / "robot.xml").write_text(MODEL.format(bodies=bodies + "</body>" * joints))
    commands = {"info, small bag": ["info", str(small)], "info": ["info", str(large)]}
    for count in (2, joints):
        lines = [
            f'  - {{{kind}: {name}, topic: /joint_states, field: "{field}[{name}]"}}'
            for name in joint_names(joints)[:count]
            for kind, field in (("qpos", "position"), ("qvel", "velocity"), ("effort", "effort"))
        ]
        file = folder / f"{count}.yaml"
        file.write_text(
            "model: robot.xml\nsequences: [large]\nsignals:\n"
            + "\n".join(lines)
            + "\nparameters: [{joint: joint_00, damping: }]\n"
        )
        output = str(folder / f"{count}.npz")
        name = f"export, {len(lines)} signals"
        commands[name] = ["export", str(file), "--bag", "large", "--output", output]
    return commands


def peak(arguments: list[str]) -> tuple[float, float]:
    """Peak resident memory [MiB] of a command, and how long it took [s]."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "sysid_ros", *arguments], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"sysid_ros {' '.join(arguments)} failed")
    return _mebibytes(usage), time.perf_counter() - began


def _mebibytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss / 1024.0  # KiB on Linux


if __name__ == "__main__":
    raise SystemExit(main())
