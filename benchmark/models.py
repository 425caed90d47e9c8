# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Models of the benchmark that come without files."""

from __future__ import annotations


def _arm() -> str:
    """The five-jointed arm of the notebook of ``mujoco.sysid``."""
    opening, motors, sensors = "", "", ""
    links = (
        ("0 0 1", 1.0, 0.05, "0.01 0.01 0.005"),
        ("0 1 0", 0.8, 0.05, "0.008 0.008 0.004"),
        ("0 1 0", 0.6, 0.05, "0.006 0.006 0.003"),
        ("0 0 1", 0.4, 0.04, "0.004 0.004 0.002"),
        ("0 1 0", 0.2, 0.03, "0.002 0.002 0.001"),
    )
    for i, (axis, mass, com, inertia) in enumerate(links, start=1):
        opening += f"""<body name="link{i}" pos="0 0 {0.08 if i == 5 else 0.1}">
          <inertial pos="0 0 {com}" mass="{mass}" diaginertia="{inertia}"/>
          <joint name="joint{i}" axis="{axis}" range="-3.14 3.14" armature="{0.6 - 0.1 * i:.1f}"
            damping="{1.2 - 0.2 * i:.1f}"/>
          <geom type="capsule" fromto="0 0 0 0 0 0.06" size="0.02"/>"""
        motors += f'<motor name="act{i}" joint="joint{i}"/>'
        sensors += f'<jointpos name="joint{i}_pos" joint="joint{i}"/>'
    return f"""<mujoco><compiler angle="radian" autolimits="true"/>
      <option integrator="implicitfast" timestep="0.002"><flag contact="disable"/></option>
      <worldbody>{opening}{"</body>" * len(links)}</worldbody>
      <actuator>{motors}</actuator><sensor>{sensors}</sensor></mujoco>"""


def _quadruped() -> str:
    """A trunk on four legs with servos and springs, standing on the floor with feet that grip.

    The trunk's orientation is not measured: the reference subtracts quaternions as numbers, and the
    two libraries would not minimize the same function.
    """
    legs, servos, sensors = "", "", ""
    for leg, x, y in (("fl", 0.2, 0.1), ("fr", 0.2, -0.1), ("rl", -0.2, 0.1), ("rr", -0.2, -0.1)):
        legs += f"""<body name="{leg}_hip" pos="{x} {y} 0"><joint name="{leg}_hip" axis="1 0 0"/>
          <geom type="sphere" size="0.04" mass="0.7" contype="0" conaffinity="0"/>
          <body name="{leg}_thigh" pos="0 {0.08 if y > 0 else -0.08} 0">
          <joint name="{leg}_thigh" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="1" contype="0"
            conaffinity="0"/>
          <body name="{leg}_calf" pos="0 0 -0.2"><joint name="{leg}_calf" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.015" mass="0.2" contype="0"
            conaffinity="0"/>
          <geom type="sphere" pos="0 0 -0.2" size="0.025" mass="0.06"/></body></body></body>"""
        for part in ("hip", "thigh", "calf"):
            joint = f"{leg}_{part}"
            servos += f'<position name="{joint}" joint="{joint}" kp="40" kv="1"/>'
            sensors += f'<jointpos name="{joint}_pos" joint="{joint}"/>'
    stand = "0 0.7 -1.4 " * 4
    return f"""<mujoco><option timestep="0.002" integrator="implicitfast"
      tolerance="1e-12"/>
      <default><joint armature="0.02" damping="0.5" stiffness="2"/></default>
      <worldbody><geom type="plane" size="5 5 1" friction="3 0.005 0.0001"/>
      <body name="trunk" pos="0 0 0.34"><freejoint/>
      <geom type="box" size="0.25 0.1 0.06" mass="6" contype="0" conaffinity="0"/>{legs}</body>
      </worldbody><actuator>{servos}</actuator>
      <sensor>{sensors}<framepos name="trunk_position" objtype="body" objname="trunk"/></sensor>
      <keyframe><key qpos="0 0 0.34 1 0 0 0 {stand}" ctrl="{stand}"/></keyframe></mujoco>"""


ARM, QUADRUPED = _arm(), _quadruped()
