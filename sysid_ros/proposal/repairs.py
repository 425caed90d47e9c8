# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Repairs of a drafted experiment, of what the recordings contradict beyond doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sysid_ros.diagnosis import Finding, FindingKind, check_dataset
from sysid_ros.experiment import apply_overrides, parse_experiment, parse_yaml, without_places
from sysid_ros.proposal import torque_proposal
from sysid_ros.proposal.experiment_text import Draft, SignalEntry
from sysid_ros.proposal.recordings import Loaded
from sysid_ros.proposal.signals import SERVOS, RecordedSignals, in_no_frame

_REPAIRED = (
    FindingKind.SIGN, FindingKind.DEGREES, FindingKind.MILLIMETRES, FindingKind.UNIT,
    FindingKind.SWAP, FindingKind.MOUNTING,
)  # fmt: skip
_ROUNDS = 2  # of repairs, as what is wrong hides what else is; a third would be of a riddle


def tested(
    draft: Draft, output: Path, recorded: RecordedSignals
) -> tuple[Draft, tuple[Finding, ...], Loaded | None]:
    """Repair signs, units and exchanged signals as ``sysid_ros check`` would; keep the rest.

    What is repaired is tested once more, since masses are not tested beside such mistakes.

    Returns:
      The draft, what is left to say, and the recordings as it has them; these are none where the
      last repairs were not tested.
    """
    by_torque = torque_proposal.torque_is_measured(recorded.spec.copy().compile(), recorded.mapping)
    kinds = {FindingKind.MOUNTING} if recorded.given else _REPAIRED
    for _ in range(_ROUNDS):
        experiment = parse_experiment(draft.text(), path=output)
        loaded = Loaded.of(experiment)
        seen, dataset = loaded.seen, loaded.dataset
        findings = check_dataset(experiment, dataset, simulated=not by_torque, seen=seen)
        repaired = [one for one in findings if one.kind in kinds and not in_no_frame(one)]
        rest = tuple(finding for finding in findings if finding not in repaired)
        if not repaired:
            return draft, rest, loaded
        draft = _with_repairs(draft, repaired)
    return draft, rest, None


def _with_repairs(draft: Draft, repaired: Sequence[Finding]) -> Draft:
    """The draft with the lines that repair it, each with the finding as its doubt."""
    overrides = [one for finding in repaired for one in finding.overrides]
    tree = without_places(apply_overrides(parse_yaml(draft.text(), "proposal"), overrides))
    doubts = {
        label: finding.sentence
        if place == 0
        else f"{finding.kind.value}, as {finding.signals[0]!r}"
        for finding in repaired
        for place, label in enumerate(finding.signals)
    }
    signals = tuple(
        SignalEntry(
            dict(values),
            "\n".join(part for part in (entry.doubt, doubts.get(_label(entry.values), "")) if part),
            entry.grounds,
        )
        for values, entry in zip(tree["signals"], draft.signals, strict=True)
    )
    mounted = [one for one in repaired if one.kind is FindingKind.MOUNTING]
    mounting = (tree["parameters"][-1], mounted[0].sentence) if mounted else draft.mounting
    return replace(draft, signals=signals, mounting=mounting)


def _label(values: dict[str, object]) -> str:
    kind, name = next(iter(values.items()))
    return f"{name}_{kind}" if kind in ("qpos", "qvel", "effort", *SERVOS) else str(name)
