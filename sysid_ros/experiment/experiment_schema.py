# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The experiment file as frozen dataclasses: what one experiment is, after validation.

:func:`sysid_ros.experiment.load_experiment` is the only way from YAML to these types, so code
that receives them need not check again. The field names are the YAML keys; a field without a rule
is not a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as required  # SignalConfig has a field called "field"
from pathlib import Path
from typing import Any

from sysid_ros.choices import LOG_NAMES
from sysid_ros.experiment.fit_schema import FitConfig, InitialStateConfig, WindowConfig
from sysid_ros.experiment.problems import Place
from sysid_ros.experiment.rules import key, rule
from sysid_ros.experiment.units import UNITS
from sysid_ros.recording.mapping import ClockCorrection as ClockCorrection
from sysid_ros.recording.mapping import Interpolation as Interpolation
from sysid_ros.recording.mapping import SignalKind as SignalKind
from sysid_ros.recording.messages import Clock as Clock

SENSOR_TYPES = (
    "accelerometer", "gyro", "velocimeter", "magnetometer", "force", "torque", "framepos",
    "framequat", "framelinvel", "frameangvel", "framelinacc", "frameangacc", "jointpos", "jointvel",
    "jointactuatorfrc",
)  # fmt: skip
_NOT_HUGE = {"minimum": -1e12, "maximum": 1e12}  # squares of what is larger overflow


@dataclass(frozen=True)
class MaskConfig:
    """A message field that says when something counts: powered, in a mode, in sight."""

    topic: str = required(metadata=rule("topic of the recording"))
    field: str = required(metadata=rule("boolean or number within the message"))
    equals: float | tuple[float, ...] | None = key(
        None, "the value or values that mean enabled; any but 0 if left out"
    )
    invert: bool = key(False, "enabled when this does not hold")
    clock: Clock | None = key(None, "as the experiment's if left out")


@dataclass(frozen=True)
class SignalConfig:
    """One line of ``signals``: a message field tied to a model element.

    The value used is ``scale * field + offset``.
    """

    kind: SignalKind
    name: str  # actuator, sensor or joint name in the model
    topic: str = required(metadata=rule("topic of the recording"))
    field: str = required(
        metadata=rule(
            "number within the message: `position[elbow]` (by joint name), "
            "`linear_acceleration.x`, `data[1]`; or a vector, orientation, pose or twist as a "
            "whole; or the heading of an orientation, for a hinge about the vertical: "
            "`pose.orientation.yaw`; or all points of a trajectory: `points[*].positions[elbow]`; "
            "or a sum of numbers or their squares: `30.3 * linear.x - 4.8 * angular.z`, "
            "`8.5e-06 * velocity[0]^2` (a rotor's thrust)"
        )
    )
    scale: float = key(1.0, "the value used is scale * field + offset", nonzero=True, **_NOT_HUGE)
    unit: str | None = key(
        None,
        "of the field, where it is not the model's (radians, metres, seconds, newtons)",
        choices=tuple(UNITS),
    )
    offset: float = key(0.0, "see scale; in the model's unit", **_NOT_HUGE)
    noise: float | None = key(
        None,
        "standard deviation of the measurement in the model's unit; estimated if left out",
        above=0,
        minimum=1e-12,
        maximum=1e12,
    )
    interpolation: Interpolation | None = key(
        None,
        "between samples: `hold` the last value (commands), `linear` (measurements), or `cubic`, a "
        "spline through samples of a planned motion, at rest where it is over; by message type if "
        "left out",
    )
    clock: Clock | None = key(None, "as the experiment's if left out")
    enabled_when: tuple[MaskConfig, ...] = key(
        (),
        "a field, or a list of fields that must all hold, without which the signal does not "
        "count; see `enabled_when`",
    )
    frame: str = key(
        "body",
        "of a free joint's velocity: `body` as the twist of an Odometry, or `world`",
        choices=("body", "world"),
    )
    z_down: bool = key(
        False,
        "y and z of the field's frames point the other way than the model's, as those of the world "
        "(north, east, down) and of the body (forward, right, down) of PX4 and of ships do",
    )
    type: str | None = key(
        None, "of a `sensor` that the model lacks and that a copy gets", choices=SENSOR_TYPES
    )
    at: str | None = key(
        None,
        "the site, body or link, or for `jointpos`, `jointvel` and `jointactuatorfrc` the joint, "
        "at which that sensor is; of `jointpos` also `motor + spring`, joints behind each other",
    )
    wrench: str | None = None  # the site, for the six signals of a wrench
    effort: str | None = None  # the joint, for an effort on it without an actuator of the model
    servo: str | None = None  # the joint, for a commanded position of it likewise
    velocity_servo: str | None = None  # the joint, for a commanded velocity of it likewise
    place: Place | str = required(default="signals", compare=False)  # in the file, for messages

    @property
    def factor(self) -> float:
        """Number of the model's units in one of the field's, scale included."""
        return self.scale * (1.0 if self.unit is None else UNITS[self.unit])

    @property
    def label(self) -> str:
        """The signal's name in parameters and results; a joint's state gets a sensor's name."""
        if self.kind in (SignalKind.QPOS, SignalKind.QVEL):
            return f"{self.name}_{self.kind.value}"
        return self.name


@dataclass(frozen=True)
class SequenceConfig:
    """One recording used by the experiment."""

    bag: str = required(
        metadata=rule("folder or file, looked for under --data, then beside this file")
    )
    model: str | None = key(None, "model of this recording; the experiment's if left out")
    conditions: Mapping[str, float | str] = key(
        dict, "what was set for this recording, such as {kp: 8}; see validation.condition"
    )
    robot: str | None = key(
        None,
        "which of several identical robots, see `per_robot`; where the bag has its topics "
        "under this name (`/unit_2/joint_states`), those are read",
    )
    loaded: bool = key(True, "false where the `payload` was not held")
    start: float | None = key(None, "s after the bag's first message; its beginning", minimum=0)
    end: float | None = key(None, "s after the bag's first message; its end", above=0)
    motion: str | None = key(None, "motion of sysid_ros design played, looked for like the bag")

    @property
    def name(self) -> str:
        """The bag's last path component, for tables and file names."""
        return Path(self.bag).name

    def meets(self, condition: Mapping[str, float | str]) -> bool:
        """Return whether the recording's conditions agree with all of these."""
        return all(self.conditions.get(name) == value for name, value in condition.items())


@dataclass(frozen=True)
class ValidationConfig:
    """The data held out of the fit; at most one of the four is set."""

    bags: tuple[SequenceConfig, ...] = key((), "recordings, written as under `sequences`")
    fraction: float | None = key(
        None, "this part of each recording, a block at its end", above=0, below=1
    )
    condition: Mapping[str, float | str] | None = key(
        None, "the sequences whose conditions agree, such as {kp: 8}"
    )
    folds: int | None = key(
        None,
        "cross-validate: fit as often, each time without another part of the sequences",
        minimum=2,
    )


@dataclass(frozen=True)
class PriorConfig:
    """A Gaussian pull of one parameter towards ``mean``, ``None`` for its start."""

    std: float | tuple[float, ...] = required(
        metadata=rule("standard deviation, in the parameter's unit", above=0)
    )
    mean: float | tuple[float, ...] | None = key(None, "expected value; `initial` if left out")


@dataclass(frozen=True)
class PayloadConfig:
    """A payload of unknown inertia that a body of the robot holds."""

    body: str = required(metadata=rule("what holds it; its frame is the payload's"))
    mass: float = key(1.0, "kg, to start from", minimum=1e-4, maximum=1e4)


@dataclass(frozen=True)
class CouplingConfig:
    """A motor that turns with two joints, as in many wrists."""

    joint: str = required(metadata=rule("the joint that the motor drives"))
    other: str = required(metadata=rule("the joint that turns the motor as well"))
    ratio: float = key(1.0, "turns by the second joint over the first's")


@dataclass(frozen=True)
class ParameterConfig:
    """One entry of ``parameters``: an attribute of all model elements matching a pattern."""

    element: str  # joint | body | actuator | geom | pair | tendon | option | signal
    pattern: str  # shell-style, matched against element names
    attribute: str  # armature, damping, mass, gain, delay, ...
    initial: float | tuple[float, ...] | None = key(
        None, "where the fit starts; the model's value if left out"
    )
    min: float | tuple[float, ...] | None = key(
        None, "lower bound; the attribute's own if left out"
    )
    max: float | tuple[float, ...] | None = key(
        None,
        "upper bound; if left out the attribute's own, and no less than a joint of such a load "
        "and motor can have",
    )
    prior: PriorConfig | None = key(None, "what is known beforehand: {mean: 0.5, std: 0.1}")
    shared: bool = key(False, "one value for all matches instead of one each")
    per_robot: bool = key(
        False, "one value for each robot that `sequences` name, as `unit_2/elbow_damping`"
    )
    frozen: bool = key(False, "set to `initial` and not fitted")
    form: str | None = key(
        None, "of several, for inertia: pseudo, mass, mass_ipos, symmetric_y, ..."
    )
    place: Place | None = None  # in the experiment file, for messages


@dataclass(frozen=True)
class AlternativeConfig:
    """Another structure of the model, to be compared with the experiment's own."""

    parameters: tuple[ParameterConfig, ...] | None = key(
        None, "instead of the experiment's `parameters`"
    )
    add: tuple[ParameterConfig, ...] = key(
        (), "parameters besides those, written as under `parameters`"
    )
    model: str | None = key(None, "instead of the experiment's `model`")
    modifiers: str | None = key(None, "instead of the experiment's `modifiers`")


@dataclass(frozen=True)
class Experiment:
    """A validated experiment file."""

    model: str | None = required(
        metadata=rule(
            "MJCF or URDF, beside this file, then under --data; package:// works; or "
            "`{robot_description: /robot_description}`, as `model_topic`"
        )
    )
    sequences: tuple[SequenceConfig, ...] = required(
        metadata=rule("the recordings to fit: bags, or mappings with the keys of `sequences[]`")
    )
    signals: tuple[SignalConfig, ...] = required(
        metadata=rule("what in the recordings is what in the model, see `signals[]`")
    )
    parameters: tuple[ParameterConfig, ...] = required(
        metadata=rule("what to identify, see `parameters[]`")
    )
    model_topic: str | None = key(None, "instead of `model`: a robot_description topic in the bag")
    package_path: tuple[str, ...] = key(
        (),
        "folders of ROS packages or workspaces in which package:// and meshes are looked for, "
        "before sourced installations",
    )
    msg_path: tuple[str, ...] = key(
        (),
        "`.msg` or `.idl` files, packages or folders of them, for message types that a bag "
        "does not define",
    )
    payload: PayloadConfig | None = key(
        None,
        "one more body, `payload`, whose whole inertia is identified unless `parameters` name "
        "it: `{body: hand}`",
    )
    couplings: tuple[CouplingConfig, ...] = key(
        (),
        "a mapping, or a list of them, of motors that turn with two joints: "
        "`{joint: wrist_3, other: wrist_2}` adds a fixed tendon, `wrist_3_with_wrist_2`, whose "
        "armature, damping and friction are identified unless `parameters` name it",
    )
    validation: ValidationConfig = key(
        ValidationConfig(), "what is held out of the fit, one of four"
    )
    clock: Clock = key(
        Clock.HEADER,
        "what dates a message; `header` falls back to the publish time, `simulation` is the "
        "bag's /clock, `device` an integer in which the sender counts time",
    )
    clock_correction: ClockCorrection = key(
        ClockCorrection.NONE,
        "for topics stamped on different computers: take out the `offset` of their stamps to "
        "the recorder's clock, or offset and `drift`",
    )
    enabled_when: tuple[MaskConfig, ...] = key(
        (),
        "a field, or a list of fields that must all hold, without which nothing counts; see "
        "`enabled_when`",
    )
    windows: WindowConfig = key(WindowConfig(), "how recordings are cut for the fit")
    scoring: WindowConfig | None = key(
        None, "how they are cut for the scores; as `windows` if left out"
    )
    initial_state: InitialStateConfig = key(InitialStateConfig(), "where each window starts")
    fit: FitConfig = key(FitConfig(), "how the fit is run")
    alternatives: Mapping[str, AlternativeConfig] = key(
        dict, "other model structures by name, for `sysid_ros compare`; see `alternatives`"
    )
    output: str = key(
        "results", "folder for result folders, below the current one; others with `--output`"
    )
    logs: tuple[str, ...] = key(
        (), "records of a fit's course, besides its `progress.csv`", choices=LOG_NAMES
    )
    modifiers: str | None = key(
        None, "`my_module:function` that adds parameters this file cannot describe"
    )
    path: Path | None = None  # the file it came from; None for text
    text: str = ""  # its source, kept for provenance
    overrides: tuple[str, ...] = ()  # applied on top of ``text``, in order

    @property
    def recordings(self) -> tuple[SequenceConfig, ...]:
        """All recordings, those that are fitted first, then those that are held out."""
        return (*self.sequences, *self.validation.bags)

    @property
    def max_gap(self) -> float:
        """Longer gaps [s] in a signal are masked: with signals and clock what maps a recording."""
        return self.fit.max_gap

    def with_fit(self, **settings: Any) -> Experiment:
        """The experiment with other settings of its fit."""
        return replace(self, fit=replace(self.fit, **settings))

    def anywhere(self) -> Experiment:
        """The same for processes that run in another folder: its path is absolute."""
        return replace(self, path=self.path.absolute() if self.path else None)
