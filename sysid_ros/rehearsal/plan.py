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
    """The quality of a measured quantity.

    Attributes:
      noise: Standard deviation, in the quantity's unit.
      quantum: Step of the encoder, in the same; zero for none.
    """

    noise: float = 0.0
    quantum: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The instants of a topic's messages.

    Attributes:
      rate: Messages per second.
      jitter: Standard deviation of the instants about an even rate, s; the stamps tell them.
      latency: From a value's instant to the stamp of its message, s.
      transport: Longest time from a stamp to the receive time, s; uniform from zero.
      loss: Share of the messages that are lost.
    """

    rate: float = 200.0
    jitter: float = 0.0
    latency: float = 0.0
    transport: float = 1e-3
    loss: float = 0.0


class StateForm(Enum):
    """The messages of joint states; joint_state_broadcaster publishes both."""

    JOINT_STATE = "sensor_msgs/msg/JointState"
    DYNAMIC = "control_msgs/msg/DynamicJointState"


@dataclass(frozen=True, kw_only=True)
class JointStates:
    """A topic of joint states, as joint_state_broadcaster publishes it.

    Attributes:
      topic: Its name.
      form: Type of the messages.
      prefix: What the names of joints begin with in the messages, besides those of the model.
      joints: Hinges and slides in the order of the message; all in the model's order if empty.
      position: How positions are measured, rad or m.
      velocity: How velocities are; ``None`` where they are not published.
      effort: How the force of the actuators at the joint is; ``None`` likewise.
      timing: When it is published.
    """

    topic: str = "/joint_states"
    form: StateForm = StateForm.JOINT_STATE
    prefix: str = ""
    joints: tuple[str, ...] = ()
    position: Reading = Reading(noise=1e-4)
    velocity: Reading | None = None
    effort: Reading | None = None
    timing: Timing = Timing()


@dataclass(frozen=True, kw_only=True)
class ImuReadings:
    """An ``Imu`` topic from sensors of the model.

    Attributes:
      gyro: Name of the gyroscope; empty for none.
      accelerometer: Name of the accelerometer; empty for none.
      topic: Its name.
      rates: How rates are measured, rad/s.
      accelerations: How accelerations are, m/s^2.
      timing: When it is published.
    """

    gyro: str = ""
    accelerometer: str = ""
    topic: str = "/imu/data"
    rates: Reading = Reading(noise=2e-3)
    accelerations: Reading = Reading(noise=0.02)
    timing: Timing = Timing()


@dataclass(frozen=True, kw_only=True)
class WrenchReadings:
    """A ``WrenchStamped`` topic from force and torque sensors of the model, as of a wrist.

    Attributes:
      force: Name of the force sensor; empty for none.
      torque: Name of the torque sensor; empty for none.
      topic: Its name.
      forces: How forces are measured, N.
      torques: How torques are, N m.
      timing: When it is published.
    """

    force: str = ""
    torque: str = ""
    topic: str = "/ft_sensor/wrench"
    forces: Reading = Reading(noise=0.1)
    torques: Reading = Reading(noise=5e-3)
    timing: Timing = Timing()


@dataclass(frozen=True, kw_only=True)
class OdometryReadings:
    """An ``Odometry`` topic: pose and twist of the first free joint, the twist in its body.

    Attributes:
      topic: Its name.
      position: How the position is measured, m.
      orientation: How the orientation is: noise about each axis, rad.
      linear: How the linear velocity is, m/s.
      angular: How the angular velocity is, rad/s.
      timing: When it is published.
    """

    topic: str = "/odom"
    position: Reading = Reading(noise=1e-3)
    orientation: Reading = Reading(noise=1e-3)
    linear: Reading = Reading(noise=1e-2)
    angular: Reading = Reading(noise=1e-2)
    timing: Timing = Timing(rate=100.0)


Readings = JointStates | ImuReadings | WrenchReadings | OdometryReadings


class CommandForm(Enum):
    """The messages of a controller's commands, and what publishes such."""

    ARRAY = "std_msgs/msg/Float64MultiArray"  # forward_command_controller
    TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"  # streamed points
    STATE = "control_msgs/msg/JointTrajectoryControllerState"  # joint_trajectory_controller


@dataclass(frozen=True, kw_only=True)
class Controller:
    """The commands of some actuators on one topic.

    Attributes:
      topic: Its name.
      actuators: In the order of the message; all in the model's order if empty.
      form: Type of the messages.
      prefix: What the names of joints begin with in the messages, besides those of the model.
      delay: From a command's stamp to its effect, s.
      jitter: Standard deviation of the stamps' instants about an even rate, s.
    """

    topic: str = "/position_controller/commands"
    actuators: tuple[str, ...] = ()
    form: CommandForm = CommandForm.ARRAY
    prefix: str = ""
    delay: float = 0.0
    jitter: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Motion:
    """A multisine about the start posture, within the ranges of joints and controls.

    Attributes:
      reach: Largest excursion of an actuator's joint or tendon, rad or m.
      speed: Largest speed, rad/s or m/s.
      acceleration: Largest acceleration, rad/s^2 or m/s^2.
      lowest: Fundamental frequency, Hz.
      highest: No harmonic lies above, Hz.
      bandwidth: Of the loop that lets motors without a servo follow, at least, Hz.
      dither: Random torque on top, as a share of what motors may give.
      balanced: Whether a regulator keeps a free base upright that would fall without it; the base
        is then what moves.
    """

    reach: float = 0.6
    speed: float = 3.0
    acceleration: float = 20.0
    lowest: float = 0.1
    highest: float = 2.0
    bandwidth: float = 2.0
    dither: float = 0.0
    balanced: bool = False


@dataclass(frozen=True, kw_only=True)
class RecordingPlan:
    """Everything that decides what a recording contains.

    Attributes:
      truth: Values that differ from the model's; delays are the controllers'.
      base: Where the base is.
      posture: Joints that start elsewhere than in the model, with their positions.
      motion: What is played.
      controllers: Topics of commands.
      sensors: Topics of measurements.
      duration: s.
      settle: Time simulated before the recording, with the motion's first command, s.
      rate: Commands per second.
      timestep: Of the simulation, s.
      seed: Of the motion, the noise and the jitter.
      start_ns: Stamp of the beginning, ns since the epoch.
    """

    truth: tuple[TrueParameter, ...] = ()
    base: Base = Base.MODEL
    posture: tuple[tuple[str, float], ...] = ()
    motion: Motion = Motion()
    controllers: tuple[Controller, ...] = (Controller(),)
    sensors: tuple[Readings, ...] = (JointStates(),)
    duration: float = 20.0
    settle: float = 0.5
    rate: float = 100.0
    timestep: float = 2.5e-4
    seed: int = 0
    start_ns: int = START_NS

    def __post_init__(self) -> None:
        for name in ("duration", "rate", "timestep"):
            if getattr(self, name) <= 0.0:
                raise RehearsalError(f"{name} must be positive, not {getattr(self, name)}")
