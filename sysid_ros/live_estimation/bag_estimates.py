# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A recorded bag as if it were just being recorded, faster than real time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sysid_ros.engine.moving_horizon import HorizonSettings
from sysid_ros.experiment import Experiment, SequenceConfig, locate_bag, message_paths_of
from sysid_ros.live_estimation.live_estimator import PERIOD, LiveEstimate, LiveEstimator
from sysid_ros.recording.bags import open_recording
from sysid_ros.recording.messages import RawMessage
from sysid_ros.robots import check_robot


def estimates_of_bag(
    experiment: Experiment,
    bag: SequenceConfig,
    horizon: HorizonSettings,
    *,
    data_dir: Path | None = None,
) -> Iterator[LiveEstimate]:
    """Yield the estimate after every tenth of a second of a bag, the last one after its end.

    The same bag gives the same estimates to the last bit: what is computed when depends on the
    times of receipt in the bag, not on the computer's speed.

    Args:
      experiment: The experiment.
      bag: The bag.
      horizon: How far to look back.
      data_dir: Where bags and models are found first.

    Raises:
      SysidError: The bag or model is missing, damaged, or does not fit the experiment.
    """
    path = locate_bag(bag.bag, experiment_file=experiment.path, data_dir=data_dir)
    with open_recording(path, msg_paths=message_paths_of(experiment)) as recording:
        check_robot(experiment, bag.robot, recording.topics)
        estimator = LiveEstimator(experiment, recording, bag, horizon, data_dir=data_dir)
        new: list[RawMessage] = []
        next_ns: int | None = None
        for message in recording.messages(estimator.topics):
            new.append(message)
            if next_ns is None:
                next_ns = message.log_ns + round(1e9 * PERIOD)
            if message.log_ns >= next_ns:
                yield estimator.update(new)
                new, next_ns = [], message.log_ns + round(1e9 * PERIOD)
        yield estimator.update(new, ended=True)
