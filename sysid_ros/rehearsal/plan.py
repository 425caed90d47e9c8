# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recording to make: what moves the robot, what is published and how well it is measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sysid_ros.errors import SysidError
from sysid_ros.rehearsal.true_model import Base
from sysid_ros.rehearsal.true_parameters import TrueParameter

START_NS = 1_750_000_000_000_000_000


class RehearsalError(SysidError):
    """A recording that cannot be made: a motion without actuators, a robot that flies apart."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The quality of a measured quantity."""

    noise: float = 0.0  # standard deviation, in the quantity's unit
    quantum: float = 0.0  # step of the encoder, in the same; zero for none


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The instants of a topic's messages."""

    rate: float = 200.0  # messages per second
    # standard deviation of the instants about an even rate, s; the stamps tell them
    jitter: float = 0.0
    latency: float = 0.0  # from a value's instant to the stamp of its message, s
    transport: float = 1e-3  # longest time from a stamp to the receive time, s; uniform from zero
    loss: float = 0.0  # share of the messages that are lost


class StateForm(Enum):
    """The messages of joint states; joint_state_broadcaster publishes both."""

    JOINT_STATE = "sensor_msgs/msg/JointState"
    DYNAMIC = "control_msgs/msg/DynamicJointState"


@dataclass(frozen=True, kw_only=True)
class JointStates:
    """A topic of joint states, as joint_state_broadcaster publishes it."""

    topic: str = "/joint_states"  # its name
    form: StateForm = StateForm.JOINT_STATE  # type of the messages
    # what the names of joints begin with in the messages, besides those of the model
    prefix: str = ""
    # hinges and slides in the order of the message; all in the model's order if empty
    joints: tuple[str, ...] = ()
    position: Reading = Reading(noise=1e-4)  # how positions are measured, rad or m
    velocity: Reading | None = None  # how velocities are; ``None`` where they are not published
    # how the force of the actuators at the joint is; ``None`` likewise
    effort: Reading | None = None
    # s from the reading of one joint to that of the next, all under the stamp of the first, as on
    # a bus
    dwell: float = 0.0
    timing: Timing = Timing()  # when it is published


@dataclass(frozen=True, kw_only=True)
class ImuReadings:
    """An ``Imu`` topic from sensors of the model."""

    gyro: str = ""  # name of the gyroscope; empty for none
    accelerometer: str = ""  # name of the accelerometer; empty for none
    topic: str = "/imu/data"  # its name
    rates: Reading = Reading(noise=2e-3)  # how rates are measured, rad/s
    accelerations: Reading = Reading(noise=0.02)  # how accelerations are, m/s^2
    timing: Timing = Timing()  # when it is published


@dataclass(frozen=True, kw_only=True)
class WrenchReadings:
    """A ``WrenchStamped`` topic from force and torque sensors of the model, as of a wrist."""

    force: str = ""  # name of the force sensor; empty for none
    torque: str = ""  # name of the torque sensor; empty for none
    topic: str = "/ft_sensor/wrench"  # its name
    forces: Reading = Reading(noise=0.1)  # how forces are measured, N
    torques: Reading = Reading(noise=5e-3)  # how torques are, N m
    timing: Timing = Timing()  # when it is published


@dataclass(frozen=True, kw_only=True)
class OdometryReadings:
    """An ``Odometry`` topic: pose and twist of the first free joint, the twist in its body."""

    topic: str = "/odom"  # its name
    position: Reading = Reading(noise=1e-3)  # how the position is measured, m
    orientation: Reading = Reading(noise=1e-3)  # how the orientation is: noise about each axis, rad
    linear: Reading = Reading(noise=1e-2)  # how the linear velocity is, m/s
    angular: Reading = Reading(noise=1e-2)  # how the angular velocity is, rad/s
    timing: Timing = Timing(rate=100.0)  # when it is published


Readings = JointStates | ImuReadings | WrenchReadings | OdometryReadings


class CommandForm(Enum):
    """The messages of a controller's commands, and what publishes such."""

    ARRAY = "std_msgs/msg/Float64MultiArray"  # forward_command_controller
    TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"  # streamed points
    STATE = "control_msgs/msg/JointTrajectoryControllerState"  # joint_trajectory_controller


@dataclass(frozen=True, kw_only=True)
class Controller:
    """The commands of some actuators on one topic."""

    topic: str = "/position_controller/commands"  # its name
    # in the order of the message; all in the model's order if empty
    actuators: tuple[str, ...] = ()
    form: CommandForm = CommandForm.ARRAY  # type of the messages
    # what the names of joints begin with in the messages, besides those of the model
    prefix: str = ""
    delay: float = 0.0  # from a command's stamp to its effect, s
    jitter: float = 0.0  # standard deviation of the stamps' instants about an even rate, s


@dataclass(frozen=True, kw_only=True)
class Motion:
    """A multisine about the start posture, within the ranges of joints and controls."""

    reach: float = 0.6  # largest excursion of an actuator's joint or tendon, rad or m
    speed: float = 3.0  # largest speed, rad/s or m/s
    acceleration: float = 20.0  # largest acceleration, rad/s^2 or m/s^2
    lowest: float = 0.1  # fundamental frequency, Hz
    highest: float = 2.0  # no harmonic lies above, Hz
    bandwidth: float = 2.0  # of the loop that lets motors without a servo follow, at least, Hz
    dither: float = 0.0  # random torque on top, as a share of what motors may give
    # whether a regulator keeps a free base upright that would fall without it; the base is then
    # what moves
    balanced: bool = False


@dataclass(frozen=True, kw_only=True)
class RecordingPlan:
    """Everything that decides what a recording contains."""

    # values that differ from the model's; delays are the controllers'
    truth: tuple[TrueParameter, ...] = ()
    base: Base = Base.MODEL  # where the base is
    # joints that start elsewhere than in the model, with their positions
    posture: tuple[tuple[str, float], ...] = ()
    motion: Motion = Motion()  # what is played
    controllers: tuple[Controller, ...] = (Controller(),)  # topics of commands
    sensors: tuple[Readings, ...] = (JointStates(),)  # topics of measurements
    duration: float = 20.0  # s
    settle: float = 0.5  # s simulated before the recording, held where the motion begins
    rate: float = 100.0  # commands per second
    shown: int = 1  # one of so many commands is published, as by a throttled topic
    # whether commands that are not published lie on lines between those that are, as where a drive
    # interpolates
    joined: bool = False
    timestep: float = 2.5e-4  # of the simulation, s
    seed: int = 0  # of the motion, the noise and the jitter
    start_ns: int = START_NS  # stamp of the beginning, ns since the epoch

    def __post_init__(self) -> None:
        for name in ("duration", "rate", "timestep"):
            if getattr(self, name) <= 0.0:
                raise RehearsalError(f"{name} must be positive, not {getattr(self, name)}")
        if self.shown < 1:
            raise RehearsalError(f"shown must be at least 1, not {self.shown}")
