# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The recordings while they are tested, repaired as far as mistakes are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis.evidence import (
    Change,
    Declared,
    ExperimentLines,
    Explanation,
    Finding,
    FindingKind,
    Recorded,
    Turned,
    finding_of,
    recorded,
    repaired,
    under_gravity,
)
from sysid_ros.diagnosis.servo_mistakes import counterparts
from sysid_ros.diagnosis.tracking import time_constants
from sysid_ros.experiment import Experiment
from sysid_ros.robots import build_parameters


@dataclass
class CheckedState:
    """The recordings, repaired as far as mistakes are known."""

    recorded: Recorded
    lines: ExperimentLines
    declared: Declared
    turned: Mapping[str, float]  # what measured signals jump by where a turn is over
    held_out: Recorded | None = None  # recordings that are not fitted at all
    repairs: list[Change] = field(default_factory=list)

    @classmethod
    def of(
        cls, experiment: Experiment, dataset: Dataset, begun: Mapping[str, float] | None = None
    ) -> CheckedState:
        """The recordings as they are, under the gravity that the experiment gives.

        Args:
          experiment: The experiment.
          dataset: Its recordings.
          begun: Values of its parameters where they do not begin at its own.
        """
        declared = Declared(build_parameters(experiment, dataset.training[0].spec))
        for one in declared.params.free():
            if begun and one.name in begun:
                one.update_from_vector(np.clip(begun[one.name], *one.get_bounds()))
        guessed = [one.name for one in experiment.signals if one.servo or one.velocity_servo]
        whole, gravity = recorded(dataset.training, guessed), declared.gravity()
        whole = whole if gravity is None else under_gravity(whole, gravity)
        fitted = {name for group in dataset.training for name in group.sequence_name}
        apart = [one for one in dataset.validation if fitted.isdisjoint(one.sequence_name)]
        held_out = recorded(apart, guessed) if apart else None
        if held_out is not None and held_out.servos != whole.servos:  # another model
            held_out = None
        return cls(whole, ExperimentLines(experiment), declared, dataset.turned, held_out)

    def repair(self, change: Change) -> None:
        """Repair the recordings."""
        self.recorded = repaired(self.recorded, change)
        self.repairs.append(change)

    def undeclared(self, explanations: Sequence[Explanation]) -> list[Explanation]:
        """Repair what was recorded, and keep of the repairs those that the fit would not find."""
        found = []
        for one in explanations:
            self.repair(one.change)
            others = counterparts(self.recorded, one.change.signals)
            if not self.declared.explains(one.change, one.size, others):
                found.append(one)
        return found

    def finding(self, best: Explanation, why: str) -> Finding:
        """The finding of an explanation, with its grounds and the lines that repair it."""
        evidence = {"unexplained_before": best.before, "unexplained_after": best.after}
        if best.size:
            evidence["size"] = best.size
        if best.interval is not None:
            evidence["size_low"], evidence["size_high"] = best.interval
        return finding_of(
            best.change,
            self.lines,
            evidence,
            f"{why}{self._or_slower(best.change)}",
            alternatives=best.alternatives,
            interval=best.interval,
        )

    def _or_slower(self, change: Change) -> str:
        """Name the low-pass of the model that a delay may be, were that one slower."""
        known = time_constants(self.recorded)
        own = [label for label in change.signals if label in known]
        if change.kind is not FindingKind.LAG or not own:
            return ""
        return (
            f" A time constant of {own[0]!r} longer than the model's {known[own[0]]:.3g} s looks "
            f"alike: 'time_constant: null' of that actuator, in parameters, lets the fit decide."
        )

    def mounting(self, turned: Turned, grounds: str) -> Finding:
        """Repair the recordings under another gravity, as nothing else explains them as well."""
        weightless = not np.any(self.recorded.model.opt.gravity)
        claim = "model has no gravity" if weightless else "robot is not mounted as the model is"
        claim = claim if np.any(turned.gravity) else "robot feels no gravity"
        self.recorded = under_gravity(self.recorded, turned.gravity)
        repair = self.lines.gravity(turned.gravity.tolist())
        return Finding(
            FindingKind.MOUNTING,
            (),
            {"unexplained_before": turned.before, "unexplained_after": turned.after,
             **dict(zip(("x", "y", "z"), turned.gravity.tolist(), strict=True))},
            f"The {claim}: {turned.words}. {grounds}",
            repair.text,
            repair.overrides,
        )  # fmt: skip
