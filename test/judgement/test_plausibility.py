# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Values that no robot is likely to have are flagged with a reason."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from outcomes import fit_result

from sysid_ros.engine.estimation.fit_result import FitResult
from sysid_ros.engine.parameters import BESIDE_IMPLAUSIBLE, IMPLAUSIBLE
from sysid_ros.engine.uncertainty.parameter_estimate import ParameterEstimate
from sysid_ros.judgement.outcome import AppliedParameter
from sysid_ros.judgement.physical_limits import Impossible
from sysid_ros.judgement.plausibility import absent_effects, with_plausibility

MASS = {"type": "attribute", "element": "body", "attribute": "mass", "name": "link"}
DELAY = {"type": "signal", "attribute": "delay", "name": "servo"}
ARMATURE = {"type": "attribute", "element": "joint", "attribute": "armature", "name": "elbow"}


def judged(
    value: float, modifier: dict[str, str], flags: tuple[str, ...] = ()
) -> tuple[FitResult, tuple[str, ...]]:
    parameter = ParameterEstimate("p", "kg", 1.0, value, 0.0, 100.0, 0.01, 20.0, flags)
    result = replace(fit_result(np.random.default_rng(0)), parameters=(parameter,))
    return with_plausibility(result, [AppliedParameter("p", (value,), modifier)])


@pytest.mark.parametrize(
    ("value", "modifier", "plausible"),
    [
        (1.9, MASS, True),
        (2.1, MASS, False),
        (0.4, MASS, False),
        (0.15, DELAY, True),
        (0.3, DELAY, False),
        (-0.02, DELAY, True),  # of torque that is stamped late
        (9.0, ARMATURE, True),  # nobody knows an armature beforehand
        (9.0, {}, True),
    ],
)
def test_flag_and_sentence_go_together(
    value: float, modifier: dict[str, str], plausible: bool
) -> None:
    result, said = judged(value, modifier)
    assert (IMPLAUSIBLE in result["p"].flags) is not plausible
    assert len(said) == int(not plausible)


def test_the_sentence_says_how_far_off() -> None:
    assert judged(3.0, MASS)[1][0].startswith("p is 3 times its initial value: a drawing")
    assert "p is 0.3 kg: " in judged(0.3, DELAY)[1][0]


@pytest.mark.parametrize("flag", ["at upper bound", "unidentifiable", "poorly determined"])
def test_what_claims_nothing_is_not_judged(flag: str) -> None:
    assert judged(3.0, MASS, (flag,))[1] == ()
    assert judged(3.0, MASS, ("moves with half the time step",))[1] != ()


def test_what_is_free_beside_an_impossible_value_is_flagged_with_it() -> None:
    places = {
        "elbow_armature": ARMATURE,
        "elbow_damping": ARMATURE | {"attribute": "damping"},
        "motor_kp": {
            "type": "attribute",
            "element": "actuator",
            "attribute": "kp",
            "name": "motor",
        },
        "wrist_armature": ARMATURE | {"name": "wrist"},
        "link_mass": MASS,
    }
    result = replace(
        fit_result(np.random.default_rng(0)),
        parameters=tuple(
            ParameterEstimate(name, "", 1.0, 1.0, 0.0, 9.0, 0.1, 20.0) for name in places
        ),
    )
    applied = [AppliedParameter(name, (1.0,), at) for name, at in places.items()]
    heavy = Impossible("an armature of 1 kg m^2 on elbow is too much", "joint", "elbow", ("motor",))
    result, (said,) = with_plausibility(result, applied, [heavy, Impossible("gravity is odd")])
    assert {p.name: p.flags for p in result.parameters} == {
        "elbow_armature": (IMPLAUSIBLE,),
        "elbow_damping": (BESIDE_IMPLAUSIBLE,),
        "motor_kp": (BESIDE_IMPLAUSIBLE,),
        "wrist_armature": (),
        "link_mass": (),
    }
    assert "no interval of elbow_armature, elbow_damping and motor_kp is to be relied" in said


@pytest.mark.parametrize(
    ("armature", "modifier", "flag", "named"),
    [
        (0.0, ARMATURE, "at lower bound", ("p",)),
        (0.1, ARMATURE, "at lower bound", ()),  # what the model has is refuted, which is news
        (0.0, ARMATURE, "at upper bound", ()),
        (0.0, MASS, "at lower bound", ()),
    ],
)
def test_an_effect_that_neither_model_nor_recordings_have_is_no_fault(
    armature: float, modifier: dict[str, str], flag: str, named: tuple[str, ...]
) -> None:
    spec = mujoco.MjSpec.from_string(
        f"""<mujoco><worldbody><body name="link"><joint name="elbow" armature="{armature}"/>
        <geom size=".1"/></body></worldbody></mujoco>"""
    )
    result, _ = judged(0.0, modifier, (flag,))
    assert absent_effects(result, [AppliedParameter("p", (0.0,), modifier)], spec) == named
