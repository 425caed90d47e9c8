# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""What acts on a free body is tested, in the air and on a floor."""

from __future__ import annotations

import copy
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from sysid_ros.arrays import FloatArray
from sysid_ros.diagnosis.evidence.changed_recordings import repaired
from sysid_ros.diagnosis.evidence.finding import Change, FindingKind
from sysid_ros.diagnosis.evidence.recorded import Recorded, Samples
from sysid_ros.diagnosis.fits import (
    Misfit,
    beside_contacts,
    body_motion,
    joint_motion,
    moment_arms,
    non_negative_fit,
    regressor,
)
from sysid_ros.diagnosis.simulated.simulated_entries import Simulated
from sysid_ros.diagnosis.torque import Dynamics, modelled_explanation, torque_explanations
from sysid_ros.engine.simulation import single_blas_thread

_STEP = 0.01  # s, between samples
_THRUSTS = "".join(
    f'<site name="t{k}" pos="{np.cos(k * np.pi / 3):.4f} {np.sin(k * np.pi / 3):.4f} 0.05" '
    f'euler="{30 * (-1) ** k} {20 * (-1) ** (k // 2)} {60 * k}"/>'
    for k in range(6)
)
FLYER = f"""<mujoco><worldbody><body name="hull" pos="0 0 1"><freejoint/>
  <geom type="box" size=".3 .2 .1" mass="2"/>{_THRUSTS}</body></worldbody><actuator>
  {"".join(f'<motor site="t{k}" gear="0 0 1 0 0 0"/>' for k in range(6))}</actuator></mujoco>"""

_LEG = """<body name="hip{k}" pos="{x} {y} 0"><joint name="roll{k}" axis="1 0 0"/>
  <geom size=".04" mass=".5"/>
  <body><joint name="hip_pitch{k}" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 .1 0 -.2" size=".02" mass=".6"/>
    <body pos=".1 0 -.2"><joint name="knee{k}" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 -.1 0 -.2" size=".02" mass=".3"/></body></body></body>"""
_LEGS = "".join(
    _LEG.format(k=k, x=x, y=y)
    for k, (x, y) in enumerate([(0.2, 0.16), (0.2, -0.16), (-0.2, 0.16), (-0.2, -0.16)])
)
_DRIVES = "".join(
    f'<motor joint="{j}{k}"/>' for k in range(4) for j in ("roll", "hip_pitch", "knee")
)
WALKER = f"""<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="5 5 .1"/>
  <body name="trunk" pos="0 0 .43"><freejoint/><geom type="box" size=".25 .1 .05" mass="6"/>{_LEGS}
  </body></worldbody><actuator>{_DRIVES}</actuator></mujoco>"""


def _recorded(model: mujoco.MjModel, qpos: FloatArray, effort: FloatArray) -> Recorded:
    times = _STEP * np.arange(len(qpos))
    pose = tuple(f"p{i}" for i in range(7))
    positions = {joint: f"q{joint}" for joint in range(1, model.njnt)}
    efforts = {actuator: f"u{actuator}" for actuator in range(model.nu)}
    columns = dict(zip((*pose, *positions.values()), qpos.T, strict=True))
    columns |= dict(zip(efforts.values(), effort.T, strict=True))
    signals = {label: Samples(times, values) for label, values in columns.items()}
    return Recorded(model, (signals,), ({},), positions, {}, efforts, {}, poses={0: pose})


def _flight(model: mujoco.MjModel) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A way through the air, with what MuJoCo says of its rates."""
    times = _STEP * np.arange(800)
    sway = np.stack([np.sin((1.1 + 0.37 * k) * times + k) for k in range(6)], axis=1)
    qpos = np.zeros((len(times), 7))
    qpos[:, :3] = 0.4 * sway[:, :3]
    for row, turn in zip(qpos, 0.5 * sway[:, 3:], strict=True):
        mujoco.mju_axisAngle2Quat(row[3:], turn / np.linalg.norm(turn), np.linalg.norm(turn))
    qvel = np.zeros((len(times), 6))
    for i in range(1, len(times) - 1):
        mujoco.mj_differentiatePos(model, qvel[i], 2.0 * _STEP, qpos[i - 1], qpos[i + 1])
    return qpos, qvel, np.gradient(qvel, _STEP, axis=0)


@pytest.fixture(scope="module")
def flyer() -> Recorded:
    """Six thrusts that carry a hull along its way."""
    model = mujoco.MjModel.from_xml_string(FLYER)
    data, motion = mujoco.MjData(model), _flight(model)
    arms, effort = moment_arms(model, motion[0]), np.zeros((len(motion[0]), 6))
    for i in range(len(effort)):
        data.qpos[:], data.qvel[:], data.qacc[:] = (part[i] for part in motion)
        mujoco.mj_inverse(model, data)
        effort[i] = np.linalg.solve(arms[i].T, data.qfrc_inverse)
    kept = slice(5, -5)
    return _recorded(model, motion[0][kept], effort[kept])


@pytest.fixture(scope="module")
def walker() -> Recorded:
    """Four legs that sway a trunk over the floor they stand on."""
    model = mujoco.MjModel.from_xml_string(WALKER)
    data, qpos, effort = mujoco.MjData(model), [], []
    for i in range(4500):
        joint = np.arange(12)
        wanted = 0.1 * np.sin((1.5 + 0.2 * joint) * 0.001 * i + joint)
        data.ctrl[:] = 150.0 * (wanted - data.qpos[7:]) - 4.0 * data.qvel[6:]
        if i >= 500 and i % 10 == 0:
            qpos.append(data.qpos.copy())
            effort.append(data.ctrl.copy())
        mujoco.mj_step(model, data)
    return _recorded(model, np.array(qpos), np.array(effort))


def test_what_no_force_moves_does_not_seem_explained(flyer: Recorded) -> None:
    """Such as an object that is tracked beside a robot."""
    tracked = '<body name="cube" pos="3 0 0"><freejoint/><geom size=".1"/></body></worldbody>'
    model = mujoco.MjModel.from_xml_string(FLYER.replace("</worldbody>", tracked))
    times = flyer.recordings[0]["p0"].times
    still = {
        f"c{i}": Samples(times, 0.0 * times + value) for i, value in enumerate(model.qpos0[7:])
    }
    both = replace(
        repaired(flyer, _sign("u2")), model=model, poses={**flyer.poses, 1: tuple(still)}
    )
    both = replace(both, recordings=({**both.recordings[0], **still},))
    alone, beside = Dynamics.of(repaired(flyer, _sign("u2"))), Dynamics.of(both)
    assert alone is not None and beside is not None
    assert {*beside.shares()} == {0}
    assert beside.misfit().share == pytest.approx(alone.misfit().share, rel=1e-3)


def _sign(label: str) -> Change:
    return Change(FindingKind.SIGN, scale={label: -1.0})


def _told(seen: Recorded, change: Change) -> list[tuple[FindingKind, set[str]]]:
    wrong = repaired(seen, change)
    test = Dynamics.of(wrong)
    assert test is not None
    with single_blas_thread():
        found = torque_explanations(wrong, test)
    return [(one.change.kind, {*one.change.signals}) for one in found]


def test_rates_of_coordinates_are_those_of_the_body() -> None:
    model = mujoco.MjModel.from_xml_string(FLYER)
    qpos, qvel, qacc = _flight(model)
    qpos = qpos * np.array([1.0, 1.0, 1.0, *[1.01] * 4])  # of any length
    rates = np.gradient(qpos, _STEP, axis=0)
    found = joint_motion(model, qpos, rates, np.gradient(rates, _STEP, axis=0))
    inside = slice(5, -5)
    assert np.linalg.norm(found[0][:, 3:], axis=1) == pytest.approx(1.0)
    assert found[1][inside] == pytest.approx(qvel[inside], abs=2e-3)
    assert found[2][inside] == pytest.approx(qacc[inside], abs=5e-3)


def test_what_contacts_push_is_left_out() -> None:
    model = mujoco.MjModel.from_xml_string(WALKER)
    data = mujoco.MjData(model)
    for _ in range(300):
        data.ctrl[:] = -150.0 * data.qpos[7:] - 4.0 * data.qvel[6:]
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    assert np.abs(data.qfrc_constraint).max() > 1.0
    weight = np.linspace(0.5, 2.0, model.nv)
    beside = beside_contacts(model, data.qpos[None], range(model.nv), weight)
    assert beside is not None
    assert np.abs(beside[0] @ data.qfrc_constraint).max() < 1e-6
    assert np.linalg.matrix_rank(beside[0]) == 6
    high = data.qpos.copy()
    high[2] += 1.0
    assert beside_contacts(model, high[None], range(model.nv), weight) is None


def test_nothing_is_found_in_right_recordings(flyer: Recorded, walker: Recorded) -> None:
    for seen in (flyer, walker):
        test = Dynamics.of(seen)
        assert test is not None
        assert torque_explanations(seen, test) == []


def test_no_position_of_legs_is_tried_where_none_could_be_accepted(
    walker: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise, signals = np.random.default_rng(4), dict(walker.recordings[0])
    for label in walker.efforts.values():
        one = signals[label]
        more = 0.15 * np.std(one.values) * noise.normal(size=len(one.values))
        signals[label] = replace(one, values=one.values + more)
    seen = replace(walker, recordings=(signals,))
    test, tried = Dynamics.of(seen), list[Change]()
    assert test is not None
    assert 0.05 < test.misfit().share < 0.1
    glance = test.glance

    def counted(*changes: Change) -> Misfit:
        tried.extend(changes)
        return glance(*changes)

    monkeypatch.setattr(test, "glance", counted)
    assert torque_explanations(seen, test) == []
    positions = {*walker.positions.values()}
    assert not [one for one in tried if positions & {*one.signals}]


def test_the_factor_of_one_thrust_beside_others_is_tried(flyer: Recorded) -> None:
    """That of all looks like another mass, of one it does not."""
    thrusts = [*flyer.efforts.values()]
    sized = Simulated(flyer, dict.fromkeys(thrusts, "/thrusts")).sized(thrusts, [], ())
    scaled = [one.labels for one in sized if one.kind is FindingKind.SCALE]
    assert scaled == [(label,) for label in thrusts]


@pytest.mark.parametrize(
    "planted",
    [_sign("u2"), Change(FindingKind.SWAP, exchange=(("u0", "u3"),)),
     Change(FindingKind.SCALE, scale={"u4": 2.0})],
)  # fmt: skip
def test_mistakes_of_thrusts_are_found(flyer: Recorded, planted: Change) -> None:
    assert _told(flyer, planted) == [(planted.kind, {*planted.signals})]


@pytest.mark.parametrize(
    "planted",
    [
        pytest.param(_sign("q2"), marks=pytest.mark.slow),
        Change(FindingKind.SWAP, exchange=(("u2", "u5"),)),
    ],
)
def test_mistakes_of_legs_on_a_floor_are_found(walker: Recorded, planted: Change) -> None:
    assert _told(walker, planted) == [(planted.kind, {*planted.signals})]


@pytest.mark.parametrize(("label", "factor"), [("u1", 0.5), ("u5", 2.0)])
def test_the_factor_of_a_torque_of_legs_on_a_floor_is_found(
    walker: Recorded, label: str, factor: float
) -> None:
    """With the model's own bodies, as others might make up for it."""
    wrong = repaired(walker, Change(FindingKind.SCALE, scale={label: factor}))
    test = Dynamics.of(wrong)
    assert test is not None
    found = modelled_explanation(wrong, test)
    assert found is not None
    assert found.change.signals == (label,)
    assert found.size == pytest.approx(1.0 / factor, rel=0.1)


@pytest.mark.parametrize("size", [0.0, 0.3])
def test_other_masses_on_a_floor_are_no_mistake_of_a_torque(walker: Recorded, size: float) -> None:
    model = copy.copy(walker.model)
    factors = np.exp(size * np.random.default_rng(2).standard_normal(model.nbody))
    model.body_mass[:] *= factors
    model.body_inertia[:] *= factors[:, None]
    other = replace(walker, model=model)
    test = Dynamics.of(other)
    assert test is not None
    assert modelled_explanation(other, test) is None


def test_what_floats_in_water_is_explained_by_its_model() -> None:
    """It has mass and no weight, and water resists it as the model says, or by a factor."""
    hull = FLYER.replace('name="hull"', 'name="hull" gravcomp="1"').replace(
        "<worldbody>", '<option density="1000" viscosity=".001"/><worldbody>'
    )
    model = mujoco.MjModel.from_xml_string(hull)
    data, random = mujoco.MjData(model), np.random.default_rng(0)
    rows = []
    for _ in range(40):
        data.qpos[:] = [0.0, 0.0, 0.0, *random.standard_normal(4)]
        data.qpos[3:] /= np.linalg.norm(data.qpos[3:])
        data.qvel[:], data.ctrl[:] = random.standard_normal(6), 30.0 * random.standard_normal(6)
        mujoco.mj_forward(model, data)
        parts = (data.qpos, data.qvel, data.qacc, data.qfrc_actuator)
        rows.append([part.copy() for part in parts])
    qpos, qvel, qacc, force = (np.array(part) for part in zip(*rows, strict=True))
    matrix = regressor(model, body_motion(model, qpos, qvel, qacc))
    matrix = matrix.reshape(force.size, -1)
    left = force.ravel() - matrix @ non_negative_fit(matrix, force.ravel())
    assert np.linalg.norm(left) < 1e-3 * np.linalg.norm(force)


def _noisy(seen: Recorded) -> dict[str, Samples]:
    """A recording with poses of which the derivatives are mostly noise."""
    rng = np.random.default_rng(4)
    poses = {*seen.poses[0]}
    return {
        label: replace(one, values=one.values + 0.1 * rng.standard_normal(len(one.values)))
        if label in poses else one
        for label, one in seen.recordings[0].items()
    }  # fmt: skip


def test_thrusts_are_told_apart_by_a_motion_that_is_mostly_noise(flyer: Recorded) -> None:
    seen = replace(flyer, recordings=(_noisy(flyer),))
    test = Dynamics.of(seen)
    assert test is not None and test.misfit().share > 0.5  # of torques by motion
    swap = Change(FindingKind.SWAP, exchange=(("u1", "u2"),))
    for change in (swap, _sign("u3"), Change(FindingKind.SCALE, scale={"u4": 2.0})):
        assert _told(seen, change) == [(change.kind, {*change.signals})]
    both = Change(FindingKind.SIGN, scale={"u0": -1.0, "u4": -1.0})
    assert _told(seen, both) == [(FindingKind.SIGN, {"u0", "u4"})]  # exchanged there and back
    assert torque_explanations(seen, test) == []


def test_a_small_factor_of_one_bodys_thrust_hides_no_exchange_of_anothers(flyer: Recorded) -> None:
    spec = mujoco.MjSpec.from_string(FLYER)
    place = spec.worldbody.add_frame()
    spec.attach(mujoco.MjSpec.from_string(FLYER), prefix="other_", frame=place)
    both = _noisy(flyer)
    both |= {f"other_{label}": one for label, one in both.items()}
    both["other_p0"] = replace(both["p0"], values=both["p0"].values + 5.0)  # m, beside it
    poses = {0: flyer.poses[0], 1: tuple(f"other_{label}" for label in flyer.poses[0])}
    efforts = {actuator: f"{'other_' * (actuator // 6)}u{actuator % 6}" for actuator in range(12)}
    seen = Recorded(spec.compile(), (both,), ({},), {}, {}, efforts, {}, poses=poses)
    small = repaired(seen, Change(FindingKind.SCALE, scale={"u4": 1.45}))
    swap = Change(FindingKind.SWAP, exchange=(("other_u1", "other_u2"),))
    assert (FindingKind.SWAP, {"other_u1", "other_u2"}) in _told(small, swap)
