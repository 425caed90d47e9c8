# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Trees that do not feel each other are differentiated one by one, to the same numbers."""

from __future__ import annotations

import chains
import mujoco
import numpy as np
import pytest
from chains import Chain

from sysid_ros.engine.derivatives import model_parts
from sysid_ros.engine.derivatives.model_parts import Elements, ModelPart
from sysid_ros.engine.derivatives.sensors import readings
from sysid_ros.engine.friction import FrictionParameters, apply_friction_to_spec
from sysid_ros.engine.mechanics.model_tables import Tables, tables_of
from sysid_ros.engine.parameters.modifiers import AttributeModifier, SignalModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.problem.windowed_problem import WindowedProblem

JOINTS = 6
TREES = Chain(3, JOINTS, "IMPLICITFAST", True, False, True)  # of four trees


def parts_of(root: mujoco.MjSpec) -> tuple[ModelPart, ...]:
    model = root.compile()
    return model_parts.model_parts(tables_of(model), readings(model, np.arange(model.nsensordata)))


def add_all_kinds(root: mujoco.MjSpec) -> None:
    """Tendons, one from a stand, a slider-crank, a lagging servo, a thruster, an IMU."""
    tendon = root.add_tendon(name="split", frictionloss=0.3)
    tendon.wrap_joint("joint0", 0.5)
    tendon.wrap_joint("joint2", -0.8)
    root.add_actuator(name="grip", target="split", trntype=mujoco.mjtTrn.mjTRN_TENDON)
    kind, of_tendon = mujoco.mjtSensor.mjSENS_TENDONPOS, mujoco.mjtObj.mjOBJ_TENDON
    root.add_sensor(name="length", type=kind, objtype=of_tendon, objname="split")
    servo = root.actuator("actuator4")
    servo.dyntype = mujoco.mjtDyn.mjDYN_FILTEREXACT
    servo.dynprm = np.resize([0.03], np.size(servo.dynprm))
    root.body("body5").add_site(name="imu", pos=[0.1, 0.0, 0.2])
    root.worldbody.add_body(name="stand", pos=[0, 0, 1]).add_site(name="fixed", pos=[0, 0.3, 0])
    cable = root.add_tendon(name="cable")
    cable.stiffness = np.resize([20.0, 0.0, 0.0], np.size(cable.stiffness))
    cable.springlength = [0.1, 0.1]
    cable.wrap_site("fixed")
    cable.wrap_site("imu")
    crank = root.add_actuator(name="crank", target="imu", trntype=mujoco.mjtTrn.mjTRN_SLIDERCRANK)
    crank.slidersite, crank.cranklength = "fixed", 3.0
    site = mujoco.mjtTrn.mjTRN_SITE
    for name in ("imu", "fixed"):
        root.add_actuator(name=f"at_{name}", target=name, trntype=site, gear=[1, 2, 0, 0, 0, 0])
        for kind in (mujoco.mjtSensor.mjSENS_GYRO, mujoco.mjtSensor.mjSENS_ACCELEROMETER):
            sensor = root.add_sensor(name=f"{kind.name}_{name}", type=kind, objname=name)
            sensor.objtype = mujoco.mjtObj.mjOBJ_SITE


def parameters(root: mujoco.MjSpec) -> ParameterDict:
    """Of single joints, bodies and signals, and some that all trees share."""
    params = ParameterDict()
    for k in range(JOINTS):
        for element, name, attribute in (
            ("joint", f"joint{k}", "armature"),
            ("joint", f"joint{k}", "frictionloss"),
            ("body", f"body{k}", "mass"),
        ):
            value = float(getattr(getattr(root, element)(name), attribute))
            modifier = AttributeModifier(element, name, attribute)
            params.add(
                Parameter(f"{name}_{attribute}", value, value - 5, value + 5, modifier=modifier)
            )
        bias = SignalModifier((f"mjSENS_JOINTPOS{k}",), "bias")
        params.add(Parameter(f"bias{k}", 0.01, -1.0, 1.0, modifier=bias))
    shared = SignalModifier(tuple(f"actuator{k}" for k in range(JOINTS)), "delay")
    params.add(Parameter("delay", 0.0042, 0.0, 1.0, modifier=shared))
    return params


def jacobian(problem: WindowedProblem) -> np.ndarray:
    return np.vstack(list(problem.window_rows(problem.initial_point())))


@pytest.mark.parametrize(
    ("integrator", "kinds"),
    [("RK4", "joints"), ("EULER", "all"), ("IMPLICITFAST", "all"), ("EULER", "friction law")],
)
def test_parts_agree_with_the_whole(
    integrator: str, kinds: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = chains.spec(Chain(TREES.seed, JOINTS, integrator, True, False, True))
    if kinds == "all":
        add_all_kinds(root)
    elif kinds == "friction law":
        apply_friction_to_spec(
            root, "joint1", FrictionParameters(friction_base=0.1, load_friction_motor=0.1)
        )
    problem = chains.problem(root, parameters(root))
    in_parts = jacobian(problem)
    assert set(problem.derivative_sources().values()) == {"exact"}
    separate = model_parts._owners

    def together(tables: Tables) -> Elements:
        return Elements(*(np.minimum(owners, 0) for owners in separate(tables)))

    monkeypatch.setattr(model_parts, "_owners", together)
    assert len(parts_of(root)) == 1
    whole = jacobian(chains.problem(root, parameters(root)))
    np.testing.assert_allclose(in_parts, whole, rtol=1e-9, atol=1e-9 * np.abs(whole).max())


def test_trees_are_parts_unless_something_couples_them() -> None:
    root = chains.spec(TREES)
    model, parts = root.compile(), parts_of(root)
    assert len(parts) == model.ntree == 4
    for part in parts:
        assert np.unique(model.dof_treeid[part.elements.dofs]).size == 1
    assert sorted(np.concatenate([part.elements.dofs for part in parts])) == list(range(JOINTS))
    assert sorted(np.concatenate([part.rows for part in parts])) == list(range(model.nsensordata))
    add_all_kinds(root)
    coupled = parts_of(root)
    assert len(coupled) == 3
    assert any({0, 4} <= set(part.elements.dofs.tolist()) for part in coupled)


def test_what_a_free_base_carries_is_one_part() -> None:
    root = chains.spec(Chain(3, 4, "IMPLICITFAST", False, False, True, floating=True))
    for joint in root.joints:
        body = joint.parent
        assert body.name == "base" or body.parent.name != "world"
    assert len(parts_of(root)) == 1


def test_every_table_of_a_part_is_its_own() -> None:
    """A new table counts something that a part has a share of, or this names it."""
    root = chains.spec(TREES)
    add_all_kinds(root)
    whole, shared = tables_of(root.compile()), {"gravity", "site_places"}
    for part in parts_of(root):
        for name, table in whole._asdict().items():
            if isinstance(table, np.ndarray) and table.size and name not in shared:
                assert getattr(part.tables, name).shape != table.shape, name
