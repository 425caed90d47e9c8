# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Robots of kinds that were never tried before: humanoids, parallel machines, vehicles."""

from __future__ import annotations

import mujoco
from robot_kinds import HEAD, ROVER, URDF_ARM, WHEELS

_ARM = """
<body name="shoulder" pos="-.02 0 .03">
  <joint name="arm_pan_joint" axis="0 0 1" damping=".4" armature=".02" frictionloss=".1"/>
  <geom type="cylinder" size=".03 .03" pos="0 0 .03" mass=".4" contype="0" conaffinity="0"/>
  <body name="upper_arm" pos="0 0 .06">
    <joint name="arm_lift_joint" axis="0 1 0" damping=".4" armature=".02" frictionloss=".1"/>
    <geom type="capsule" fromto="0 0 0 0 0 .2" size=".02" mass=".3" contype="0" conaffinity="0"/>
    <body name="forearm" pos="0 0 .2">
      <joint name="arm_elbow_joint" axis="0 1 0" damping=".2" armature=".01" frictionloss=".05"/>
      <geom type="capsule" fromto="0 0 0 0 0 .15" size=".015" mass=".2" contype="0"
            conaffinity="0"/></body></body></body>
<site name="imu_site"/>"""
_ARM_SERVOS = """
<position name="pan_servo" joint="arm_pan_joint" kp="30" kv="1.5"/>
<position name="lift_servo" joint="arm_lift_joint" kp="40" kv="2"/>
<position name="elbow_servo" joint="arm_elbow_joint" kp="20" kv="1"/></actuator>"""
MOBILE_ARM = ROVER.replace('<site name="imu_site"/>', _ARM).replace("</actuator>", _ARM_SERVOS)

PARALLEL_GRIPPER = f"""
<mujoco model="parallel_gripper">{HEAD}
  <worldbody><body name="palm" pos="0 0 .2"><geom type="box" size=".03 .06 .02" mass=".5"/>
    <body name="left_finger" pos="0 .01 .04">
      <joint name="left_finger_joint" type="slide" axis="0 1 0" range="0 .05" damping="8"
             armature=".3" frictionloss="1"/>
      <geom type="box" size=".008 .004 .02" mass=".08"/></body>
    <body name="right_finger" pos="0 -.01 .04">
      <joint name="right_finger_joint" type="slide" axis="0 -1 0" range="0 .05"/>
      <geom type="box" size=".008 .004 .02" mass=".08"/></body>
  </body></worldbody>
  <equality><joint joint1="right_finger_joint" joint2="left_finger_joint"
    solref=".004 1"/></equality>
  <actuator><position name="fingers" joint="left_finger_joint" kp="1000" kv="40"
    ctrlrange="0 .05"/></actuator>
</mujoco>
"""

BALL_SCREWS = f"""
<mujoco model="ball_screws">{HEAD}
  <worldbody><body name="bridge" pos="0 0 1">
    <joint name="x_joint" type="slide" axis="1 0 0" range="-.6 .6" damping="300" armature="40"
           frictionloss="40"/>
    <geom type="box" size=".05 .6 .05" mass="12"/>
    <body name="carriage">
      <joint name="y_joint" type="slide" axis="0 1 0" range="-.4 .4" damping="200" armature="25"
             frictionloss="30"/>
      <geom type="box" size=".08 .08 .08" mass="5"/>
      <body name="ram">
        <joint name="z_joint" type="slide" axis="0 0 1" range="-.3 .1" damping="150" armature="20"
               frictionloss="20"/>
        <geom type="box" size=".03 .03 .3" mass="2"/></body></body></body></worldbody>
  <actuator>
    <position name="x_screw" joint="x_joint" gear="628" kp=".12" kv=".004"/>
    <position name="y_screw" joint="y_joint" gear="628" kp=".1" kv=".003"/>
    <position name="z_screw" joint="z_joint" gear="1257" kp=".02" kv=".0006"/>
  </actuator>
</mujoco>
"""

# Six thrusters on a hull that neither sinks nor rises.
SUBMARINE = """
<mujoco model="submarine">
  <option timestep="0.002" integrator="implicitfast" density="1000" viscosity=".001"/>
  <worldbody>
    <body name="hull" gravcomp="1"><freejoint name="hull_free"/>
      <geom type="ellipsoid" size=".25 .16 .12" mass="20" fluidshape="ellipsoid"/>
      <site name="imu"/>
      <site name="t0" pos=".2 .15 0" euler="0 90 45"/>
      <site name="t1" pos=".2 -.15 0" euler="0 90 -45"/>
      <site name="t2" pos="-.2 .15 0" euler="0 90 -45"/>
      <site name="t3" pos="-.2 -.15 0" euler="0 90 45"/>
      <site name="t4" pos=".12 0 0"/>
      <site name="t5" pos="-.12 .1 0"/>
      <site name="t6" pos="-.12 -.1 0"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="thruster_0" site="t0" gear="0 0 1 0 0 0" ctrlrange="-40 40"/>
    <motor name="thruster_1" site="t1" gear="0 0 1 0 0 0" ctrlrange="-40 40"/>
    <motor name="thruster_2" site="t2" gear="0 0 1 0 0 0" ctrlrange="-40 40"/>
    <motor name="thruster_3" site="t3" gear="0 0 1 0 0 0" ctrlrange="-40 40"/>
    <motor name="thruster_4" site="t4" gear="0 0 1 0 0 0" ctrlrange="-40 40"/>
    <motor name="thruster_5" site="t5" gear="0 0 1 0 0 0" ctrlrange="-40 40"/>
    <motor name="thruster_6" site="t6" gear="0 0 1 0 0 0" ctrlrange="-40 40"/>
  </actuator>
  <sensor><gyro name="gyro" site="imu"/><accelerometer name="accelerometer" site="imu"/></sensor>
</mujoco>
"""

BALANCER = f"""
<mujoco model="balancer">
  <option timestep="0.001" integrator="implicitfast" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 .05"/>
    <body name="base_link" pos="0 0 .08">
      <freejoint name="base"/>
      <geom type="box" size=".05 .1 .15" pos="0 0 .2" mass="4" contype="0" conaffinity="0"/>
      <site name="imu_site" pos="0 0 .1"/>
      {WHEELS.format(x=0)}
    </body>
  </worldbody>
  <actuator>
    <motor name="left_motor" joint="left_wheel_joint" ctrlrange="-4 4"/>
    <motor name="right_motor" joint="right_wheel_joint" ctrlrange="-4 4"/>
  </actuator>
  <sensor><gyro name="imu_gyro" site="imu_site"/><accelerometer name="imu_acc" site="imu_site"/>
  </sensor>
</mujoco>
"""

_DELTA_ARM = """
<body euler="0 0 {turn}" pos="0 0 1"><body name="upper_{k}" pos=".2 0 0">
  <joint name="motor_{k}" axis="0 1 0" range="-1 1" damping="2" armature=".1" frictionloss=".5"/>
  <geom type="capsule" fromto="0 0 0 .25 0 0" size=".02" mass=".6"/>
  <body name="rod_{k}" pos=".25 0 0">
    <joint name="pitch_{k}" axis="0 1 0" damping=".002"/><joint name="roll_{k}" axis=".6 0 -.8"
      damping=".002"/>
    <geom type="capsule" fromto="0 0 0 -.4 0 -.3" size=".01" mass=".2"/></body></body></body>"""
_DELTA_TIE = '<connect body1="rod_{k}" body2="platform" anchor="-.4 0 -.3" solref=".004 1"/>'
_DELTA_SERVO = '<position name="servo_{k}" joint="motor_{k}" kp="300" kv="15"/>'


def delta() -> mujoco.MjSpec:
    """Three driven arms whose rods carry one platform, as in pick-and-place cells."""
    arms, ties, servos = (
        "".join(part.format(k=k, turn=2.0943951 * k) for k in range(3))
        for part in (_DELTA_ARM, _DELTA_TIE, _DELTA_SERVO)
    )
    slides = "".join(
        f'<joint name="platform_{axis}" type="slide" axis="{way}" damping=".01"/>'
        for axis, way in zip("xyz", ("1 0 0", "0 1 0", "0 0 1"), strict=True)
    )
    return mujoco.MjSpec.from_string(
        f'<mujoco model="delta">{HEAD}<worldbody>{arms}<body name="platform" pos="0 0 .7">'
        f'{slides}<geom type="cylinder" size=".05 .01" mass=".3"/></body></worldbody>'
        f"<equality>{ties}</equality><actuator>{servos}</actuator></mujoco>"
    )


_JOINT = (
    '<body name="{body}" pos="{pos}"><joint name="{name}" axis="{axis}" range="-2.4 2.4" '
    'damping="{d}" armature="{a}" frictionloss="{f}"/>'
    '<geom type="capsule" fromto="0 0 0 {to}" size=".03" mass="{mass}"/>'
)


def _chain(links: list[tuple[str, str, str, float, float]], pos: str) -> str:
    """Links one behind the other: name, axis, end, mass and size of the drive."""
    text = ""
    for name, axis, to, mass, size in links:
        text += _JOINT.format(
            body=name.replace("_joint", "_link"), pos=pos, name=name, axis=axis, to=to, mass=mass,
            d=f"{2 * size:g}", a=f"{0.1 * size:g}", f=f"{0.8 * size:g}",
        )  # fmt: skip
        pos = to
    return text + "</body>" * len(links)


def _servos(links: list[tuple[str, str, str, float, float]]) -> str:
    return "".join(
        f'<position name="{name}" joint="{name}" kp="{250 * size:g}" kv="{8 * size:g}"/>'
        for name, _, _, _, size in links
    )


def quadruped() -> mujoco.MjSpec:
    """A trunk that floats, with three joints to each leg, named as ANYmal's are."""
    legs, servos = "", ""
    for leg, x, y in (("LF", 1, 1), ("RF", 1, -1), ("LH", -1, 1), ("RH", -1, -1)):
        links = [
            (f"{leg}_HAA", "1 0 0", f"0 {0.08 * y:g} 0", 1.6, 0.5),
            (f"{leg}_HFE", "0 1 0", "0 0 -.28", 2.2, 0.5),
            (f"{leg}_KFE", "0 1 0", "0 0 -.3", 0.6, 0.4),
        ]
        legs += _chain(links, f"{0.3 * x:g} {0.12 * y:g} 0")
        servos += _servos(links)
    return mujoco.MjSpec.from_string(
        f'<mujoco model="quadruped">{HEAD}<worldbody><body name="base" pos="0 0 .8">'
        f'<freejoint name="floating"/><geom type="box" size=".3 .12 .1" mass="18"/>{legs}'
        f"</body></worldbody><actuator>{servos}</actuator></mujoco>"
    )


def humanoid() -> mujoco.MjSpec:
    """A torso that hangs, with 21 joints in legs, arms and waist."""
    body, servos = "", ""
    for side, y in (("left", 1), ("right", -1)):
        leg = [
            (f"{side}_hip_yaw_joint", "0 0 1", "0 0 -.05", 1.0, 0.8),
            (f"{side}_hip_roll_joint", "1 0 0", "0 0 -.06", 1.2, 1.0),
            (f"{side}_hip_pitch_joint", "0 1 0", "0 0 -.35", 4.0, 1.0),
            (f"{side}_knee_joint", "0 1 0", "0 0 -.35", 2.5, 1.0),
            (f"{side}_ankle_pitch_joint", "0 1 0", "0 0 -.05", 0.3, 0.4),
            (f"{side}_ankle_roll_joint", "1 0 0", ".12 0 -.02", 0.8, 0.3),
        ]
        arm = [
            (f"{side}_shoulder_pitch_joint", "0 1 0", f"0 {0.06 * y:g} 0", 0.7, 0.4),
            (f"{side}_shoulder_roll_joint", "1 0 0", "0 0 -.08", 0.7, 0.4),
            (f"{side}_shoulder_yaw_joint", "0 0 1", "0 0 -.2", 0.8, 0.3),
            (f"{side}_elbow_joint", "0 1 0", ".25 0 0", 0.8, 0.3),
        ]
        body += _chain(leg, f"0 {0.1 * y:g} -.1") + _chain(arm, f"0 {0.2 * y:g} .4")
        servos += _servos(leg) + _servos(arm)
    waist = [("waist_yaw_joint", "0 0 1", "0 0 -.08", 3.0, 1.0)]
    return mujoco.MjSpec.from_string(
        f'<mujoco model="humanoid">{HEAD}<worldbody><body name="torso" pos="0 0 1.4">'
        f'<geom type="box" size=".1 .15 .25" mass="15" pos="0 0 .2"/>{_chain(waist, "0 0 -.05")}'
        f"{body}</body></worldbody><actuator>{_servos(waist)}{servos}</actuator></mujoco>"
    )


def velocity_arm() -> mujoco.MjSpec:
    """Seven joints that are asked for velocities, and that publish their efforts."""
    axes = ("0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1")
    sizes, masses = (3.0, 3.0, 2.0, 2.0, 0.8, 0.6, 0.4), (3.0, 3.0, 2.0, 2.0, 1.2, 1.0, 0.5)
    links = [
        (f"arm_joint_{k + 1}", axis, ".04 0 .2", mass, size)
        for k, (axis, mass, size) in enumerate(zip(axes, masses, sizes, strict=True))
    ]
    servos = "".join(
        f'<velocity name="{name}_drive" joint="{name}" kv="{20 * size:g}"/>'
        for name, _, _, _, size in links
    )
    return mujoco.MjSpec.from_string(
        f'<mujoco model="velocity_arm">{HEAD}<worldbody>{_chain(links, "0 0 .3")}</worldbody>'
        f"<actuator>{servos}</actuator></mujoco>"
    )


_URDF_LINK = """<joint name="{joint}" type="{type}"><parent link="{parent}"/>
    <child link="{link}"/><origin xyz="{place}"/><axis xyz="{axis}"/>
    <limit lower="{low}" upper="{high}" effort="{effort}" velocity="3"/>{more}</joint>
  <link name="{link}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
    <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link>"""
_SHAPES = """<visual><geometry><mesh filename="package://arm_description/meshes/{link}.dae"/></geometry>
    </visual><collision><geometry><mesh filename="package://arm_description/meshes/{link}.stl"/>
    </geometry></collision>"""


def urdf_with_gripper(*, drawn: bool = True) -> str:
    """Six joints and a gripper with a mimic joint; if drawn, with meshes of another machine."""
    shapes = _SHAPES if drawn else ""
    rows = (
        ("base_link", "0 0 .1", "0 0 1", 150, "0 0.01 0.05", 5.0, 0.02),
        ("link_1", "0 0 .12", "0 1 0", 150, "0.05 0 0.2", 6.0, 0.06),
        ("link_2", "0 0 .4", "0 1 0", 100, "0.02 0 0.16", 3.5, 0.03),
        ("link_3", "0 0 .35", "0 0 1", 40, "0 0.01 0.04", 1.2, 0.003),
        ("link_4", "0 0 .1", "0 1 0", 40, "0.02 0 0.04", 1.2, 0.003),
        ("link_5", "0 0 .1", "0 0 1", 30, "0.01 0 0.03", 0.6, 0.001),
    )
    links = [
        _URDF_LINK.format(
            joint=f"joint_{k + 1}", type="revolute", parent=parent, link=f"link_{k + 1}",
            place=place, axis=axis, low=-2.6, high=2.6, effort=effort, more="", com=com, mass=mass,
            i=i, shapes=shapes.format(link=f"link_{k + 1}"),
        )
        for k, (parent, place, axis, effort, com, mass, i) in enumerate(rows)
    ]  # fmt: skip
    for side, y in (("left", 1), ("right", -1)):
        more = '<mimic joint="left_finger_joint"/>' if side == "right" else ""
        links.append(
            _URDF_LINK.format(
                joint=f"{side}_finger_joint", type="prismatic", parent="link_6",
                link=f"{side}_finger", place=f"0 {0.01 * y:g} .08", axis=f"0 {y} 0", low=0.0,
                high=0.04, effort=40, more=more, com="0 0 .02", mass=0.05, i=2e-5,
                shapes=shapes.format(link=f"{side}_finger"),
            )
        )  # fmt: skip
    return URDF_ARM.format(links="\n  ".join(links))
