"""The experiment file as frozen dataclasses: what one experiment is, after validation.

:func:`sysid_ros.experiment.load_experiment` is the only way from YAML to these types, so code
that receives them need not check again. The field names are the YAML keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path


class Clock(str, Enum):
    """Which of a message's times dates its content."""

    HEADER = "header"  # header.stamp; publish time where a type has no header
    PUBLISH = "publish"
    RECEIVE = "receive"


class Interpolation(str, Enum):
    """How a signal behaves between its samples."""

    HOLD = "hold"  # commands: the last value stays in force
    LINEAR = "linear"  # measurements


class SignalKind(str, Enum):
    """What a signal is tied to in the model."""

    ACTUATOR = "actuator"
    SENSOR = "sensor"
    QPOS = "qpos"
    QVEL = "qvel"


@dataclass(frozen=True)
class SignalConfig:
    """One line of ``signals``: a message field tied to a model element.

    The value used is ``scale * field + offset``.
    """

    kind: SignalKind
    name: str  # actuator, sensor or joint name in the model
    topic: str
    field: str  # e.g. "position[elbow]", "linear_acceleration.x", "data[1]"
    scale: float = 1.0
    offset: float = 0.0
    noise: float | None = None  # standard deviation in the signal's unit; None: estimated
    interpolation: Interpolation | None = None  # None: by message type
    clock: Clock | None = None  # None: the experiment's


@dataclass(frozen=True)
class SequenceConfig:
    """One recording used by the experiment."""

    bag: str
    model: str | None = None  # None: the experiment's
    conditions: Mapping[str, float | str] = field(default_factory=dict)
    robot: str | None = None
    start: float | None = None  # seconds after the recording's first message
    end: float | None = None

    @property
    def name(self) -> str:
        """The bag's last path component, for tables and file names."""
        return Path(self.bag).name


@dataclass(frozen=True)
class ValidationConfig:
    """What is held out of the fit; at most one of the three is set."""

    bags: tuple[SequenceConfig, ...] = ()
    fraction: float | None = None  # a contiguous block at each recording's end
    condition: Mapping[str, float | str] | None = None  # sequences whose conditions match


@dataclass(frozen=True)
class WindowConfig:
    """How recordings are cut; ``length`` in seconds, ``None`` for the whole recording."""

    length: float | None = 1.0
    overlap: float = 0.0  # fraction of the length; only scoring may overlap


@dataclass(frozen=True)
class InitialStateConfig:
    """Where each window starts: estimated with the parameters, or taken from measurements."""

    estimate: bool = True
    velocity_filter: float = 30.0  # Hz, zero-phase low-pass before differentiating positions


@dataclass(frozen=True)
class PriorConfig:
    """A Gaussian pull of one parameter towards ``mean``."""

    mean: float
    std: float


@dataclass(frozen=True)
class ParameterConfig:
    """One entry of ``parameters``: an attribute of all model elements matching a pattern."""

    element: str  # joint | body | actuator | geom | pair | signal
    pattern: str  # shell-style, matched against element names
    attribute: str  # armature, damping, mass, gain, delay, ...
    initial: float | tuple[float, ...] | None = None  # None: the model's value
    min: float | tuple[float, ...] | None = None  # None: the attribute's default bound
    max: float | tuple[float, ...] | None = None
    prior: PriorConfig | None = None
    shared: bool = False  # one value for all matches instead of one each
    frozen: bool = False
    form: str | None = None  # attribute-specific, e.g. inertia: pseudo | mass | mass_ipos
    line: int | None = None  # where it stands in the experiment file, for messages


@dataclass(frozen=True)
class FitConfig:
    """How the fit is run."""

    optimizer: str = "auto"  # auto | mujoco | scipy | scipy_parallel_fd
    loss: str = "linear"  # linear | huber | soft_l1 | cauchy
    max_iterations: int = 50
    time_limit: float | None = None  # seconds
    threads: int | None = None  # None: all available
    intervals: str = "clustered"  # clustered | white
    max_gap: float = 0.1  # seconds; longer gaps in a signal are masked
    bias_check: bool = False


@dataclass(frozen=True)
class Experiment:
    """A validated experiment file."""

    model: str | None
    sequences: tuple[SequenceConfig, ...]
    signals: tuple[SignalConfig, ...]
    parameters: tuple[ParameterConfig, ...]
    model_topic: str | None = None  # instead of ``model``: a robot_description topic in the bag
    validation: ValidationConfig = ValidationConfig()
    clock: Clock = Clock.HEADER
    windows: WindowConfig = WindowConfig()
    scoring: WindowConfig | None = None  # None: as ``windows``
    initial_state: InitialStateConfig = InitialStateConfig()
    fit: FitConfig = FitConfig()
    output: str = "results"
    modifiers: str | None = None  # "my_module:function", see docs/experiment.md
    path: Path | None = None  # the file it came from; None for text
    text: str = ""  # its source, kept for provenance
