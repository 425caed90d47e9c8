# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of signals: delays, offsets of sensors, and factors of what drives the model."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from sysid_ros.engine.attributes import AXIS_BIASES
from sysid_ros.proposal.candidate import Candidate, pattern, rounded
from sysid_ros.proposal.mapped_inputs import Inputs

_LONGEST_DELAYS = 0.1, 0.3  # s; between these two intervals of the commands
_USUAL_DELAY = 0.01  # s
_EARLIEST = 0.01  # s, by which commands may seem to act before their stamps; slower ones tell more
_ON_THE_WAY = 0.005  # s from sending to receipt, by which a torque acts before what dates it
_ONE_RATE = 0.2  # of an interval, within which topics have one rate
_MEASURED = 0.02  # s, by which measured torque may be earlier or later than what acts
_LARGEST_BIAS = 0.2  # rad or m
_USUAL_BIAS = 0.01  # rad or m
_GAIN = (0.5, 2.0)
_OFFSETS = {  # usual and largest of an axis; of a wrist's sensor the weight of a tool that it bore
    "gyro": (0.02, 0.5),
    "accelerometer": (0.2, 5.0),
    "force": (10.0, 200.0),
    "torque": (1.0, 20.0),
}


def delays(
    inputs: Inputs, sensors: Collection[str], forces: Collection[str] = ()
) -> Iterator[Candidate]:
    """One delay for each controller, which sends all its commands at once, and of measured inputs.

    Args:
      inputs: What drives the model.
      sensors: Labels of measured positions.
      forces: Inputs that act when they arrive, as torques do; a servo lags by its own doing.
    """
    held = [name for name, is_held in inputs.held.items() if is_held]
    for topics in _controllers(inputs, held):
        names, together = _of_topics(topics, held, inputs, sensors)
        # Held, commands act half an interval later than as samples, which they may be.
        interval = inputs.intervals.get(topics[0], 0.0)
        own = {name for name in held if inputs.topics[name] in topics}
        received = not inputs.received.isdisjoint(topics)
        late = _ON_THE_WAY if received and own <= {*forces} else 0.0
        for name in names:
            yield Candidate(
                element="signal",
                name=name,
                attribute="delay",
                low=0.0 - rounded(min(0.5 * interval, _EARLIEST) + late),  # no "-0.0"
                high=rounded(float(np.clip(2.0 * interval, *_LONGEST_DELAYS))),
                typical=_USUAL_DELAY,
                initial=_USUAL_DELAY,
                shared=together,
            )
    yield from _of_measured(inputs, sensors)


def _controllers(inputs: Inputs, held: Sequence[str]) -> list[list[str]]:
    """The topics of each controller: those that only numbers tell apart, at one rate, are one's.

    As of a node that tells each of some thrusters on a topic of its own.
    """
    found: list[list[str]] = []
    for topic in dict.fromkeys(inputs.topics[name] for name in held):
        own = next((one for one in found if _is_one(inputs, one[0], topic)), None)
        if own is None:
            found.append([topic])
        else:
            own.append(topic)
    return found


def _is_one(inputs: Inputs, one: str, other: str) -> bool:
    """Return whether numbers alone tell two topics apart, which have one rate."""
    first, second = (inputs.intervals.get(topic, 0.0) for topic in (one, other))
    alike = re.sub(r"\d+", "#", one) == re.sub(r"\d+", "#", other)
    return alike and abs(first - second) <= _ONE_RATE * max(first, second)


def _of_measured(inputs: Inputs, sensors: Collection[str]) -> Iterator[Candidate]:
    """Delays of inputs that are measured: sampled before or behind a controller's step, filtered.

    A torque that was sampled just before the next is early by half of what it was held for. Where
    recordings do not ask for that, a fit's intervals know of the rest.
    """
    measured = [name for name, is_held in inputs.held.items() if not is_held]
    for topic in dict.fromkeys(inputs.topics[name] for name in measured):
        names, together = _of_topics([topic], measured, inputs, sensors)
        for name in names:
            yield Candidate(
                element="signal",
                name=name,
                attribute="delay",
                low=-_MEASURED,
                high=_MEASURED,
                typical=_USUAL_DELAY,
                initial=0.0,
                shared=together,
                on_demand=True,
                doubt="when torque was sampled",
            )


def thrust_factors(inputs: Inputs, sensors: Collection[str]) -> Iterator[Candidate]:
    """The factor of thrusts by speeds or shares, of all of a topic: nobody knows it."""
    for topic in dict.fromkeys(inputs.topics[name] for name in sorted(inputs.scaled)):
        names, together = _of_topics([topic], sorted(inputs.scaled), inputs, sensors)
        doubt = f"masses and the factor of the thrusts of {topic} are one; the model's count"
        for name in names:
            yield replace(_gain(name, doubt), shared=together)


def offsets(unzeroed: Mapping[str, str]) -> Iterator[Candidate]:
    """Offsets of sensors along each axis: every IMU has some, and nobody zeroed a wrist's."""
    for label, kind in unzeroed.items():
        usual, largest = _OFFSETS[kind]
        for attribute in AXIS_BIASES:
            yield Candidate(
                element="signal",
                name=label,
                attribute=attribute,
                low=-largest,
                high=largest,
                typical=usual,
                std=usual,  # else it takes up what a wrong model makes of gravity
            )


def biases(
    spec: mujoco.MjSpec, servos: Sequence[str], sensors: Mapping[str, str]
) -> Iterator[Candidate]:
    """Zeros of sensors against those of the servos, where they and gravity disagree."""
    for name in servos:
        if name in sensors:
            yield Candidate(
                element="signal",
                name=sensors[name],
                attribute="bias",
                low=-_LARGEST_BIAS,
                high=_LARGEST_BIAS,
                typical=_USUAL_BIAS,
                on_demand=True,
                doubt="the zero of the sensor against that of the servo",
                displaces=str(spec.actuator(name).target),
            )


def gains(names: Sequence[str]) -> Iterator[Candidate]:
    """Scales of the torques; that of one input stands for all masses."""
    for name in names:
        yield replace(_gain(name, "the torque's scale"), on_demand=True)


def _gain(name: str, doubt: str) -> Candidate:
    return Candidate(
        element="signal",
        name=name,
        attribute="gain",
        low=_GAIN[0],
        high=_GAIN[1],
        typical=0.1,
        doubt=doubt,
    )


def _of_topics(
    topics: Sequence[str], inputs: Iterable[str], given: Inputs, sensors: Collection[str]
) -> tuple[list[str], bool]:
    """Names of those of some inputs that are on some topics, and whether one name is for all."""
    names = [name for name in inputs if given.topics[name] in topics]
    every = len(topics) == 1 and topics[0] in given.alone
    every = every and len(names) == [*given.topics.values()].count(topics[0])
    whole = topics[0] if every and not set(topics[0]) & set("*?[") else ""
    whole = whole or pattern(names, {*given.held, *sensors, *given.measured}.difference(names))
    return ([whole], True) if len(names) > 1 and whole else (names, False)
