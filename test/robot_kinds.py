# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Small robots of kinds that no collection of arms and quadrupeds has, for the robot matrix."""

from __future__ import annotations

import mujoco

from sysid_ros.engine.elements import add_servo

HEAD = """<option timestep="0.001" integrator="implicitfast"/><compiler angle="radian"/>
  <default><geom contype="0" conaffinity="0"/></default>"""

GRIPPER = """
<mujoco model="gripper">
  <option timestep="0.001" integrator="implicitfast"/>
  <worldbody>
    <body name="palm" pos="0 0 0.2"><geom type="box" size=".03 .05 .02" mass=".4"/>
      <body name="wrist" pos="0 0 .035">
        <joint name="wrist_roll" axis="0 0 1" damping=".05" armature=".002" frictionloss=".02"/>
        <geom type="box" size=".02 .06 .01" mass=".3" pos=".01 0 0"/>
        <body name="left_finger" pos="0 .01 .035">
          <joint name="left_finger_joint" type="slide" axis="0 1 0" range="0 .05" damping="4"
                 armature=".1" frictionloss=".5"/>
          <geom type="box" size=".008 .004 .02" mass=".06"/></body>
        <body name="right_finger" pos="0 -.01 .035">
          <joint name="right_finger_joint" type="slide" axis="0 -1 0" range="0 .05" damping="4"
                 armature=".1" frictionloss=".5"/>
          <geom type="box" size=".008 .004 .02" mass=".06"/></body>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="grip"><joint joint="left_finger_joint" coef=".5"/>
    <joint joint="right_finger_joint" coef=".5"/></fixed></tendon>
  <equality><joint joint1="left_finger_joint" joint2="right_finger_joint"/></equality>
  <actuator>
    <position name="roll" joint="wrist_roll" kp="10" kv=".5"/>
    <position name="grip" tendon="grip" kp="800" kv="20" ctrlrange="0 .05"/>
  </actuator>
</mujoco>
"""

SCARA = f"""
<mujoco model="scara">{HEAD}
  <worldbody>
    <body name="upper" pos="0 0 .5">
      <joint name="shoulder" axis="0 0 1" range="-2.4 2.4" damping="2" armature=".2"
             frictionloss="1"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".05" mass="5"/>
      <body name="fore" pos=".3 0 .1">
        <joint name="elbow" axis="0 0 1" range="-2.5 2.5" damping="1" armature=".1"
               frictionloss=".6"/>
        <geom type="capsule" fromto="0 0 0 .25 0 0" size=".04" mass="3"/>
        <body name="quill" pos=".25 0 0">
          <joint name="lift" type="slide" axis="0 0 1" range="-.2 .02" damping="40" armature="4"
                 frictionloss="8"/>
          <geom type="cylinder" size=".012 .2" mass=".8"/>
          <body name="tool" pos="0 0 -.2">
            <joint name="spin" axis="0 0 1" damping=".05" armature=".004" frictionloss=".05"/>
            <geom type="box" size=".04 .02 .02" mass=".5" pos=".02 0 0"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="shoulder_servo" joint="shoulder" kp="2000" kv="80"/>
    <position name="elbow_servo" joint="elbow" kp="900" kv="40"/>
    <position name="lift_servo" joint="lift" kp="8000" kv="300"/>
    <position name="spin_servo" joint="spin" kp="20" kv="1"/>
  </actuator>
</mujoco>
"""

GANTRY = f"""
<mujoco model="gantry">{HEAD}
  <worldbody>
    <body name="bridge" pos="0 0 1">
      <joint name="x_axis" type="slide" axis="1 0 0" range="-1 1" damping="60" armature="10"
             frictionloss="15"/>
      <geom type="box" size=".05 .6 .05" mass="12"/>
      <body name="carriage">
        <joint name="y_axis" type="slide" axis="0 1 0" range="-.5 .5" damping="30" armature="4"
               frictionloss="8"/>
        <geom type="box" size=".08 .08 .08" mass="5"/>
        <body name="ram">
          <joint name="z_axis" type="slide" axis="0 0 1" range="-.4 .1" damping="20" armature="3"
                 frictionloss="6"/>
          <geom type="box" size=".03 .03 .3" mass="2"/></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="x_motor" joint="x_axis" ctrlrange="-200 200"/>
    <motor name="y_motor" joint="y_axis" ctrlrange="-120 120"/>
    <motor name="z_motor" joint="z_axis" ctrlrange="-100 100"/>
  </actuator>
</mujoco>
"""

_WHEEL = """<body name="{side}_wheel" pos="{{x}} {y} 0"><joint name="{side}_wheel_joint"
        axis="0 1 0" damping=".02" armature=".005" frictionloss=".02"/>
        <geom type="cylinder" size=".08 .02" euler="90 0 0" mass=".4" friction="1 .005 .0001"/>
      </body>"""
WHEELS = _WHEEL.format(side="left", y=0.14) + _WHEEL.format(side="right", y=-0.14)

ROVER = f"""
<mujoco model="rover">
  <option timestep="0.001" integrator="implicitfast" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 .05"/>
    <body name="base_link" pos="0 0 .08">
      <freejoint name="base"/>
      <geom type="box" size=".15 .1 .03" mass="4" contype="0" conaffinity="0"/>
      <geom name="caster" type="sphere" size=".03" pos="-.12 0 -.05" mass=".2" priority="1"
            friction=".001 .001 .001" condim="1"/>
      <site name="imu_site"/>
      {WHEELS.format(x=0.05)}
    </body>
  </worldbody>
  <actuator>
    <velocity name="left_drive" joint="left_wheel_joint" kv=".4"/>
    <velocity name="right_drive" joint="right_wheel_joint" kv=".4"/>
  </actuator>
  <sensor><gyro name="imu_gyro" site="imu_site"/><accelerometer name="imu_acc" site="imu_site"/>
  </sensor>
</mujoco>
"""

HEXAROTOR = """
<mujoco model="hexa">
  <option timestep="0.005" integrator="RK4" density="1.2" viscosity="1.8e-5"/>
  <default><site size=".01"/></default>
  <worldbody>
    <body name="hull" pos="0 0 1"><freejoint/>
      <geom type="cylinder" size=".12 .04" mass="1.1"/>
      {arms}
      <site name="imu"/>
    </body>
  </worldbody>
  <actuator>{motors}</actuator>
  <sensor><gyro name="gyro" site="imu"/><accelerometer name="accelerometer" site="imu"/></sensor>
</mujoco>
"""

CART_POLE = f"""
<mujoco model="cart_pole">{HEAD}
  <worldbody><body name="cart" pos="0 0 1">
    <joint name="slider" type="slide" axis="1 0 0" range="-1 1" damping="2" armature=".1"
           frictionloss=".5"/>
    <geom type="box" size=".1 .05 .05" mass=".8"/>
    <body name="pole"><joint name="hinge" axis="0 1 0" damping=".002"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".01" mass=".2"/></body>
  </body></worldbody>
  <actuator><position name="cart_servo" joint="slider" kp="300" kv="20"/></actuator>
</mujoco>
"""

SERIES_ELASTIC_LEG = f"""
<mujoco model="series_elastic_leg">{HEAD}
  <worldbody><body name="hip_rotor" pos="0 0 1">
    <joint name="hip_motor" axis="0 1 0" damping=".3" armature=".05" frictionloss=".2"/>
    <geom type="cylinder" size=".03 .02" mass=".3" euler="90 0 0"/>
    <body name="thigh"><joint name="hip_spring" axis="0 1 0" stiffness="120" damping=".2"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1.5"/>
      <body name="knee_rotor" pos="0 0 -.3">
        <joint name="knee_motor" axis="0 1 0" damping=".2" armature=".03" frictionloss=".15"/>
        <geom type="cylinder" size=".03 .02" mass=".2" euler="90 0 0"/>
        <body name="shank"><joint name="knee_spring" axis="0 1 0" stiffness="80" damping=".1"/>
          <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass=".8"/></body>
      </body></body>
  </body></worldbody>
  <actuator><position name="hip" joint="hip_motor" kp="150" kv="6"/>
    <position name="knee" joint="knee_motor" kp="100" kv="4"/></actuator>
</mujoco>
"""

FOUR_BAR = f"""
<mujoco model="four_bar">{HEAD}
  <worldbody>
    <body name="crank" pos="0 0 1">
      <joint name="crank_joint" axis="0 1 0" damping=".2" armature=".02" frictionloss=".1"/>
      <geom type="capsule" fromto="0 0 0 0 0 .1" size=".01" mass=".2"/>
      <body name="coupler" pos="0 0 .1"><joint name="coupler_joint" axis="0 1 0" damping=".01"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".01" mass=".3"/></body>
    </body>
    <body name="rocker" pos=".3 0 .9"><joint name="rocker_joint" axis="0 1 0" damping=".01"/>
      <geom type="capsule" fromto="0 0 0 0 0 .2" size=".01" mass=".4"/></body>
  </worldbody>
  <equality>
    <connect body1="coupler" body2="rocker" anchor=".3 0 0" solref=".004 1"/></equality>
  <actuator><position name="crank_servo" joint="crank_joint" kp="40" kv="2"/></actuator>
</mujoco>
"""

PAN_TILT = f"""
<mujoco model="pan_tilt">{HEAD}
  <worldbody><body name="panner" pos="0 0 1">
    <joint name="pan" axis="0 0 1" range="-3 3" damping=".05" armature=".01"
           frictionloss=".03"/>
    <geom type="cylinder" size=".05 .05" mass=".5"/>
    <body name="head" pos="0 0 .08">
      <joint name="tilt" axis="0 1 0" range="-1 1" damping=".04" armature=".008"
             frictionloss=".02"/>
      <geom type="box" size=".08 .04 .03" mass=".7"/></body>
  </body></worldbody>
  <actuator><velocity name="pan_drive" joint="pan" kv="2"/>
    <velocity name="tilt_drive" joint="tilt" kv="2"/></actuator>
</mujoco>
"""

CABLE_FINGER = f"""
<mujoco model="cable_finger">{HEAD}
  <worldbody><site name="pulley" pos=".03 0 1.02"/>
    <body name="phalanx" pos="0 0 1">
      <joint name="knuckle" axis="0 1 0" range="-1.2 1.2" damping=".02" stiffness=".3"
             armature=".001"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.1" size=".01" mass=".1"/>
      <site name="eyelet" pos=".02 0 -.05"/></body></worldbody>
  <tendon><spatial name="flexor" damping=".5"><site site="pulley"/><site site="eyelet"/>
  </spatial></tendon>
  <actuator><position name="pull" tendon="flexor" kp="1500" kv="30"/></actuator>
</mujoco>
"""

URDF_ARM = """<robot name="plain_arm">
  <link name="base_link"/>
  {links}
</robot>"""
_LINK = """<joint name="joint_{k}" type="revolute"><parent link="{parent}"/>
    <child link="link_{k}"/><origin xyz="0 0 {z}"/><axis xyz="{axis}"/>
    <limit lower="-2.6" upper="2.6" effort="{effort}" velocity="3"/></joint>
  <link name="link_{k}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>
    <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""


ARM_LINK = (
    '<body name="l{0}" pos="0 0 -.2"><joint name="j{0}" axis="{1}" damping=".3" armature=".02" '
    'frictionloss=".1"/><geom type="capsule" fromto="0 0 0 0 0 -.2" size=".03" mass="{2}"/>'
)
ARM_HEAD = '<mujoco><option timestep="0.0005" integrator="implicitfast"/><worldbody>'


def servo_arm() -> mujoco.MjSpec:
    """Three joints under servos; neighbouring links do not touch."""
    links = "".join(
        ARM_LINK.format(k, axis, mass)
        for k, (axis, mass) in enumerate([("0 1 0", 1.0), ("1 0 0", 0.6), ("0 1 0", 0.3)])
    )
    servos = "".join(f'<position name="m{k}" joint="j{k}" kp="30" kv="1"/>' for k in range(3))
    return mujoco.MjSpec.from_string(
        f"{ARM_HEAD}{links}{'</body>' * 3}</worldbody><actuator>{servos}</actuator></mujoco>"
    )


def hexarotor() -> mujoco.MjSpec:
    """A drone with six thrusters on arms, each with a reaction torque."""
    arms, motors = "", ""
    for k in range(6):
        turn = f"{60 * k}"
        arms += (
            f'<body euler="0 0 {turn}"><geom type="capsule" fromto="0 0 0 .25 0 0" size=".01" '
            f'mass=".06"/><site name="rotor_{k}" pos=".25 0 .02"/></body>'
        )
        drag = 0.016 if k % 2 else -0.016
        motors += (
            f'<motor name="thrust_{k}" site="rotor_{k}" gear="0 0 1 0 0 {drag}" ctrlrange="0 8"/>'
        )
    return mujoco.MjSpec.from_string(HEXAROTOR.format(arms=arms, motors=motors))


def urdf_arm_with_motors() -> mujoco.MjSpec:
    """The arm of :func:`urdf_arm` with a motor on each joint, as it is in truth."""
    spec = mujoco.MjSpec.from_string(urdf_arm())
    for joint in list(spec.joints):
        spec.add_actuator(
            name=f"{joint.name}_motor", target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT
        )
    return spec


def urdf_arm_with_servos() -> mujoco.MjSpec:
    """The arm of :func:`urdf_arm` with a servo on each joint, as it is in truth."""
    spec = mujoco.MjSpec.from_string(urdf_arm())
    for joint, gain in zip(list(spec.joints), (600.0, 600.0, 300.0, 100.0), strict=True):
        add_servo(spec, f"{joint.name}_servo", joint.name, gain)
        # Of the sum with the servo's damping, which is the joint's here; the sum is far below it.
        joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
    return spec


def urdf_arm() -> str:
    """A four-joint arm as drawing programs export it: no armature, no friction."""
    rows = (
        ("base_link", 0.1, "0 0 1", 80, "0 0.01 0.06", 4.0, 0.02),
        ("link_1", 0.15, "0 1 0", 80, "0.02 0 0.15", 3.0, 0.03),
        ("link_2", 0.32, "0 1 0", 40, "0 0.01 0.12", 2.0, 0.015),
        ("link_3", 0.25, "1 0 0", 20, "0.03 0 0.05", 0.8, 0.002),
    )
    return URDF_ARM.format(
        links="\n  ".join(
            _LINK.format(k=k + 1, parent=p, z=z, axis=a, effort=e, com=c, mass=m, i=i)
            for k, (p, z, a, e, c, m, i) in enumerate(rows)
        )
    )
