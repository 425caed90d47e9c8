# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters that windows are linearized in: what any fit finds, and what may be wrong besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from sysid_ros.engine.attributes import AXIS_BIASES, lookup
from sysid_ros.engine.elements import SCALAR, make_explicit
from sysid_ros.engine.parameters import AttributeModifier, Parameter, SignalModifier
from sysid_ros.engine.signals import UNZEROED, ModelSequences

_LATEST = 0.3  # s, of an input
_RESISTANCES = ("damping", "frictionloss", "armature")
_HEAVIEST = 100.0  # times the model's: 0.2 kg of a wrist with a tool of 5 kg are 27
_FARTHEST = 0.5  # m, of a centre of mass from the model's
_MOST_GRAVITY = 10.0  # times the model's, of which some are in mm/s^2, ...
_LEAST_GRAVITY = 100.0  # ... and m/s^2 at the least
_MOST_GAIN = 5.0  # times, that an input is more or less


def with_names(sequences: ModelSequences, names: Mapping[int, str]) -> ModelSequences:
    """Sequences of a model whose bodies have names, by their numbers, and inertias of their own.

    Else each mass would compile the model once more, wherever it is written.

    Raises:
      ModelError: An inertia cannot be a body's own; nor could a mass be written then.
    """
    spec = sequences.spec.copy()
    for number, name in names.items():
        spec.bodies[number].name = name
    make_explicit(spec, [*names.values()])
    return sequences.replaced(spec=spec)


def mass_of(sequences: ModelSequences, body: str) -> Parameter:
    """The mass of a body, with its inertia."""
    value = float(sequences.gt_model.body(body).mass[0])
    place = AttributeModifier("body", body, "mass")
    low, high = 0.05 * value, _HEAVIEST * value
    return Parameter(f"mass of {body}", value, low, high, modifier=place)


def centre_of(sequences: ModelSequences, body: str) -> dict[str, Parameter]:
    """The centre of mass of a body, by attribute."""
    found = {}
    for axis, value in zip("xyz", sequences.gt_model.body(body).ipos.tolist(), strict=True):
        place = AttributeModifier("body", body, f"com_{axis}")
        name = f"centre of {body} along {axis}"
        low, high = value - _FARTHEST, value + _FARTHEST
        found[place.attribute] = Parameter(name, value, low, high, modifier=place)
    return found


def gravity_of(sequences: ModelSequences) -> Parameter:
    """The gravity of the model, m/s^2."""
    place = AttributeModifier("option", "option", "gravity")
    value = np.array(sequences.gt_model.opt.gravity)
    most = max(_LEAST_GRAVITY, _MOST_GRAVITY * float(np.linalg.norm(value)))
    return Parameter("gravity", value, [-most] * 3, [most] * 3, modifier=place)


def zero_of(label: str) -> Parameter:
    """The zero of a command."""
    place = SignalModifier(label, "bias")
    return Parameter(f"zero of {label}", 0.0, -np.inf, np.inf, modifier=place)


def gain_of(label: str) -> Parameter:
    """The factor of an input."""
    place = SignalModifier(label, "gain")
    return Parameter(f"factor of {label}", 1.0, -_MOST_GAIN, _MOST_GAIN, modifier=place)


def found_by_fits(
    sequences: ModelSequences, is_declared: Callable[..., bool]
) -> Iterator[Parameter]:
    """Whatever a fit finds but for delays: of joints, compensated bodies and sensors.

    Args:
      sequences: With the model and what was measured.
      is_declared: Tells of a kind, a name and beginnings of attributes whether a parameter has one.
    """
    yield from resistances(sequences, lambda name, row: is_declared("joint", name, row, "friction"))
    yield from compensations(sequences, lambda name: is_declared("body", name, "gravcomp"))
    yield from offsets_of_sensors(sequences, lambda name, row: is_declared("signal", name, row))


def resistances(
    sequences: ModelSequences, is_declared: Callable[[str, str], bool]
) -> Iterator[Parameter]:
    """Friction, damping and armature of joints.

    Args:
      sequences: With the model.
      is_declared: Tells of a joint and an attribute whether a parameter has it.
    """
    model, spec = sequences.gt_model, sequences.spec
    names = [
        str(model.joint(joint).name)
        for joint in range(model.njnt)
        if int(model.jnt_type[joint]) in SCALAR
    ]
    for name in filter(None, names):
        for attribute in _RESISTANCES:
            if not is_declared(name, attribute):
                row = lookup("joint", attribute)
                value = row.read(spec, name)[:1]
                place = AttributeModifier("joint", name, attribute)
                yield Parameter(f"{attribute} of {name}", value, *row.bounds(value), modifier=place)


def springs(
    sequences: ModelSequences, is_declared: Callable[[str, str], bool]
) -> Iterator[Parameter]:
    """Stiffnesses of the springs that a model has, at its joints and along its tendons.

    Args:
      sequences: With the model.
      is_declared: Tells of an element's kind and its name whether a parameter has its stiffness.
    """
    spec = sequences.spec
    for kind, elements in (("joint", spec.joints), ("tendon", spec.tendons)):
        for name in (str(one.name) for one in elements if one.name):
            row = lookup(kind, "stiffness")
            value = row.read(spec, name)[:1]
            if value[0] > 0.0 and not is_declared(kind, name):
                place = AttributeModifier(kind, name, "stiffness")
                yield Parameter(f"stiffness of {name}", value, *row.bounds(value), modifier=place)


def compensations(
    sequences: ModelSequences, is_declared: Callable[[str], bool]
) -> Iterator[Parameter]:
    """Shares of bodies' weights that a model compensates: more mass does not bring more of it.

    Args:
      sequences: With the model.
      is_declared: Tells of a body whether a parameter has its share.
    """
    row = lookup("body", "gravcomp")
    for name in (str(one.name) for one in sequences.spec.bodies if one.name and one.gravcomp):
        if not is_declared(name):
            value = row.read(sequences.spec, name)[:1]
            place = AttributeModifier("body", name, "gravcomp")
            yield Parameter(f"compensated of {name}", value, *row.bounds(value), modifier=place)


def offsets_of_sensors(
    sequences: ModelSequences, is_declared: Callable[[str, str], bool]
) -> Iterator[Parameter]:
    """Readings at rest of sensors that have some, along each axis.

    Args:
      sequences: With the model and what was measured.
      is_declared: Tells of a signal and an attribute whether a parameter has it.
    """
    measured = {name for one in sequences.sensordata for name in one.signal_mapping or {}}
    for label in (one.name for one in sequences.spec.sensors if one.name in measured):
        known = int(sequences.spec.sensor(label).type) in UNZEROED
        for attribute in AXIS_BIASES if known else ():
            if not is_declared(label, attribute):
                name, place = f"{attribute} of {label}", SignalModifier(label, attribute)
                yield Parameter(name, 0.0, -np.inf, np.inf, modifier=place)


def delay_of(topic: str, labels: tuple[str, ...], known: float) -> Parameter:
    """The delay of all inputs of a topic, from what is known of it [s]."""
    place, most = SignalModifier(labels, "delay"), max(_LATEST, known)
    return Parameter(f"delay of {topic}", known, min(known, 0.0), most, modifier=place)
