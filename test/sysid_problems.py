# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identification problems with known answers that several tests share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

from sysid_ros import sysid

SPRING_MASS = """
<mujoco model="spring_mass">
  <option timestep="0.002"><flag contact="disable"/></option>
  <worldbody>
    <body name="ball" pos="0 0 0.1">
      <inertial pos="0 0 0" mass="1.0" diaginertia="0.001 0.001 0.001"/>
      <joint name="slide" type="slide" axis="1 0 0" stiffness="100" damping="5.0"/>
      <geom type="box" size="0.05 0.05 0.05"/>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="slide"/></actuator>
  <sensor>
    <jointpos name="position" joint="slide"/>
    <jointvel name="velocity" joint="slide"/>
  </sensor>
</mujoco>
"""

CART = """
<mujoco model="cart">
  <option timestep="0.002"><flag contact="disable"/></option>
  <worldbody>
    <body name="cart" pos="0 0 0.1">
      <inertial pos="0 0 0" mass="2.0" diaginertia="0.001 0.001 0.001"/>
      <joint name="slide" type="slide" axis="1 0 0"/>
      <geom type="sphere" size="0.05"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="slide" gear="3.0"/></actuator>
  <sensor>
    <jointpos name="position" joint="slide"/>
    <jointvel name="velocity" joint="slide"/>
  </sensor>
</mujoco>
"""

ARM_ARMATURE = {"joint1": 0.5, "joint2": 0.4, "joint3": 0.3, "joint4": 0.2, "joint5": 0.1}


def arm_xml() -> str:
    """The five-jointed arm of the notebook."""
    links = [
        ("0 0 1", 1.0, 0.05, (0.01, 0.01, 0.005), 1.0),
        ("0 1 0", 0.8, 0.05, (0.008, 0.008, 0.004), 0.8),
        ("0 1 0", 0.6, 0.05, (0.006, 0.006, 0.003), 0.6),
        ("0 0 1", 0.4, 0.04, (0.004, 0.004, 0.002), 0.4),
        ("0 1 0", 0.2, 0.03, (0.002, 0.002, 0.001), 0.2),
    ]
    height = (0.1, 0.1, 0.1, 0.1, 0.08)
    opening, closing, motors, sensors = "", "", "", ""
    for i, (axis, mass, com, inertia, damping) in enumerate(links, start=1):
        moments = " ".join(map(str, inertia))
        opening += (
            f'<body name="link{i}" pos="0 0 {height[i - 1]}">'
            f'<inertial pos="0 0 {com}" mass="{mass}" diaginertia="{moments}"/>'
            f'<joint name="joint{i}" type="hinge" axis="{axis}" range="-3.14 3.14" '
            f'armature="{ARM_ARMATURE[f"joint{i}"]}" damping="{damping}"/>'
            f'<geom type="capsule" fromto="0 0 0 0 0 0.06" size="0.02"/>'
        )
        closing += "</body>"
        motors += f'<motor name="act{i}" joint="joint{i}"/>'
        sensors += f'<jointpos name="joint{i}_pos" joint="joint{i}"/>'
    return (
        '<mujoco model="arm"><compiler angle="radian" autolimits="true"/>'
        '<option integrator="implicitfast" timestep="0.002"><flag contact="disable"/></option>'
        f"<worldbody>{opening}{closing}</worldbody><actuator>{motors}</actuator>"
        f"<sensor>{sensors}</sensor></mujoco>"
    )


@dataclass(frozen=True)
class Recording:
    """A model and arrays as the notebook makes them: sensors stamped one step late."""

    spec: Any
    model: Any
    initial_state: np.ndarray
    control_times: np.ndarray
    control: np.ndarray
    times: np.ndarray
    sensordata: np.ndarray

    @property
    def commanded(self) -> sysid.TimeSeries:
        """The controls."""
        return sysid.TimeSeries(self.control_times, self.control)

    def noisy(self, noise: float) -> np.ndarray:
        """The sensors' readings with white noise of a standard deviation."""
        return self.sensordata + np.random.default_rng(0).normal(
            scale=noise, size=self.sensordata.shape
        )

    def sequences(
        self,
        name: str = "model",
        *,
        control: sysid.TimeSeries | None = None,
        times: np.ndarray | None = None,
        data: np.ndarray | None = None,
        names: Any = None,
    ) -> sysid.ModelSequences:
        """The recording as a library takes it, with other commands or readings if given."""
        return sysid.ModelSequences(
            name,
            self.spec,
            "run",
            self.initial_state,
            control or self.commanded,
            sysid.TimeSeries.from_names(
                self.times if times is None else times,
                self.sensordata if data is None else data,
                self.model,
                names,
            ),
        )


def record(spec: Any, control: Any, duration: float) -> Recording:
    """Simulate ``spec`` under ``control(t)``, which gives (n, nu)."""
    model = spec.copy().compile()
    times = np.arange(int(duration / model.opt.timestep)) * model.opt.timestep
    values = control(times)
    data = mujoco.MjData(model)
    start = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS.value))
    mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS.value)
    state, sensors = mujoco.rollout.rollout(model, data, start, values[:-1])
    return Recording(spec, model, start, times, values, state[0, :, 0], sensors[0])


def record_spring_mass(duration: float = 3.0) -> Recording:
    """The notebook's mass on a spring."""
    return record(
        mujoco.MjSpec.from_string(SPRING_MASS),
        lambda t: (5.0 * np.sin(2 * np.pi * 1.5 * t) + 3.0 * np.sin(2 * np.pi * 3.7 * t)).reshape(
            -1, 1
        ),
        duration,
    )


def record_cart(payload: float = 0.0) -> Recording:
    """The notebook's cart, with a known payload or without."""
    spec = mujoco.MjSpec.from_string(CART)
    if payload:
        body = spec.body("cart").add_body()
        body.name, body.mass, body.inertia = "payload", payload, [0.001] * 3
    return record(
        spec,
        lambda t: (3.0 * np.sin(2 * np.pi * 2.0 * t) + 2.0 * np.sin(2 * np.pi * 5.0 * t)).reshape(
            -1, 1
        ),
        0.6,
    )


def record_arm(duration: float = 2.0) -> Recording:
    """The notebook's arm."""
    rates, phases = (0.5, 0.7, 0.4, 0.9, 0.6), (0.0, 0.5, 1.0, 1.5, 2.0)
    return record(
        mujoco.MjSpec.from_string(arm_xml()),
        lambda t: np.column_stack(
            [(5.0 - i) * np.sin(2 * np.pi * rates[i] * t + phases[i]) for i in range(5)]
        ),
        duration,
    )
