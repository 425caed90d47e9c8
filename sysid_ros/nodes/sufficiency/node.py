# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Node ``sufficiency``: says while a bag is being recorded whether it is long enough.

It reads the bag, not the topics, so that it takes nothing from the recorder but the disk's cache,
and stands back behind the robot's processes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from sysid_ros.errors import StopRequestedError, SysidError
from sysid_ros.experiment import load_experiment
from sysid_ros.live_estimation import PRECISION, LiveSufficiency, Sufficiency, prepare
from sysid_ros.nodes.clocks import steady_clock
from sysid_ros.nodes.diagnostic_names import diagnostic_name
from sysid_ros.nodes.latched import LATCHED
from sysid_ros.nodes.number_topics import NumberTopics
from sysid_ros.nodes.parameters import NodeParameters
from sysid_ros.nodes.printable_log import log_of
from sysid_ros.nodes.process import run_node, stand_back
from sysid_ros_interfaces import msg

_LOOK_PERIOD = 0.2  # s between looks at whether it is time for a judgement
_LONGEST_REST = 30.0  # s between judgements at most, whatever they take
_PATIENCE = 1.0  # s for a judgement to end when the node ends


class SufficiencyNode(Node):
    """Follows what a recorder writes and judges it again and again."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__("sufficiency", **node_options)
        given = NodeParameters(self)
        self._experiment = load_experiment(
            given.required_file("experiment", "experiment file, as for the recorder")
        )
        self._data_dir = given.path("data_dir", "folder where models are looked for")
        self._robot = given.text(
            "robot", "", "which robot is recorded, of several in the experiment"
        )
        recorder = given.text(
            "recorder", "recorder", "name of the recorder whose bags are followed"
        )
        self._recorder = diagnostic_name(self, recorder)
        self._precision = given.positive(
            "precision", PRECISION, "standard error over magnitude that counts as enough"
        )
        self._period = given.positive("period", 2.0, "seconds between judgements at least")
        self._load = given.positive(
            "load", 0.25, "share of one processor core that judging may take"
        )
        bag = given.text("bag", "", "follow this bag instead of the recorder's")
        self._bag = ""  # the one that is followed
        self._live: LiveSufficiency | None = None
        self._judged: LiveSufficiency | None = None  # the one that the judgement under way is of
        self._final = False  # whether the recorder has completed the bag
        self._last = False  # whether the judgement under way began after that
        # Judging takes a thread of its own, so that the node answers and ends while it goes on.
        self._thread = ThreadPoolExecutor(1)
        self._prepared = self._thread.submit(prepare, self._experiment)
        self._work: Future[Sufficiency | None] | None = None
        self._began = 0.0  # time.process_time() at which the judgement under way began
        self._ending = threading.Event()
        self._patience = 0.0  # time.monotonic() until which its end is waited for
        self._next = 0.0  # time.monotonic() of the next judgement
        self._trouble = ""
        self._verdict = self.create_publisher(msg.Sufficiency, "~/sufficiency", LATCHED)
        self._progress = NumberTopics(self, "~/progress")
        if bag:
            self._follow(str(Path(bag).expanduser().absolute()))
        else:
            self.create_subscription(DiagnosticArray, "/diagnostics", self._on_diagnostics, 10)
        self.create_timer(_LOOK_PERIOD, self._look, clock=steady_clock())

    def ready_to_end(self) -> bool:
        """Give up the judgement under way.

        Returns:
          Whether there is none any more, or it has been waited for long enough.
        """
        if not self._ending.is_set():
            self._ending.set()
            self._patience = time.monotonic() + _PATIENCE
        return not self.busy or time.monotonic() > self._patience

    @property
    def busy(self) -> bool:
        """True if a judgement or the preparation for it is under way."""
        work = self._work or self._prepared
        return not work.done()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == f"{self._recorder}: {self._recorder}":
                values = {pair.key: pair.value for pair in status.values}
                recording = values.get("state") in ("recording", "paused")
                if recording and values.get("bag") != self._bag:
                    self._follow(str(values.get("bag")))
                self._final = self._live is not None and not recording

    def _follow(self, bag: str) -> None:
        self._bag, self._final, self._trouble = bag, False, ""
        self._live = LiveSufficiency(
            self._experiment,
            Path(bag),
            data_dir=self._data_dir,
            robot=self._robot or None,
            precision=self._precision,
            should_stop=self._ending.is_set,
        )
        log_of(self).info(f"following {bag}")
        self._say("looking at the beginning of the bag; the first judgement takes longest")

    def _look(self) -> None:
        """Publish a judgement that is done, and begin one if it is time to."""
        if self._work is not None:
            if not self._work.done():
                return
            if self._judged is self._live:  # else another bag has begun
                self._publish(self._work)
            spent = time.process_time() - self._began
            rest = max(self._period, min(spent * (1.0 / self._load - 1.0), _LONGEST_REST))
            self._work, self._next = None, time.monotonic() + rest
            if self._last and self._judged is self._live:
                self._live = None
        if self._live is None or self._ending.is_set():
            return
        if self._final or time.monotonic() >= self._next:
            self._began, self._last, self._judged = time.process_time(), self._final, self._live
            self._work = self._thread.submit(self._live.update)

    def _publish(self, work: Future[Sufficiency | None]) -> None:
        try:
            found = work.result()
        except StopRequestedError:
            return
        except SysidError as error:
            self._say(str(error))
            if str(error) != self._trouble:
                self._trouble = str(error)
                log_of(self).warning(self._trouble)
            return
        if found is None:
            self._say("there is not a whole window yet")
            return
        self._verdict.publish(self._message(found))
        for parameter in found.parameters:
            self._progress.publish(parameter.name, parameter.progress)

    def _say(self, why: str) -> None:
        """Publish that nothing can be said yet."""
        message = msg.Sufficiency(bag=self._bag, message=why)
        message.header.stamp = self.get_clock().now().to_msg()
        self._verdict.publish(message)

    def _message(self, found: Sufficiency) -> msg.Sufficiency:
        message = msg.Sufficiency(
            bag=self._bag,
            duration=found.duration,
            windows=found.windows,
            sufficient=found.sufficient,
            message=str(found),
            parameters=[
                msg.ParameterSufficiency(
                    name=parameter.name,
                    unit=parameter.unit,
                    value=parameter.value,
                    standard_error=parameter.standard_error,
                    target=parameter.target,
                    progress=parameter.progress,
                    sufficient=parameter.sufficient,
                    remaining=parameter.remaining,
                )
                for parameter in found.parameters
            ],
            undetermined=list(found.undetermined),
        )
        message.header.stamp = self.get_clock().now().to_msg()
        return message


def main(args: Sequence[str] | None = None) -> int:
    """Run the node and return its exit status."""

    def make() -> SufficiencyNode:
        node = SufficiencyNode()
        stand_back(node, 10)
        return node

    return run_node(
        make, args, ready_to_end=SufficiencyNode.ready_to_end, is_busy=lambda node: node.busy
    )
