# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""How well a topic was recorded: what was read, how evenly, with which clock."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TopicQuality:
    """What was read from one topic, and how well it was sampled."""

    sequence: str
    topic: str
    msgtype: str
    clock: str  # the clock actually used: header | publish | receive
    messages: int
    promised: int | None  # by the bag's own metadata
    rate: float  # Hz, 1 / median interval
    jitter: float  # s, 95th percentile of |interval - median|
    gaps: int  # intervals longer than the experiment's max_gap
    longest_gap: float  # s
    duplicates: int = 0  # equal stamps, all but the first dropped
    backwards: int = 0  # stamps running backwards, sorted
    masked: float = 0.0  # s in which enabled_when kept its signals out of the fit
    # receipt minus stamp without queueing, at the start [s], and how it grows [s/s]; None where
    # the clock is that of receipt
    clock_offset: float | None = None
    clock_drift: float | None = None
    clock_corrected: bool = False  # both were taken out
    conflicts: int = 0  # samples with equal stamps and different values: two publishers
