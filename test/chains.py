# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Random mechanisms with everything that the sensitivity pass follows."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import mujoco.rollout
import numpy as np

from sysid_ros.engine.least_squares.losses import loss_named
from sysid_ros.engine.parameters.modifiers import AttributeModifier
from sysid_ros.engine.parameters.parameter import Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.problem.windowed_problem import WindowedProblem
from sysid_ros.engine.signals.initial_state import create_initial_state
from sysid_ros.engine.signals.mappings import SignalType, control_names
from sysid_ros.engine.signals.timeseries import TimeSeries
from sysid_ros.engine.signals.trajectory import ModelSequences
from sysid_ros.engine.simulation.rollout_pool import RolloutPool
from sysid_ros.engine.windows.model_group import model_group

TIMESTEP = 0.002
STEPS = 250
# A stand of several turned bodies, one between two joints and one that carries nothing.
STANDS = """<mujoco><option timestep="0.002" tolerance="1e-15" integrator="implicitfast">
<flag contact="disable"/></option>
<worldbody><body name="foot" pos="0.3 0 1" euler="20 0 40"><inertial pos="0 0 0.1" mass="5"
diaginertia="0.1 0.1 0.1"/><site name="stand"/>
<body pos="0 0.2 0" euler="0 70 0"><geom size="0.05"/>
<body name="upper" pos="0.1 0 0"><joint name="a" axis="0 1 0" damping="0.1" frictionloss="0.05"/>
<inertial pos="0.2 0 0.05" mass="1" diaginertia="0.015 0.02 0.03"/>
<body pos="0.3 0 0" euler="0 0 30"><geom size="0.03"/>
<body name="lower" pos="0.1 0 0"><joint name="b" axis="0 0 1" damping="0.1" armature="0.01"/>
<inertial pos="0.1 0 0" mass="0.5" diaginertia="0.015 0.02 0.03"/></body></body></body></body>
<body pos="0 0 0.4"><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></body>
</worldbody><actuator><position name="a" joint="a" kp="8" kv="0.5"/>
<motor name="b" joint="b" forcerange="-1 1"/>
<motor name="c" site="stand" gear="1 0 2 0 0 1"/></actuator>
<sensor><jointpos name="qa" joint="a"/><jointpos name="qb" joint="b"/></sensor></mujoco>"""


@dataclass(frozen=True)
class Chain:
    """What a random mechanism is made of."""

    seed: int
    joints: int
    integrator: str
    friction: bool
    limits: bool
    servos: bool
    floating: bool = False  # on a free body with a ball joint, seen by an IMU and motion capture


def spec(chain: Chain) -> mujoco.MjSpec:
    """The mechanism: bodies on random parents, hinges and slides along random axes."""
    random = np.random.default_rng(chain.seed)
    root = mujoco.MjSpec()
    root.option.timestep = TIMESTEP
    root.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{chain.integrator}")
    root.option.tolerance = 1e-15
    root.option.iterations = 200
    root.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    bodies = [root.worldbody]
    if chain.floating:
        bodies = _add_floating_base(root, random)
    for k in range(chain.joints):
        parent = bodies[int(random.integers(len(bodies)))]
        body = parent.add_body(
            name=f"body{k}", pos=random.uniform(-0.3, 0.3, 3), quat=random.normal(size=4)
        )
        body.explicitinertial = True
        body.mass = random.uniform(0.5, 2.0)
        body.ipos = random.uniform(-0.2, 0.2, 3)
        body.inertia = random.uniform(0.8, 1.2, 3) * 0.02
        body.iquat = random.normal(size=4)
        _add_joint(chain, root, body, k, random)
        bodies.append(body)
    if chain.floating:
        _add_imu(root, bodies[-1], random)
    return root


def _add_floating_base(root: mujoco.MjSpec, random: np.random.Generator) -> list[mujoco.MjsBody]:
    """A free body and one on a ball joint, with sensors for the poses of both."""
    base = root.worldbody.add_body(name="base", quat=random.normal(size=4))
    base.add_freejoint(name="free")
    carrier = base.add_body(name="carrier", pos=random.uniform(-0.2, 0.2, 3))
    ball = carrier.add_joint(
        name="ball", type=mujoco.mjtJoint.mjJNT_BALL, pos=random.uniform(-0.1, 0.1, 3)
    )
    ball.damping = np.asarray(ball.damping) * 0.0 + np.resize(
        [0.3, 0.0, 0.0], np.size(ball.damping)
    )
    ball.armature = 0.02
    for body in (base, carrier):
        body.explicitinertial = True
        body.mass, body.inertia = random.uniform(1.0, 3.0), random.uniform(0.8, 1.2, 3) * 0.05
        body.ipos, body.iquat = random.uniform(-0.1, 0.1, 3), random.normal(size=4)
    for name, kind, element, target in (
        ("position", "FRAMEPOS", mujoco.mjtObj.mjOBJ_XBODY, "base"),
        ("orientation", "FRAMEQUAT", mujoco.mjtObj.mjOBJ_XBODY, "base"),
        ("turned", "BALLQUAT", mujoco.mjtObj.mjOBJ_JOINT, "ball"),
    ):
        root.add_sensor(name=name, type=_sensor(kind), objtype=element, objname=target)
    return [base, carrier]


def _add_imu(root: mujoco.MjSpec, body: mujoco.MjsBody, random: np.random.Generator) -> None:
    body.add_site(name="imu", pos=random.uniform(-0.1, 0.1, 3), quat=random.normal(size=4))
    for kind in ("GYRO", "ACCELEROMETER", "VELOCIMETER"):
        root.add_sensor(
            name=kind.lower(), type=_sensor(kind), objtype=mujoco.mjtObj.mjOBJ_SITE, objname="imu"
        )


def _sensor(kind: str) -> mujoco.mjtSensor:
    found: mujoco.mjtSensor = getattr(mujoco.mjtSensor, f"mjSENS_{kind}")
    return found


def _add_joint(
    chain: Chain, root: mujoco.MjSpec, body: mujoco.MjsBody, k: int, random: np.random.Generator
) -> None:
    slide = random.uniform() < 0.3
    kind = mujoco.mjtJoint.mjJNT_SLIDE if slide else mujoco.mjtJoint.mjJNT_HINGE
    joint = body.add_joint(name=f"joint{k}", type=kind, axis=random.normal(size=3))
    joint.pos = random.uniform(-0.1, 0.1, 3)
    joint.armature = random.uniform(0.01, 0.1)
    joint.damping = np.asarray(joint.damping) * 0.0 + np.resize(
        [random.uniform(0.1, 0.5), 0.05, 0.02], np.size(joint.damping)
    )
    joint.stiffness = np.asarray(joint.stiffness) * 0.0 + np.resize(
        [random.uniform(1.0, 5.0) * (100.0 if slide else 1.0), 0.0, 0.0], np.size(joint.stiffness)
    )
    joint.springref = random.uniform(-0.2, 0.2)
    if chain.friction:
        joint.frictionloss = random.uniform(0.2, 1.5)
    if chain.limits:
        joint.limited = 1
        joint.range = [-0.05, 0.05]
    actuator = root.add_actuator(
        name=f"actuator{k}", target=f"joint{k}", trntype=mujoco.mjtTrn.mjTRN_JOINT
    )
    actuator.gear = [random.uniform(0.5, 2.0), 0, 0, 0, 0, 0]
    if chain.servos:
        actuator.gainprm = np.resize([10.0], np.size(actuator.gainprm)) * 0.0
        actuator.gainprm[0] = 10.0
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        actuator.biasprm[1:3] = -10.0, -1.0
        actuator.forcelimited = 1
        actuator.forcerange = [-4.0, 4.0]
    for sensor in (mujoco.mjtSensor.mjSENS_JOINTPOS, mujoco.mjtSensor.mjSENS_JOINTVEL):
        root.add_sensor(
            name=f"{sensor.name}{k}",
            type=sensor,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            objname=f"joint{k}",
        )


def of_elements(*told: tuple[str, str, str, float]) -> ParameterDict:
    """Parameters of elements: element, name, attribute, value; each is called as its attribute."""
    params = ParameterDict()
    add_elements(params, *told)
    return params


def add_elements(params: ParameterDict, *told: tuple[str, str, str, float]) -> None:
    """Add such parameters; one whose attribute is taken already has its element's name before."""
    for element, name, attribute, value in told:
        modifier = AttributeModifier(element, name, attribute)
        called = f"{name}_{attribute}" if attribute in params else attribute
        params.add(Parameter(called, value, value - 5.0, value + 5.0, modifier=modifier))


def problem(
    root: mujoco.MjSpec, params: ParameterDict, *, engine: str = "auto", seed: int = 0
) -> WindowedProblem:
    """A recording of the mechanism with noise, cut into two windows with estimated starts."""
    model = root.copy().compile()
    random = np.random.default_rng(seed)
    times = TIMESTEP * np.arange(STEPS)
    waves = np.sin(times[:, None] * random.uniform(5.0, 25.0, model.nu) + random.normal())
    control = 3.0 * waves * random.uniform(0.5, 1.0, model.nu)
    start = create_initial_state(model, model.qpos0, np.zeros(model.nv))
    _, sensors = mujoco.rollout.rollout(model, mujoco.MjData(model), start[None], control[None])
    measured = sensors[0] + 1e-3 * random.normal(size=sensors[0].shape)
    controls = {
        name: (SignalType.MjCtrl, np.array([i])) for i, name in enumerate(control_names(model))
    }
    signals = {
        model.sensor(i).name: (
            SignalType.MjSensor,
            model.sensor_adr[i] + np.arange(model.sensor_dim[i]),
        )
        for i in range(model.nsensor)
    }
    sequences = ModelSequences(
        "chain", root, "recording", start,
        TimeSeries(times, control, controls), TimeSeries(times, measured, signals),
    )  # fmt: skip
    group = model_group(
        sequences, params, window_length=0.25, estimate_starts=True, velocity_filter=np.inf
    )
    noise = {signal.name: 1e-3 for signal in group.windows[0].sequence.signals}
    return WindowedProblem(
        [group], params, RolloutPool(1), loss=loss_named("linear"), noise=noise, engine=engine
    )
