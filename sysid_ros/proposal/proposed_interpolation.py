# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The interpolation between commands, and the scatter of their receipt, as the motion tells it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sysid_ros.dataset import Dataset
from sysid_ros.diagnosis import command_samplings
from sysid_ros.experiment import parse_experiment
from sysid_ros.proposal.experiment_text import Draft
from sysid_ros.recording.messages import Clock


def with_interpolations(
    draft: Draft,
    dataset: Dataset,
    output: Path,
    on_fit: Callable[[dict[str, float]], None],
) -> Draft:
    """The proposal with commands joined as the motion tells it, and what it leaves open.

    Args:
      draft: With its parameters.
      dataset: Its recordings.
      output: Where the file will be.
      on_fit: Told where a fit went, by parameter.
    """
    experiment = parse_experiment(draft.text(), path=output)
    places = {signal.label: k for k, signal in enumerate(experiment.signals)}
    signals = list(draft.signals)
    for one in command_samplings(experiment, dataset, None, on_fit):
        change = {} if one.best is one.present else {"interpolation": one.best.value}
        if one.sent_evenly:
            change["clock"] = Clock.EVEN.value
        for label in one.labels if change else ():
            entry = signals[places[label]]
            signals[places[label]] = replace(entry, values={**entry.values, **change})
        first = places[one.labels[0]]
        doubt = "\n".join(filter(None, (signals[first].doubt, one.doubt)))
        grounds = "; ".join(filter(None, (signals[first].grounds, one.figures)))
        signals[first] = replace(signals[first], doubt=doubt, grounds=grounds)
    return replace(draft, signals=tuple(signals))
