# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Inertias of bodies: read as simulated, written for one body only, whatever the compiler does."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from sysid_ros.engine.attributes.attribute_table import lookup
from sysid_ros.engine.elements.body_inertia import make_explicit
from sysid_ros.engine.elements.inertia import BodyInertia, full_inertia, inertia_from_theta
from sysid_ros.engine.elements.slim_model import remove_visuals
from sysid_ros.errors import ModelError
from sysid_ros.sysid import InertiaType, ParameterDict, apply_param_modifiers, body_inertia_param

BODIES = """
  <worldbody><body name="inferred"><joint/><geom size=".1"/><geom size=".05" pos=".3 0 0"/>
    <body name="turned"><joint/><inertial pos="0 .1 0" euler="10 20 30" mass="1"
      diaginertia="1 1.5 .8"/><geom size=".1"/>
      <body name="full"><joint/><inertial pos="0 0 .1" mass="2" fullinertia="1 1.5 .8 .1 .2 .05"/>
        <geom size=".1"/>
        <body name="light"><joint/><inertial pos=".2 0 0" mass=".9" diaginertia=".8 .7 .8"/>
        </body></body></body></body></worldbody>"""

pytestmark = pytest.mark.filterwarnings("ignore:compiler attribute 'settotalmass' is deprecated")

COMPILERS = {
    "auto": "<compiler/>",
    "always": '<compiler inertiafromgeom="true"/>',
    "total": '<compiler settotalmass="10"/>',
    "bounds": '<compiler boundmass="1.1" boundinertia="0.9"/>',
}


def spec_with(compiler: str) -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(f"<mujoco>{COMPILERS[compiler]}{BODIES}</mujoco>")


def tensors(model: mujoco.MjModel) -> dict[str, tuple[float, np.ndarray, np.ndarray]]:
    """Mass, centre and full inertia of every body: what the simulation sees."""
    result = {}
    for i in range(1, model.nbody):
        body = BodyInertia(
            model.body_mass[i], model.body_ipos[i], model.body_iquat[i], model.body_inertia[i]
        )
        result[model.body(i).name] = (body.mass, body.ipos, full_inertia(body))
    return result


def assert_same(a, b) -> None:
    for mine, other in zip(a, b, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", ["inferred", "turned", "full", "light"])
@pytest.mark.parametrize("attribute", ["mass", "mass_ipos", "inertia"])
def test_writing_one_body_leaves_the_others_alone(compiler, name, attribute):
    spec = spec_with(compiler)
    before = tensors(spec.copy().compile())
    row = lookup("body", attribute)
    value = row.read(spec, name)
    if attribute != "inertia":
        value[0] *= 1.7
    else:
        value[0] += 0.5 * np.log(1.7)
    row.write(spec, name, value)
    after = tensors(spec.compile())
    assert after[name][0] == pytest.approx(1.7 * before[name][0])
    np.testing.assert_allclose(after[name][2], 1.7 * before[name][2], rtol=1e-9, atol=1e-15)
    for other in set(after) - {name}:
        assert_same(after[other], before[other])


@pytest.mark.parametrize("compiler", COMPILERS)
def test_making_inertias_explicit_changes_nothing(compiler):
    spec = spec_with(compiler)
    before = tensors(spec.copy().compile())
    make_explicit(spec, ["inferred", "full"])
    after = tensors(spec.compile())
    for name in before:
        assert_same(after[name], before[name])


@given(
    st.sampled_from(["inferred", "turned", "full", "light"]),
    npst.arrays(np.float64, 10, elements=st.floats(-1.5, 1.5)),
)
def test_every_theta_compiles_into_the_inertia_it_stands_for(name, theta):
    spec = spec_with("auto")
    lookup("body", "inertia").write(spec, name, theta)
    expected = inertia_from_theta(theta)
    mass, centre, inertia = tensors(spec.compile())[name]
    assert mass == pytest.approx(expected.mass)
    # A centred and aligned inertia is moved by micrometres, which the compiler would not see.
    np.testing.assert_allclose(centre, expected.ipos, rtol=1e-7, atol=1e-5)
    reference = full_inertia(expected)
    np.testing.assert_allclose(inertia, reference, atol=2e-5 * np.abs(reference).max())


@pytest.mark.parametrize("inertia_type", list(InertiaType))
@pytest.mark.parametrize("name", ["inferred", "turned", "full", "light"])
def test_parameter_of_an_inertia_starts_at_the_model_and_stays_within_its_bounds(
    inertia_type, name
):
    spec = spec_with("auto")
    model = spec.copy().compile()
    params = ParameterDict()
    params.add(body_inertia_param(spec, model, name, inertia_type))
    assert params[f"{name}_inertia"].size == {0: 1, 1: 4, 2: 10}[inertia_type.value]
    after = tensors(apply_param_modifiers(params, spec))
    for body, values in tensors(model).items():
        assert_same(after[body], values)
    params.randomize(np.random.default_rng(0))
    apply_param_modifiers(params, spec)  # compiles


@pytest.mark.parametrize(("scale", "factor"), [(True, 2.0), (False, 1.0)])
def test_rotational_inertia_follows_the_mass_on_request(scale, factor):
    spec = spec_with("auto")
    model = spec.copy().compile()
    parameter = body_inertia_param(spec, model, "full", InertiaType.Mass, scale_rot_inertia=scale)
    parameter.value = 2.0 * parameter.value
    params = ParameterDict({"p": parameter})
    after = tensors(apply_param_modifiers(params, spec))["full"]
    np.testing.assert_allclose(after[2], factor * tensors(model)["full"][2], rtol=1e-9)


def test_bounds_of_the_parameter_are_those_asked_for():
    spec = spec_with("auto")
    parameter = body_inertia_param(
        spec,
        spec.copy().compile(),
        "turned",
        InertiaType.MassIpos,
        mass_bound_mult=[0.5, 2.0],
        ipos_bound_off=[-0.01, 0.02],
        param_name="turned",
    )
    low, high = parameter.get_bounds()
    np.testing.assert_allclose(low, [0.5, -0.01, 0.09, -0.01])
    np.testing.assert_allclose(high, [2.0, 0.02, 0.12, 0.02])


URDF = """<robot name="r"><link name="base"/>
  <link name="arm"><inertial><origin xyz="0 0 0.1" rpy="0.3 0 0"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"><inertial><mass value="0.5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/></joint>
  <joint name="f" type="fixed"><parent link="arm"/><child link="tip"/>
    <origin xyz="0 0 0.5"/></joint></robot>"""


@pytest.mark.parametrize("name", ["arm", "tip"])
def test_links_of_fixed_joints_keep_their_own_inertia(name):
    """MuJoCo fuses them into their parent; read and written back, nothing may count twice."""
    spec = mujoco.MjSpec.from_string(URDF)
    before = spec.copy().compile()
    mass = lookup("body", "mass")
    assert mass.read(spec, name) == {"arm": 1.0, "tip": 0.5}[name]
    mass.write(spec, name, mass.read(spec, name))
    after = spec.copy().compile()
    np.testing.assert_allclose(after.body_mass, before.body_mass)
    np.testing.assert_allclose(after.body_ipos, before.body_ipos, atol=1e-12)
    np.testing.assert_allclose(
        full_inertia(read_as_fused(after)), full_inertia(read_as_fused(before)), atol=1e-12
    )


def read_as_fused(model):
    arm = model.body("arm")
    return BodyInertia(arm.mass.item(), arm.ipos, arm.iquat, arm.inertia)


def test_a_body_without_mass_has_none_to_scale():
    empty = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="frame"/></worldbody></mujoco>'
    )
    with pytest.raises(ModelError, match="a body without mass"):
        lookup("body", "mass").write(empty, "frame", np.array([1.0]))


def test_removing_visuals_keeps_the_physics():
    spec = mujoco.MjSpec.from_string(
        '<mujoco><asset><texture name="t" type="2d" builtin="checker" width="8" height="8"/>'
        '<material name="m" texture="t"/></asset><worldbody><body name="b"><joint/>'
        '<geom size=".1" contype="0" conaffinity="0" material="m"/><geom size=".05" material="m"/>'
        "</body></worldbody></mujoco>"
    )
    # Before MuJoCo 3.16 a spec that was written keeps its geoms' materials, which are gone.
    text, before = spec.copy().to_xml(), tensors(spec.copy().compile())
    plain = remove_visuals(spec)
    model = plain.compile()
    assert model.ngeom == 1
    assert not plain.textures
    assert not plain.materials
    assert_same(tensors(model)["b"], before["b"])
    assert spec.to_xml() == text


@pytest.mark.parametrize("step", [1e-9, 1e-8, 1e-7, 1e-6])
@pytest.mark.parametrize("attribute", ["com_x", "com_y", "inertia"])
def test_tiny_steps_from_a_centred_and_aligned_inertia_have_an_effect(step, attribute):
    """MuJoCo's compiler takes offsets and turns below 1e-6 for none."""
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="b"><freejoint/><inertial pos="0 0 0" mass="1" '
        'diaginertia=".1 .2 .25"/></body></worldbody></mujoco>'
    )
    row = lookup("body", attribute, "pseudo" if attribute == "inertia" else None)
    nominal = row.read(spec, "b")
    component = 4 if attribute == "inertia" else 0  # a shear, which turns the principal axes
    accelerations = []
    for change in (0.0, step):
        moved = spec.copy()
        value = nominal.copy()
        value[component] += change
        row.write(moved, "b", value)
        model = moved.compile()
        data = mujoco.MjData(model)
        data.qvel[:] = [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]
        mujoco.mj_forward(model, data)
        accelerations.append(data.qacc.copy())
    slope = np.abs(accelerations[1] - accelerations[0]).max() / step
    assert 0.1 < slope < 100.0
