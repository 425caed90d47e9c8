# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What is told beside a mass that is not the model's."""

from __future__ import annotations

import pytest

from sysid_ros.diagnosis.simulated.mass_finding import of_servos


@pytest.mark.parametrize(("factor", "integral"), [(0.2, True), (1.3, False)])
@pytest.mark.parametrize("known", [True, False])
def test_servos_with_an_integral_part_seem_to_carry_less(
    factor: float, integral: bool, known: bool
) -> None:
    """Gains that are free would have explained it."""
    clause = of_servos(factor, known=known)
    assert ("other gains of the servos" in clause) == known
    assert ("integral part" in clause) == integral
