# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What recording costs and what it loses: a recorder against a publisher, a process each.

``python -m benchmark.capture`` publishes 29 joint states and commands at 1 kHz each and an IMU at
400 Hz for 60 s, counts what the bag lacks of what was sent, compares that with what the recorder
says it lost, and gives its processor time. ``--total 4000`` raises all rates in proportion;
``--stall 5`` withholds the processor from the recorder for so many seconds, so that it must lose.
``--images 30`` publishes images of ``--megabytes`` at that rate instead.
``--arm FOLDER/panda_nohand.xml`` publishes joint states of that arm at 500 Hz besides, from which
an estimator finds 21 parameters ten times a second meanwhile.
The exit status is 0 where the recorder's count is right, and at the standard load nothing is lost
at no more than 1.2 cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmark.live import write_torque_arm
from sysid_ros.nodes.demo import ChildProcesses, free_domain
from sysid_ros.recording.bags import TOPIC_RECORD, describe

STANDARD = 2400.0  # messages per second
ALLOWED_CORES = 1.2
TOPICS = ("/joint_states", "/command", "/imu")
IMAGES = ("/image",)
ARM = "arm"  # namespace of what the estimator follows
ESTIMATES = "/estimator/numbers"
ROOT = Path(__file__).parents[1]
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class TopicLoss:
    """One topic: counts of messages."""

    sent: int
    recorded: int
    said_lost: int  # by the recorder

    @property
    def lost(self) -> int:
        """What the bag lacks."""
        return self.sent - self.recorded


@dataclass(frozen=True)
class Capture:
    """One run.

    Attributes:
      rate: Messages per second in all, as published.
      seconds: Of publishing.
      cores: Processor time of the recorder per second.
      megabytes: Size of the bag.
      topics: What became of each topic.
      latest: s by which the publisher's worst message was late: how busy the machine was.
      estimates: Of the estimator, by the recorder.
      estimator_cores: Its processor time per second.
    """

    rate: float
    seconds: float
    cores: float
    megabytes: float
    topics: dict[str, TopicLoss]
    latest: float
    estimates: int = 0
    estimator_cores: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the recorder said exactly what it lost."""
        return all(topic.lost == topic.said_lost for topic in self.topics.values())

    @property
    def lost(self) -> int:
        """What the bag lacks of all topics."""
        return sum(topic.lost for topic in self.topics.values())

    def __str__(self) -> str:
        lines = [
            f"{self.rate:.0f} messages/s for {self.seconds:.1f} s: {self.cores:.2f} cores, "
            f"{self.megabytes:.0f} MB; the publisher was up to {1e3 * self.latest:.0f} ms late",
            f"{'topic':16s}{'sent':>10s}{'recorded':>10s}{'lost':>8s}{'said':>8s}",
        ]
        lines += [
            f"{name:16s}{topic.sent:10d}{topic.recorded:10d}{topic.lost:8d}{topic.said_lost:8d}"
            for name, topic in self.topics.items()
        ]
        if self.estimates:
            said = f"{self.estimates} estimates meanwhile, at {self.estimator_cores:.2f} cores"
            lines.append(said)
        return "\n".join(lines)


def run(
    folder: Path,
    *,
    duration: float,
    total: float = STANDARD,
    depth: int,
    stall: float = 0.0,
    images: tuple[float, float] | None = None,
    arm: Path | None = None,
) -> Capture:
    """Record a publisher.

    Args:
      folder: For bag and logs.
      duration: s of publishing.
      total: Messages per second over all topics.
      depth: Of the publisher's queues.
      stall: s for which the recorder gets no processor, in the middle.
      images: How many images per second, and their megabytes, instead of all else.
      arm: The model of an arm that an estimator follows meanwhile.
    """
    topics = IMAGES if images else TOPICS
    load = ["--duration", str(duration), "--factor", str(total / STANDARD), "--depth", str(depth)]
    if images:
        load += ["--images", str(images[0]), "--megabytes", str(images[1])]
    if arm is not None:
        experiment = write_torque_arm(folder, arm, duration + 2.0, False)
        load += ["--play", str(folder / "bag"), "--namespace", ARM]
        topics = (*topics, f"/{ARM}/joint_states", ESTIMATES)
    environment = {**os.environ, "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    parameters = {
        "topics": f"[{', '.join(topics)}]",
        "output_dir": str(folder / "bags"),
        "record_on_activate": "true",
    }
    values = [part for name, value in parameters.items() for part in ("-p", f"{name}:={value}")]
    with ExitStack() as held:
        environment["ROS_DOMAIN_ID"] = str(held.enter_context(free_domain()))
        children = held.enter_context(ChildProcesses(environment, folder / "logs"))
        recorder = children.start("recorder", ["sysid_ros.nodes.recorder", "--ros-args", *values])
        measured = [recorder.pid]
        if arm is not None:
            given = ["-p", f"experiment:={experiment}", "-p", f"robot:={ARM}"]
            found = children.start("estimator", ["sysid_ros.nodes.estimator", "--ros-args", *given])
            measured.append(found.pid)
        publisher = subprocess.Popen(
            [sys.executable, "-m", "benchmark.capture_publisher", *load],
            env=environment,
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        words = iter(publisher.stdout or ())
        if next(words, "").strip() != "ready":
            raise SystemExit("the publisher did not find the recorder")
        before = [_processor_time(pid) for pid in measured]
        if stall:
            _stall(recorder.pid, 0.5 * (duration - stall), stall)
        sent = json.loads(next(words))
        cores = [
            (_processor_time(pid) - began) / sent["seconds"]
            for pid, began in zip(measured, before, strict=True)
        ]
        publisher.wait()
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=60)
    (bag,) = (folder / "bags").iterdir()
    return _judged(bag, sent, cores)


def _judged(bag: Path, sent: dict[str, Any], cores: Sequence[float]) -> Capture:
    info = describe(bag)
    read = {topic.name: topic.messages for topic in info.topics}
    topics = {
        name: TopicLoss(
            counts["sent"], read.get(name, 0), int(info.records[TOPIC_RECORD + name]["lost"])
        )
        for name, counts in sent["topics"].items()
    }
    return Capture(
        rate=sum(topic.sent for topic in topics.values()) / sent["seconds"],
        seconds=sent["seconds"],
        cores=cores[0],
        megabytes=info.size / 1e6,
        topics=topics,
        latest=max(counts["latest"] for counts in sent["topics"].values()),
        estimates=read.get(ESTIMATES, 0),
        estimator_cores=sum(cores[1:]),
    )


def _stall(pid: int, after: float, seconds: float) -> None:
    time.sleep(after)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)


def _processor_time(pid: int) -> float:
    """User and system time of a process so far, s (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def main(args: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, default=60.0, metavar="S")
    parser.add_argument("--total", type=float, default=STANDARD, metavar="HZ")
    parser.add_argument("--depth", type=int, default=10, help="of the publisher's queues")
    parser.add_argument("--stall", type=float, default=0.0, metavar="S")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--images", type=float, default=0.0, metavar="HZ")
    parser.add_argument("--megabytes", type=float, default=2.0, metavar="MB", help="of an image")
    parser.add_argument("--arm", type=Path, metavar="MJCF", help="followed by an estimator")
    options = parser.parse_args(args)
    with tempfile.TemporaryDirectory(prefix="capture_") as folder:
        found = run(
            Path(folder),
            duration=options.duration,
            total=options.total,
            depth=options.depth,
            stall=options.stall,
            images=(options.images, options.megabytes) if options.images else None,
            arm=options.arm,
        )
    print(found)
    if options.json:
        machine = {"processors": os.cpu_count(), "machine": platform.machine()}
        options.json.write_text(json.dumps({**asdict(found), **machine}, indent=1) + "\n")
    if not found.exact:
        print("the recorder's count of what it lost is wrong", file=sys.stderr)
        return 1
    standard = options.total <= STANDARD and not options.stall and not options.images
    return int(standard and (found.lost > 0 or found.cores > ALLOWED_CORES))


if __name__ == "__main__":
    sys.exit(main())
