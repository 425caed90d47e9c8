# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""A setting that changes nothing is said to, whatever the reason."""

from __future__ import annotations

import pytest

from sysid_ros.experiment import idle_settings, parse_experiment

SIGNALS = "signals: [{actuator: m, topic: t, field: 'data[0]'NOISE}]\n"
TORQUE = "fit: {method: inverse_dynamics, loss: huber}\n"
CASES = [
    ("", "", ()),
    ("", "fit: {loss: huber}\ninitial_state: {estimate: false}\n", ()),
    ("", "fit: {inverse_dynamics: {motion_cutoff: 5.0}}\n", ()),
    (
        "",
        "fit: {inverse_dynamics: {total_mass: 5.0, hulls: false}}\n",
        (
            "With fit.method forward these settings change nothing in a fit: "
            "fit.inverse_dynamics.hulls, fit.inverse_dynamics.total_mass.",
        ),
    ),
    (
        "",
        TORQUE + "initial_state: {estimate: false}\nwindows: {length: 0.5}\n",
        (
            "With fit.method inverse_dynamics these settings change nothing in a fit: "
            "windows.length, fit.loss, initial_state.estimate.",
        ),
    ),
    (
        ", noise: 0.1",
        "",
        (
            "The noise of inputs is not used, but given for 'm': an input is taken as it was "
            "recorded.",
        ),
    ),
]


@pytest.mark.parametrize(("noise", "settings", "said"), CASES)
def test_what_changes_nothing_is_said(noise: str, settings: str, said: tuple[str, ...]) -> None:
    text = "model: a.xml\n" + SIGNALS.replace("NOISE", noise) + settings
    assert idle_settings(parse_experiment(text)) == said
