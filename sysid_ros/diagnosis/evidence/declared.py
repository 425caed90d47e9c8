# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Corrections that an experiment declares for a signal, which are no mistakes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded
from sysid_ros.engine.parameters import (
    AttributeModifier,
    BodyInertiaModifier,
    Parameter,
    ParameterDict,
    SignalModifier,
    corrects,
    written_by,
)

_OF_KIND = {FindingKind.LAG: "delay", FindingKind.OFFSET: "bias", FindingKind.SCALE: "gain"}


@dataclass(frozen=True)
class Declared:
    """Delays, biases and gains that are parameters of the experiment."""

    params: ParameterDict  # the experiment's parameters

    def explains(self, change: Change, size: float, others: tuple[str, ...] = ()) -> bool:
        """Return whether the fit will find what a change would repair.

        Args:
          change: A repair; of offset, scale or delay.
          size: Its number.
          others: Signals that the repair could change as well.
        """
        attribute = _OF_KIND.get(change.kind)
        if attribute is None:
            return False
        # A repair adds or multiplies; a parameter describes what is to be repaired. Commands are
        # multiplied by their gain where measurements are divided.
        described = {"delay": (size,), "bias": (size, -size), "gain": (size, 1.0 / size)}[attribute]
        return any(
            bool(labels)
            and all(
                any(self._covers(label, attribute, value) for value in described)
                for label in labels
            )
            for labels in (change.signals, others)
        )

    def names(self, element: str, name: str) -> tuple[str, ...]:
        """Free parameters of one element."""
        return tuple(
            parameter.name
            for parameter in self.params.values()
            if not parameter.frozen and _concerns(parameter, element, name)
        )

    def concern(self, element: str, name: str, *beginnings: str) -> bool:
        """Return whether any parameter, free or not, is an attribute of one element.

        Args:
          element: Its kind.
          name: Its name.
          beginnings: Of the attributes that count; all if left out.
        """
        return any(
            _concerns(one, element, name)
            and getattr(one.modifier, "attribute", "").startswith(beginnings or "")
            for one in self.params.values()
        )

    def frees_gains(self, seen: Recorded) -> bool:
        """Tell whether all gains that nobody knows are free; else masses are made of these.

        But for those of joints that are not measured, such as one that stands.
        """
        shown = [one for one in seen.guessed if seen.positions.keys() & seen.arms(one).keys()]
        names = [str(seen.model.actuator(one).name) for one in shown]
        return all(self.concern("actuator", name, "kp", "kv") for name in names)

    def gravity(self) -> FloatArray | None:
        """Gravity as the experiment has it, (3,) m/s^2; ``None`` where it is the model's."""
        for one in self.params.values():
            place = written_by(one)
            if (place.element, place.attribute) == ("option", "gravity"):
                return np.asarray(one.value, dtype=np.float64)
        return None

    def _covers(self, label: str, attribute: str, size: float) -> bool:
        return any(
            label in corrects(parameter, attribute)
            and not parameter.frozen
            and parameter.min_value[0] <= size <= parameter.max_value[0]
            for parameter in self.params.values()
        )


def _concerns(parameter: Parameter, element: str, name: str) -> bool:
    modifier = parameter.modifier
    if isinstance(modifier, SignalModifier):
        return element == "signal" and name in modifier.names
    if isinstance(modifier, AttributeModifier):
        return element == modifier.element and name in modifier.names
    if isinstance(modifier, BodyInertiaModifier):
        return element == "body" and name == modifier.name
    return False
