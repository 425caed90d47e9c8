# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Recordings as tests of them see them, the changes that may repair them, and what is told."""

from __future__ import annotations

from sysid_ros.diagnosis.evidence.changed_recordings import repaired, under_gravity
from sysid_ros.diagnosis.evidence.declared import Declared
from sysid_ros.diagnosis.evidence.explanation import (
    DECISIVE,
    Explanation,
    Turned,
    best_of,
    lag_interval,
    leaning_grounds,
    least_between,
    modelled_grounds,
    percent,
    profile_interval,
    resolution_of,
    size_interval,
    together,
    torque_grounds,
)
from sysid_ros.diagnosis.evidence.filtered import Filtered, filtered, motion_bandwidth, total_delays
from sysid_ros.diagnosis.evidence.finding import (
    ROUGH,
    Change,
    Finding,
    FindingKind,
    of_load,
    repaired_series,
)
from sysid_ros.diagnosis.evidence.hypotheses import (
    DEGREE,
    LAGS,
    SCALES,
    SERVO_LAGS,
    Family,
    Suspects,
    both_ways,
    discrete,
    families,
    joint_labels,
    joint_pairs,
    named_degrees,
    offset_unit,
)
from sysid_ros.diagnosis.evidence.pushed_joints import closed_postures, is_pushed
from sysid_ros.diagnosis.evidence.pushes import push_findings
from sysid_ros.diagnosis.evidence.recorded import (
    Recorded,
    Samples,
    pose_of,
    recorded,
)
from sysid_ros.diagnosis.evidence.repair import (
    ExperimentLines,
    Repair,
    finding_of,
    freed_mass,
    joined,
    setting,
)
from sysid_ros.diagnosis.evidence.sampling_mistakes import (
    PLAYED,
    Rate,
    by_topic,
    coarse_step,
    is_slow,
    is_uneven,
    motion_range,
    moves,
    not_tested,
    sampling_of,
    share_outside,
    signal_kinds,
    silent_joints,
    still_joints,
    stuck_limit,
)
from sysid_ros.diagnosis.evidence.shared_units import with_topics_degrees
from sysid_ros.diagnosis.evidence.slips import slip_findings
from sysid_ros.diagnosis.evidence.stops import (
    is_tied_beyond,
    keeps_to_ranges,
    leaves_range,
    loads,
    positions_of,
)
from sysid_ros.diagnosis.evidence.stretch import Stretch, to_and_fro
from sysid_ros.diagnosis.evidence.whole_motion import whole_motion
