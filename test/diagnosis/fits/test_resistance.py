# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Friction and damping compete with factors and lags, and may be true beside them."""

from __future__ import annotations

import numpy as np
import pytest

from sysid_ros.diagnosis.fits import Misfit, beats_resistance


def _misfit(power: float) -> Misfit:
    return Misfit(power**0.5, np.full(8, power))


@pytest.mark.parametrize("needed", [0.1, 0.17, 0.3])
def test_damping_that_explains_as_much_rules_a_repair_out(needed: float) -> None:
    """Whatever damping it takes, also between the shares that are tried first."""

    def left(attribute: str, share: float, *, repaired: bool) -> Misfit:
        off = abs(np.log(share / needed)) if attribute == "damping" else 2.0
        return _misfit(0.05 if repaired else 0.02 + 0.3 * off)

    assert not beats_resistance(_misfit(0.04), left)


def test_a_repair_is_judged_beside_the_friction_that_there_is() -> None:
    """Alone it leaves a third of what friction alone does, with friction next to nothing."""

    def left(attribute: str, share: float, *, repaired: bool) -> Misfit:
        return _misfit(0.01 if repaired else 0.2)

    assert beats_resistance(_misfit(0.07), left)
    assert not beats_resistance(_misfit(0.07), lambda *a, repaired: _misfit(0.2))
