# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of torque sensors as those that inverse dynamics is linear in, and back."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from sysid_ros.engine.measured_torque.rows.declared_columns import Declared
from sysid_ros.engine.measured_torque.rows.torque_signals import TorqueSignal
from sysid_ros.engine.parameters import AttributeModifier, Parameter, ParameterDict, SignalModifier
from sysid_ros.errors import ParameterError

ARM = """
<mujoco>
  <worldbody><body><joint name="a" axis="0 1 0"/><geom size="0.1" pos="0.5 0 0"/>
    <body name="fore" pos="1 0 0">
      <joint name="b" axis="0 1 0"/><geom size="0.1" pos="0.5 0 0"/>
    </body>
  </body></worldbody>
  <sensor>
    <jointactuatorfrc name="a_effort" joint="a"/><jointactuatorfrc name="b_effort" joint="b"/>
  </sensor>
</mujoco>
"""
SIGNALS = tuple(
    TorqueSignal(f"{joint}_effort", np.eye(2)[dof], control=False) for dof, joint in enumerate("ab")
)


def declared(*params: Parameter) -> Declared:
    known = ParameterDict({p.name: p for p in params})
    return Declared(known, mujoco.MjSpec.from_string(ARM), SIGNALS, ("",))


def of_signals(name: str, attribute: str, value: float, *signals: str) -> Parameter:
    return Parameter(name, value, -5.0, 5.0, modifier=SignalModifier(signals, attribute))


@pytest.mark.parametrize("frozen", [False, True])
def test_a_sensor_shows_its_gain_times_the_torque_and_its_bias_behind_that(frozen: bool) -> None:
    gain = of_signals("gain", "gain", 0.8, "a_effort")
    gain.frozen = frozen
    seen = declared(gain, of_signals("bias", "bias", 0.5, "a_effort"))
    values = seen.params.as_vector()
    offset = seen.theta(values, "")[seen.columns.place[0, "offset"]]
    assert 0.8 * offset == pytest.approx(0.5)
    free = seen.free(values)
    gains = {} if frozen else {"gain": 0.8}
    np.testing.assert_allclose(seen.values(free.nominal, gains)[0], values)
    np.testing.assert_allclose(free.theta(free.nominal, ""), seen.theta(values, ""))


def test_the_slope_of_a_bias_behind_a_gain_is_that_of_both() -> None:
    seen = declared(
        of_signals("gain", "gain", 0.8, "a_effort"), of_signals("bias", "bias", 0.5, "a_effort")
    )
    x = np.array([0.7])
    _, slope = seen.values(x, {"gain": 0.8})
    by_x = (seen.values(x + 1e-6, {"gain": 0.8})[0] - seen.values(x, {"gain": 0.8})[0]) / 1e-6
    by_gain = (seen.values(x, {"gain": 0.8 + 1e-6})[0] - seen.values(x, {"gain": 0.8})[0]) / 1e-6
    np.testing.assert_allclose(slope, np.column_stack([by_x, by_gain]), rtol=1e-6)


def test_one_gain_of_several_sensors_is_refused() -> None:
    with pytest.raises(ParameterError, match="give each its own"):
        _ = declared(of_signals("gain", "gain", 1.0, "a_effort", "b_effort")).gains


@pytest.mark.parametrize("frozen", [False, True])
def test_lengths_are_taken_as_they_are_and_never_fitted(frozen: bool) -> None:
    place = AttributeModifier("body", "fore", "pos_x")
    length = Parameter("length", 1.1, 0.9, 1.2, frozen=frozen, modifier=place)
    seen = declared(length)
    if frozen:
        assert seen.model.body("fore").pos[0] == 1.1
        seen.free(seen.params.as_vector())
        return
    with pytest.raises(
        ParameterError, match=r"'length': inverse dynamics takes lengths and mounts"
    ):
        seen.free(seen.params.as_vector())


def test_a_spring_that_rests_elsewhere_adds_a_constant_torque() -> None:
    spec = mujoco.MjSpec.from_string(
        ARM.replace('name="b"', 'name="b" stiffness="6" springref="30"')
    )
    known = ParameterDict()
    for attribute, initial in (("stiffness", 6.0), ("springref", np.radians(30.0))):
        place = AttributeModifier("joint", "b", attribute)
        known.add(Parameter(attribute, initial, -9.0, 9.0, modifier=place))
    seen = Declared(known, spec, SIGNALS, ("",))
    assert seen.curved == ("stiffness", "springref")
    theta = seen.theta(np.array([5.0, 0.9]), "")
    at = seen.columns.place
    assert theta[at[1, "stiffness"]] == pytest.approx(5.0)
    assert theta[at[1, "offset"]] == pytest.approx(5.0 * (np.radians(30.0) - 0.9))
    assert theta[at[0, "offset"]] == 0.0
