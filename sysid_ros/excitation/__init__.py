# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Commands that let a robot's motion reveal its parameters, and the reasons to stop them.

A :class:`Reference` (multisine or table) says what to play. An :class:`ExcitationPath` leads there
from rest and back, and :func:`check_limits` looks at it before anything moves. A :class:`Playback`
goes along it message by message, a :class:`CommandGuard` looks at every message once more
(:class:`Motion` is the two together); a :class:`LookaheadMotion` is one of which the controller is
told ahead. A :class:`ControlledMotion` gives the way to a controller as
a whole and plans its end where it must end early. A :class:`JointMonitor` says when the robot does
not do as it is told. Nothing here knows of ROS.
"""

from sysid_ros.arrays import FloatArray
from sysid_ros.excitation.announced_stop import announced_stop
from sysid_ros.excitation.commanded_curve import CommandedCurve
from sysid_ros.excitation.controlled_motion import LONGEST_LEAD, ControlledMotion, lead_after
from sysid_ros.excitation.following import FollowingWatch
from sysid_ros.excitation.guard import CommandGuard
from sysid_ros.excitation.joint_monitor import JointMonitor
from sysid_ros.excitation.limit_files import (
    KINDS,
    FileLimits,
    join_limits,
    read_joint_limits,
    read_urdf_limits,
    urdf_limits,
)
from sysid_ros.excitation.limits import CommandLimits, MotionLimits
from sysid_ros.excitation.lookahead_motion import REPEATED, LookaheadMotion
from sysid_ros.excitation.motion import Motion
from sysid_ros.excitation.multisine import design_multisine
from sysid_ros.excitation.path import ExcitationPath, check_limits
from sysid_ros.excitation.playback import Playback
from sysid_ros.excitation.reference import ExcitationError, Reference, SlowReference
from sysid_ros.excitation.timed_trajectory import TimedTrajectory
from sysid_ros.excitation.trajectory_file import (
    SplineReference,
    TabulatedReference,
    TrajectoryTable,
    read_trajectory,
    write_trajectory,
)
from sysid_ros.excitation.trajectory_progress import TrajectoryProgress
