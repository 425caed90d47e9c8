# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""From the ``parameters`` of an experiment to the parameters of the library, for one model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.engine.attributes import (
    AXIS_BIASES,
    INERTIAS,
    Attribute,
    least_time_constant,
    lookup,
)
from sysid_ros.engine.elements import (
    JointScale,
    compiled,
    joint_scales,
    make_explicit,
    matching,
    matching_names,
    without_visuals,
)
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict, SignalModifier
from sysid_ros.engine.signals import is_vector_named
from sysid_ros.errors import ExperimentError, SysidError, unknown_name
from sysid_ros.experiment import Experiment, ParameterConfig
from sysid_ros.robots.declared_friction import expanded, matching_joints
from sysid_ros.robots.hook import call_hook
from sysid_ros.robots.parameter_numbers import check_numbers
from sysid_ros.robots.state_sensors import state_labels
from sysid_ros.robots.torque_parameters import (
    coupling_parameters,
    jointed_bodies,
    payload_inertia,
    torque_delays,
    torque_offsets,
    unlimited,
)

MOST = 2000  # scalars; the equations of more take gigabytes

# Of joints, whose usual size depends on what they carry and on their motors.
_SCALED = ("armature", "damping", "frictionloss")
# What the attributes of a body determine; of two that overlap, one can be fitted.
_CENTRE = ("com_x", "com_y", "com_z")
_PARTS = {
    ("body", "mass_ipos"): ("mass", *_CENTRE),
    ("body", "gyration"): ("moments",),
    **{("body", name): ("mass", *_CENTRE, "moments") for name in INERTIAS},
    ("joint", "friction_viscous"): ("damping",),
    ("actuator", "servo_kp"): ("servo_kp", "kp", "gain"),
    ("actuator", "servo_kt"): ("servo_kt", "damping"),
    ("actuator", "servo_current_limit"): ("servo_current_limit", "force_limit"),
    ("joint", "friction_base"): ("frictionloss",),
}


def build_parameters(experiment: Experiment, spec: Any) -> ParameterDict:
    """Make one parameter per element and attribute that the experiment asks for.

    A parameter is called ``<element>_<attribute>``, such as ``shoulder_armature``; one value that
    is shared by all matches takes what is constant in the pattern (``left_*`` gives
    ``left_armature``, ``*`` gives ``all_armature``). What the file leaves out comes from the
    model and from the attribute's default bounds.

    Args:
      experiment: Its ``parameters`` are expanded, its ``signals`` are what signal patterns match.
      spec: The model (an MjSpec); not changed.

    Returns:
      The parameters at their start, with units, bounds, priors and modifiers.

    Raises:
      ExperimentError: A pattern matches nothing, a start lies outside its bounds, a list has the
        wrong length, two entries concern the same thing, or the hook fails; the message names the
        line.
    """
    parameters = ParameterDict()
    claims: dict[tuple[str, str, str], ParameterConfig] = {}
    count, known = 0, spec
    scales = cache(lambda: joint_scales(compiled(without_visuals(spec))))  # in no time with meshes
    for config in _all_parameters(experiment, spec):
        try:
            row = lookup(config.element, config.attribute, config.form)
            names = _matches(experiment, spec, config)
            _claim(row, names, config, claims)
            targets = _targets(config, names)
            robots = robots_of(experiment) if config.per_robot else (None,)
            count += len(targets) * row.size * len(robots)
            _check_count(count)
            if row.element == "body" and len(names) > 1:
                known = known.copy()  # in which every inertia is read without compiling
                make_explicit(known, names)
            for target in targets:
                parameter = _parameter(experiment, config, row, target, known, scales)
                for robot in robots:
                    own = _of_robot(parameter, robot)
                    if own.name in parameters:  # a joint and an actuator of one name
                        parameter.name = f"{target.label}_{row.element}_{row.name}"
                        own = _of_robot(parameter, robot)
                    parameters.add(own)
        except SysidError as error:
            where = config.place or experiment.path or "experiment"
            raise ExperimentError(f"{where}: {error}") from error
    for added in torque_delays(experiment, spec, parameters):
        parameters.add(added)
    if experiment.modifiers is not None:
        call_hook(experiment, parameters, spec)
    check_numbers(parameters)
    return parameters


def _check_count(count: int) -> None:
    if count > MOST:
        raise ExperimentError(
            f"with this entry the experiment has {count} parameters, a fit takes {MOST} at most; "
            "name fewer elements, or let them share one value with 'shared: true'"
        )


def robots_of(experiment: Experiment) -> tuple[str, ...]:
    """The robots that recordings were made with, in order of appearance.

    Raises:
      ExperimentError: A recording does not say which.
    """
    recordings = experiment.recordings
    unnamed = [recording.name for recording in recordings if recording.robot is None]
    if unnamed:
        raise ExperimentError(
            f"per_robot needs a robot for every recording; {unnamed[0]!r} has none"
        )
    return tuple(dict.fromkeys(recording.robot or "" for recording in recordings))


def _of_robot(parameter: Parameter, robot: str | None) -> Parameter:
    if robot is None:
        return parameter
    own = parameter.copy()
    own.name, own.robot = f"{robot}/{parameter.name}", robot
    return own


def _all_parameters(experiment: Experiment, spec: Any) -> tuple[ParameterConfig, ...]:
    try:
        added = (
            *payload_inertia(experiment),
            *coupling_parameters(experiment),
            *torque_offsets(experiment, spec),
        )
        return (*expanded(experiment, spec), *added)
    except SysidError as error:
        raise ExperimentError(f"{experiment.path or 'experiment'}: {error}") from error


@dataclass(frozen=True)
class _Target:
    """The elements that one parameter is written to, and how its name begins."""

    label: str
    names: tuple[str, ...]


def _matches(experiment: Experiment, spec: Any, config: ParameterConfig) -> list[str]:
    if config.element != "signal":
        if config.element == "joint":
            return matching_joints(spec, config.pattern)
        names = matching(spec, config.element, config.pattern)
        patterned = config.element == "body" and config.pattern not in names
        wide = patterned and not experiment.fit.simulates
        return jointed_bodies(spec, names) if wide else names
    sensors = {sensor.name for sensor in spec.sensors}
    mapped = {
        label: signal.topic
        for signal in experiment.signals
        for label in state_labels(sensors, signal.label)
    }
    if config.pattern.startswith("/"):  # a topic stands for its signals
        topics = matching_names(dict.fromkeys(mapped.values()), config.pattern)
        names = [label for label, topic in mapped.items() if topic in topics]
    else:
        names = matching_names(mapped, config.pattern)
    if not names:
        raise ExperimentError(unknown_name("signal", config.pattern, mapped))
    plain = [name for name in names if not is_vector_named(spec, name)]
    if config.attribute in AXIS_BIASES and plain:
        raise ExperimentError(
            f"{config.attribute} of signal {plain[0]!r}: it has no axes; a sensor of three "
            "components has, such as a gyro, an accelerometer or a framepos; others take bias"
        )
    return names


def _claim(
    row: Attribute,
    names: list[str],
    config: ParameterConfig,
    claims: dict[tuple[str, str, str], ParameterConfig],
) -> None:
    """Note what an entry determines, and refuse what another one determines already."""
    parts = _PARTS.get((row.element, row.name), (row.name,))
    keys = [(row.element, name, part) for name in names for part in parts]
    for key in keys:
        if key in claims:
            other = claims[key]
            where = f" ({other.place})" if other.place else ""
            raise ExperimentError(
                f"{row.name} of {row.element} {key[1]!r} cannot be a parameter: its "
                f"{other.attribute} is one already{where}"
            )
    claims.update(dict.fromkeys(keys, config))


def _targets(config: ParameterConfig, names: list[str]) -> list[_Target]:
    if not config.shared:
        return [_Target(name, (name,)) for name in names]
    constant = "".join(c for c in config.pattern if c not in "*?[]!").strip("_-/.")
    if not re.sub(r"[*?]|\[[^\]]*\]", "", config.pattern):  # letters to choose from are no name
        constant = f"all_{constant}".strip("_")
    constant = constant.replace("/", "_")  # what stands before a slash is a robot
    return [_Target(constant or "all", tuple(names))]


def _parameter(
    experiment: Experiment,
    config: ParameterConfig,
    row: Attribute,
    target: _Target,
    spec: Any,
    scales: Callable[[], Mapping[str, JointScale]],
) -> Parameter:
    first = target.names[0]
    nominal = _start(config, row, target, spec)
    lower, upper = _bounds(config, row, nominal, wide=not experiment.fit.simulates)
    scaled = row.element == "joint" and row.name in _SCALED
    if scaled and config.max is None and not config.frozen:
        sizes = [scales()[name] for name in target.names if name in scales()]  # no free joint has
        usual = max((one.most(row.name, nominal.item()) for one in sizes), default=0.0)
        upper = np.maximum(upper, usual)
    if (row.element, row.name) == ("actuator", "time_constant") and not config.frozen:
        least = max(least_time_constant(spec, name) for name in target.names)
        nominal, lower = np.maximum(nominal, least), np.maximum(lower, least)
    one_or_all: str | tuple[str, ...] = first if len(target.names) == 1 else target.names
    modifier: AttributeModifier | SignalModifier
    if row.element == "signal":
        modifier = SignalModifier(one_or_all, row.name)
    else:
        modifier = AttributeModifier(row.element, one_or_all, row.name)
    prior = None
    if config.prior is not None:
        mean = nominal if config.prior.mean is None else config.prior.mean
        prior = (mean, config.prior.std)
    return Parameter(
        row.name if row.element == "option" else f"{target.label}_{row.name}",
        nominal,
        lower,
        upper,
        frozen=config.frozen,
        modifier=modifier,
        unit=row.unit_for(spec, first),
        prior=prior,
    )


def _start(config: ParameterConfig, row: Attribute, target: _Target, spec: Any) -> FloatArray:
    """``initial``, or the model's value; the mean of them where several share one."""
    if config.initial is None:
        values = np.array([row.read(spec, name) for name in target.names], dtype=np.float64)
        return np.asarray(values.mean(axis=0))
    return _sized("initial", config.initial, row)


def _bounds(
    config: ParameterConfig, row: Attribute, nominal: FloatArray, *, wide: bool
) -> tuple[FloatArray, FloatArray]:
    """The entry's bounds, the attribute's own (or hardly any) where it leaves them out."""
    lower, upper = (unlimited(row, nominal) if wide else None) or row.bounds(nominal)
    if config.frozen:  # it may be anything, such as a gain of 0 while there is no power
        lower, upper = nominal, nominal
    if config.min is None:
        lower[0] = max(lower[0], min(row.least, nominal[0]))
    else:
        lower = _sized("min", config.min, row)
    if config.max is not None:
        upper = _sized("max", config.max, row)
    outside = np.flatnonzero((nominal < lower) | (nominal > upper))
    if outside.size:
        i = int(outside[0])
        origin = "the model's value" if config.initial is None else "initial"
        part = f" of {row.components[i]}" if row.components else ""
        raise ExperimentError(
            f"{row.name} of {row.element} {config.pattern!r} starts at {nominal[i]:g} "
            f"({origin}){part}, outside its bounds [{lower[i]:g}, {upper[i]:g}]"
        )
    if lower[0] < row.least:
        raise ExperimentError(
            f"{row.name} of {row.element} {config.pattern!r} may be as low as {lower[0]:g}; no "
            f"{(*row.components, row.name)[0]} is below {row.least:g}"
        )
    return lower, upper


def _sized(what: str, given: float | tuple[float, ...], row: Attribute) -> FloatArray:
    array = np.atleast_1d(np.array(given, dtype=np.float64))
    if array.size == 1:
        return np.full(row.size, array.item())
    if array.size != row.size:
        names = f" ({', '.join(row.components)})" if row.components else ""
        raise ExperimentError(
            f"{what} of {row.element} {row.name} has {array.size} components, "
            f"it takes {row.size}{names}"
        )
    return array


def vector_of(params: ParameterDict, values: Mapping[str, float]) -> FloatArray:
    """The vector of the free parameters with some values given by name, (p,).

    Raises:
      ExperimentError: There is no free parameter of a name.
    """
    places = {name: place for place, name in enumerate(params.scalar_names())}
    theta = params.as_vector()
    for name, value in values.items():
        if name not in places:
            raise ExperimentError(unknown_name("parameter", name, places, limit=20))
        theta[places[name]] = value
    return theta
