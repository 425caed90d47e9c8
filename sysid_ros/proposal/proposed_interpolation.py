# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interpolation between commands, as the motion tells it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis import command_samplings
from sysid_ros.experiment import parse_experiment
from sysid_ros.proposal.experiment_text import Draft


def with_interpolations(draft: Draft, dataset: Dataset, output: Path) -> Draft:
    """The proposal with commands joined as the motion tells it, and what it leaves open.

    Args:
      draft: With its parameters.
      dataset: Its recordings.
      output: Where the file will be.
    """
    experiment = parse_experiment(draft.text(), path=output)
    places = {signal.label: k for k, signal in enumerate(experiment.signals)}
    signals = list(draft.signals)
    for one in command_samplings(experiment, dataset, None):
        for label in one.labels if one.best is not one.present else ():
            entry = signals[places[label]]
            values = {**entry.values, "interpolation": one.best.value}
            signals[places[label]] = replace(entry, values=values)
        first = places[one.labels[0]]
        doubt = "\n".join(filter(None, (signals[first].doubt, one.doubt)))
        grounds = "; ".join(filter(None, (signals[first].grounds, one.figures)))
        signals[first] = replace(signals[first], doubt=doubt, grounds=grounds)
    return replace(draft, signals=tuple(signals))
