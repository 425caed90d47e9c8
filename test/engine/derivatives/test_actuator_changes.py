# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Exact derivatives of DC motors, against central differences of rollouts."""

from __future__ import annotations

import chains
import mujoco
import pytest
from derivative_errors import assert_exact

from sysid_ros.engine.mechanics.actuator_tables import DCMOTOR
from sysid_ros.engine.parameters.modifiers import AttributeModifier, SignalModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict

TEXT = """<mujoco><option timestep="{timestep}" integrator="{integrator}" tolerance="1e-15">
<flag contact="disable"/></option><worldbody><body><joint name="first" axis="0 1 0" damping=".01"
armature=".01"/><geom size=".05" pos=".1 0 0" mass="1"/><body pos=".2 0 0">
<joint name="second" axis="0 1 0" damping=".1"/><geom size=".05" pos=".1 0 0" mass=".5"/></body>
</body></worldbody><tendon><fixed name="belt"><joint joint="first" coef=".5"/>
<joint joint="second" coef="-1"/></fixed></tendon><actuator><dcmotor name="motor" {target}
motorconst="0.4 0.4" resistance="2" gear="3" {more}/><motor name="other" joint="second"/></actuator>
<sensor><jointpos name="one" joint="first"/><jointpos name="two" joint="second"/>
<actuatorfrc name="torque" actuator="motor"/></sensor></mujoco>"""
INDUCTANCE, CONTROLLER = 'inductance="0.01 0"', 'controller="5 0 0.2 0 0 0"'

pytestmark = pytest.mark.skipif(DCMOTOR < 0, reason="this MuJoCo has no DC motors")


def spec_of(more: str, *, integrator: str = "implicitfast", target: str = "first") -> mujoco.MjSpec:
    kind = "tendon" if target == "belt" else "joint"
    return mujoco.MjSpec.from_string(
        TEXT.format(
            timestep=chains.TIMESTEP, integrator=integrator, target=f'{kind}="{target}"', more=more
        )
    )


def parameters(*attributes: tuple[str, float]) -> ParameterDict:
    """Parameters of the motor, and a delay of its command."""
    params = ParameterDict()
    for name, value in attributes:
        modifier = AttributeModifier("actuator", "motor", name)
        params.add(Parameter(name, value, 0.1 * value, 10.0 * value, modifier=modifier))
    delay = SignalModifier(("motor",), "delay")
    params.add(Parameter("delay", 0.0042, -1.0, 1.0, modifier=delay))
    return params


MOTOR = (("resistance", 2.0), ("motor_constant", 0.4), ("gear", 3.0))


@pytest.mark.parametrize(
    ("more", "integrator", "target"),
    [
        ("", "implicitfast", "first"),
        ("", "RK4", "belt"),
        ('saturation="1.2 0 0" ctrlrange="-2 2"', "Euler", "first"),
        (f'input="pos" {CONTROLLER}', "implicitfast", "belt"),
        (f'input="vel" {CONTROLLER}', "implicit", "first"),
        (f'input="ff" {CONTROLLER}', "Euler", "belt"),
        (f'{INDUCTANCE} ctrlrange="-2 2"', "implicitfast", "first"),
        (f'{INDUCTANCE} ctrlrange="-2 2"', "Euler", "belt"),
        (f'{INDUCTANCE} input="pos" {CONTROLLER}', "implicit", "first"),
    ],
)
def test_dc_motors(more: str, integrator: str, target: str) -> None:
    """Driven by a voltage, also beyond its limits, and by setpoints, with inductance or without."""
    own = (("inductance", 0.01),) if INDUCTANCE in more else ()
    root = spec_of(more, integrator=integrator, target=target)
    assert_exact(chains.problem(root, parameters(*MOTOR, *own)))


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ('cogging="0.1 6 0"', "cogging"),
        ('lugre="100 1 0.1 0.2 0.01"', "LuGre friction"),
        ('input="pos" controller="5 3 0.2 0 0 0"', "an integral gain"),
        ('input="pos" controller="5 0 0.2 0 0 12"', "a limit of its controller"),
        (f'{INDUCTANCE} saturation="1 0 0"', "with inductance has a force limit"),
    ],
)
def test_other_dc_motors_are_left_to_finite_differences(more: str, reason: str) -> None:
    problem = chains.problem(spec_of(more), parameters(("resistance", 2.0)))
    list(problem.window_rows(problem.initial_point()))
    assert all(reason in source for source in problem.derivative_sources().values())
