# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Machines that are no arms: a crane, a camera's gimbal, an excavator, a linkage gripper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import mujoco
from robot_kinds import servo_arm
from robot_to_try import DELAY, ENCODER, PLAN, Robot, of_text, true_joint

from sysid_ros.rehearsal import (
    CommandForm,
    Controller,
    ImuReadings,
    JointStates,
    Motion,
    OdometryReadings,
    Reading,
    StateForm,
    Timing,
    TrueParameter,
    WrenchReadings,
)

_BOX = mujoco.mjtGeom.mjGEOM_BOX
_HEAD = """<compiler angle="radian"/><default><geom contype="0" conaffinity="0"/></default>"""

# The load swings on two axes that nothing measures but an IMU on its hook.
CRANE = f"""
<mujoco model="crane"><option timestep="0.002" integrator="implicitfast"/>{_HEAD}
  <worldbody><body name="bridge" pos="0 0 5">
    <joint name="bridge_joint" type="slide" axis="1 0 0" range="-3 3" damping="800" armature="200"
           frictionloss="60"/>
    <geom type="box" size=".2 3 .2" mass="400"/>
    <body name="trolley">
      <joint name="trolley_joint" type="slide" axis="0 1 0" range="-2 2" damping="300"
             armature="80" frictionloss="25"/>
      <geom type="box" size=".3 .3 .1" mass="80"/>
      <body name="rope">
        <joint name="swing_x" axis="0 1 0" damping="4"/>
        <joint name="swing_y" axis="1 0 0" damping="4"/>
        <geom type="capsule" fromto="0 0 0 0 0 -2" size=".02" mass="5"/>
        <body name="load" pos="0 0 -2.2"><geom type="box" size=".3 .3 .2" mass="120"/>
          <site name="hook" pos="0 0 .2"/></body></body></body></body></worldbody>
  <actuator>
    <position name="bridge_drive" joint="bridge_joint" kp="20000" kv="6000"/>
    <position name="trolley_drive" joint="trolley_joint" kp="8000" kv="2000"/>
  </actuator>
  <sensor><gyro name="hook_gyro" site="hook"/><accelerometer name="hook_acc" site="hook"/></sensor>
</mujoco>
"""

# Nothing but an IMU on the camera tells how it turns.
GIMBAL = f"""
<mujoco model="gimbal"><option timestep="0.001" integrator="implicitfast"/>{_HEAD}
  <worldbody><body name="yaw" pos="0 0 1">
    <joint name="yaw_axis" axis="0 0 1" range="-2 2" damping=".02" armature=".002"
           frictionloss=".01"/>
    <geom type="box" size=".04 .02 .01" mass=".15"/>
    <body name="roll" pos="-.04 0 -.03">
      <joint name="roll_axis" axis="1 0 0" range="-.8 .8" damping=".015" armature=".001"
             frictionloss=".008"/>
      <geom type="box" size=".02 .03 .01" mass=".1"/>
      <body name="camera" pos=".05 0 -.02">
        <joint name="pitch_axis" axis="0 1 0" range="-1.5 1" damping=".01" armature=".001"
               frictionloss=".005"/>
        <geom type="box" size=".03 .03 .02" pos=".01 0 0" mass=".2"/>
        <site name="sensor" pos=".01 0 0"/></body></body></body></worldbody>
  <actuator>
    <position name="yaw_motor" joint="yaw_axis" kp="2" kv=".08"/>
    <position name="roll_motor" joint="roll_axis" kp="1.5" kv=".06"/>
    <position name="pitch_motor" joint="pitch_axis" kp="1.5" kv=".05"/>
  </actuator>
  <sensor><gyro name="camera_gyro" site="sensor"/>
    <accelerometer name="camera_acc" site="sensor"/></sensor>
</mujoco>
"""

_SEGMENT = """<body name="segment_{k}" pos="0 {y} 0">
  <joint name="joint_arm_l{k}" type="slide" axis="0 1 0" range="0 .13" damping="5"
         armature=".5"/><geom type="box" size=".03 .1 .03" mass=".3"/>"""
_SEGMENTS = "".join(_SEGMENT.format(k=k, y=0.1 if k == 3 else 0.01) for k in (3, 2, 1, 0))
_TIES = "".join(
    f'<joint joint1="joint_arm_l{k}" joint2="joint_arm_l3" solref=".005 1"/>' for k in (2, 1, 0)
)
_COILS = "".join(f'<joint joint="joint_arm_l{k}" coef="1"/>' for k in (3, 2, 1, 0))
# Four segments that equalities tie to each other, pulled out by one tendon.
TELESCOPE = f"""
<mujoco model="telescope"><option timestep="0.002" integrator="implicitfast"/>{_HEAD}
  <worldbody><body name="lift" pos="0 0 .3">
    <joint name="joint_lift" type="slide" axis="0 0 1" range="0 1.1" damping="60" armature="4"
           frictionloss="8"/>
    <geom type="box" size=".06 .06 .06" mass="2"/>{_SEGMENTS}
    <body name="wrist" pos="0 .12 0"><joint name="joint_wrist_yaw" axis="0 0 1" range="-1.7 4.5"
        damping=".3" armature=".02" frictionloss=".1"/>
      <geom type="capsule" fromto="0 0 0 0 .2 0" size=".02" mass=".4"/></body>
    {"</body>" * 5}</worldbody>
  <equality>{_TIES}</equality>
  <tendon><fixed name="extend">{_COILS}</fixed></tendon>
  <actuator>
    <position name="lift" joint="joint_lift" kp="4000" kv="300"/>
    <position name="arm" tendon="extend" kp="600" kv="40" ctrlrange="0 .52"/>
    <position name="wrist_yaw" joint="joint_wrist_yaw" kp="20" kv="1"/>
  </actuator>
</mujoco>
"""

# Tonnes, hydraulics that lag by a tenth of a second, messages at 20 and 50 Hz.
EXCAVATOR = f"""
<mujoco model="excavator"><option timestep="0.002" integrator="implicitfast"/>{_HEAD}
  <default><position timeconst=".1" inheritrange="1"/></default>
  <worldbody><body name="cabin" pos="0 0 1.5">
    <joint name="swing" axis="0 0 1" range="-3 3" damping="40000" armature="3000"
           frictionloss="3000"/>
    <geom type="box" size="1.5 1.2 .8" mass="9000"/>
    <body name="boom" pos="1 0 0">
      <joint name="boom" axis="0 1 0" range="-1.2 .4" damping="60000" armature="4000"
             frictionloss="5000"/>
      <geom type="capsule" fromto="0 0 0 4.5 0 1" size=".25" mass="1800"/>
      <body name="stick" pos="4.5 0 1">
        <joint name="stick" axis="0 1 0" range="-.5 2.2" damping="30000" armature="1500"
               frictionloss="3000"/>
        <geom type="capsule" fromto="0 0 0 .8 0 -2.4" size=".18" mass="900"/>
        <body name="bucket" pos=".8 0 -2.4">
          <joint name="bucket" axis="0 1 0" range="-1 2" damping="10000" armature="400"
                 frictionloss="1500"/>
          <geom type="box" size=".4 .5 .4" pos="-.3 0 -.4" mass="700"/>
        </body></body></body></body></worldbody>
  <actuator>
    <position name="swing" joint="swing" kp="600000" kv="150000"/>
    <position name="boom" joint="boom" kp="2000000" kv="300000"/>
    <position name="stick" joint="stick" kp="900000" kv="90000"/>
    <position name="bucket" joint="bucket" kp="300000" kv="20000"/>
  </actuator>
</mujoco>
"""


_FINGER = """
<body name="{side}_driver" pos="0 {a} .055" {turn}>
  <joint name="{side}_driver_joint" axis="1 0 0" range="0 .8" damping=".1" armature=".005"
         frictionloss=".03"/>
  <geom type="capsule" fromto="0 0 0 0 .0315 -.004" size=".006" mass=".02"/></body>
<body name="{side}_spring_link" pos="0 {b} .061" {turn}>
  <joint name="{side}_spring_link_joint" axis="1 0 0" range="-.3 .9" damping=".00125"
         stiffness=".05" springref="2.62"/>
  <geom type="capsule" fromto="0 0 0 0 .0315 -.004" size=".005" mass=".02"/>
  <body name="{side}_follower" pos="0 .0315 -.004">
    <joint name="{side}_follower_joint" axis="1 0 0" damping=".001"/>
    <geom type="box" size=".011 .004 .02" pos="0 .01 .04" mass=".02"/></body></body>"""
_FINGERS = "".join(
    _FINGER.format(side=side, a=0.03 * sign, b=0.013 * sign, turn=turn)
    for side, sign, turn in (("right", 1, ""), ("left", -1, 'euler="0 0 3.14159265"'))
)
_LINKS = "".join(
    f'<connect body1="{side}_follower" body2="{side}_driver" anchor="0 .017 -.006" '
    'solref=".005 1"/>' for side in ("right", "left")
)  # fmt: skip
# As a Robotiq 2F-85: linkages pulled by one tendon and told in counts; one angle is published.
LINKAGE_GRIPPER = f"""
<mujoco model="linkage_gripper"><option timestep="0.002" integrator="implicitfast"
  cone="elliptic"/>{_HEAD}
  <worldbody><body name="base" pos="0 0 .1"><geom type="box" size=".03 .03 .03" mass=".8"/>
    {_FINGERS}</body></worldbody>
  <equality>{_LINKS}<joint joint1="right_driver_joint" joint2="left_driver_joint"
    solref=".005 1"/></equality>
  <tendon><fixed name="split"><joint joint="right_driver_joint" coef=".5"/>
    <joint joint="left_driver_joint" coef=".5"/></fixed></tendon>
  <actuator><general name="fingers_actuator" tendon="split" forcerange="-5 5" ctrlrange="0 255"
    gainprm=".3137255 0 0" biastype="affine" biasprm="0 -100 -10"/></actuator>
</mujoco>
"""

# 27 g on one thrust and three moments at its middle, as a Crazyflie.
MICRODRONE = """
<mujoco model="microdrone"><option timestep="0.002" density="1.225" viscosity="1.8e-5"/>
  <worldbody><body name="cf2" pos="0 0 .1"><freejoint/>
    <inertial pos="0 0 0" mass=".027" diaginertia="2.3951e-5 2.3951e-5 3.2347e-5"/>
    <geom type="box" size=".04 .04 .012" contype="0" conaffinity="0"/>
    <site name="imu"/><site name="actuation"/></body></worldbody>
  <actuator>
    <motor name="body_thrust" site="actuation" gear="0 0 1 0 0 0" ctrlrange="0 .35"/>
    <motor name="x_moment" site="actuation" gear="0 0 0 -.001 0 0" ctrlrange="-1 1"/>
    <motor name="y_moment" site="actuation" gear="0 0 0 0 -.001 0" ctrlrange="-1 1"/>
    <motor name="z_moment" site="actuation" gear="0 0 0 0 0 -.001" ctrlrange="-1 1"/>
  </actuator>
  <sensor><gyro name="body_gyro" site="imu"/><accelerometer name="body_linacc" site="imu"/></sensor>
</mujoco>
"""

_SUCTION = f"""
<mujoco model="suction"><option timestep="0.001" integrator="implicitfast"/>{_HEAD}
  <worldbody><body name="upper" pos="0 0 1">
    <joint name="swing" axis="0 1 0" damping=".5" armature=".05" frictionloss=".2"/>
    <geom type="capsule" size=".02" fromto="0 0 0 .08 0 .15" mass="2"/>
    <body name="lower" pos="0 0 .2">
      <joint name="bend" axis="0 1 0" damping=".3" armature=".03" frictionloss=".1"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .08 0 .15" mass="1"/></body></body></worldbody>
  <actuator>
    <position name="swing_servo" joint="swing" kp="100" kv="5"/>
    <position name="bend_servo" joint="bend" kp="60" kv="5"/>
    <adhesion name="cup" body="lower" ctrlrange="0 1" gain="20"/>
  </actuator>
</mujoco>
"""

# A wheel that a piston turns to and fro by a rod.
_SLIDER_CRANK = f"""
<mujoco model="slider_crank"><option timestep="0.0005" integrator="implicitfast"/>{_HEAD}
  <worldbody><site name="slide" pos="0 0 .6"/><body name="wheel" pos="0 0 1">
    <joint name="wheel_joint" axis="0 1 0" damping=".1" armature=".05" frictionloss=".05"/>
    <geom type="cylinder" size=".12 .02" euler="1.57 0 0" mass="2"/>
    <site name="pin" pos=".1 0 0"/></body></worldbody>
  <actuator><position name="piston" cranksite="pin" slidersite="slide" cranklength=".4" kp="3000"
    kv="150"/></actuator>
</mujoco>
"""

# A desk lamp on springs at its joints, which rest elsewhere and are stiffer than drawn.
_LAMP = f"""
<mujoco model="lamp"><option timestep="0.001" integrator="implicitfast"/>{_HEAD}
  <worldbody><body name="lower" pos="0 0 .1">
    <joint name="base_tilt" axis="0 1 0" range="-1 1" damping=".15" armature=".02"
           frictionloss=".05" stiffness="6"/>
    <geom type="capsule" fromto="0 0 0 0 0 .35" size=".012" mass=".5"/>
    <body name="upper" pos="0 0 .35">
      <joint name="elbow_tilt" axis="0 1 0" range="-.2 2.2" damping=".1" armature=".012"
             frictionloss=".04" stiffness="2.5" springref=".4"/>
      <geom type="capsule" fromto="0 0 0 0 0 .3" size=".012" mass=".35"/></body></body></worldbody>
  <actuator>
    <position name="base_servo" joint="base_tilt" kp="25" kv=".8"/>
    <position name="elbow_servo" joint="elbow_tilt" kp="15" kv=".5"/>
  </actuator>
</mujoco>
"""

# Its controller holds the weight of its links as the model has them; the robot's are others.
_COMPENSATED = f"""
<mujoco model="compensated"><option timestep="0.001" integrator="implicitfast"/>{_HEAD}
  <worldbody><body name="upper_arm" pos="0 0 1" gravcomp="1">
    <joint name="shoulder" axis="0 1 0" range="-2 2" damping="1" armature=".1" frictionloss=".4"/>
    <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".03" mass="1.5"/>
    <body name="forearm" pos="0 0 -.3" gravcomp="1">
      <joint name="elbow" axis="0 1 0" range="-2 2" damping=".5" armature=".05" frictionloss=".2"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".025" mass="1"/></body></body></worldbody>
  <actuator>
    <position name="shoulder_servo" joint="shoulder" kp="120" kv="6"/>
    <position name="elbow_servo" joint="elbow" kp="60" kv="3"/>
  </actuator>
</mujoco>
"""

# Lengths in millimetres, so that gravity is 9810 and forces are in mN.
_MILLIMETRES = f"""
<mujoco model="millimetres">
  <option timestep="0.001" integrator="implicitfast" gravity="0 0 -9810"/>{_HEAD}
  <worldbody><body name="carriage" pos="0 0 600">
    <joint name="x_axis" type="slide" axis="1 0 0" range="0 800" damping="60" armature="4"
           frictionloss="9000"/><geom type="box" size="40 40 40" mass="5"/>
    <body name="quill"><joint name="z_axis" type="slide" axis="0 0 1" range="-200 0" damping="30"
           armature="2" frictionloss="5000"/><geom type="box" size="15 15 90" mass="1.4"/></body>
    </body></worldbody>
  <actuator>
    <position name="x_drive" joint="x_axis" kp="20000" kv="400"/>
    <position name="z_drive" joint="z_axis" kp="9000" kv="150"/>
  </actuator>
</mujoco>
"""


def odd_machines() -> Iterator[Robot]:
    """Machines with passive swings, an IMU only, tied segments, lagging hydraulics."""
    yield Robot("Two links with a suction cup", of_text(_SUCTION), PLAN)
    crank = Motion(reach=0.06, speed=0.3, acceleration=3.0)
    yield Robot("Wheel on a slider-crank", of_text(_SLIDER_CRANK), replace(
        PLAN, motion=crank,
        truth=true_joint("wheel_joint", frictionloss=0.06, damping=0.12, armature=0.045),
    ))  # fmt: skip
    yield from _as_controllers_have_it()
    metres = JointStates(
        topic="/crane/joint_states", joints=("trolley_joint", "bridge_joint"),
        position=Reading(noise=3e-4, quantum=1e-3), timing=Timing(rate=50.0, jitter=1e-3),
    )  # fmt: skip
    hook = ImuReadings(
        gyro="hook_gyro", accelerometer="hook_acc", topic="/hook/imu/data_raw",
        timing=Timing(rate=100.0, jitter=5e-4),
    )  # fmt: skip
    yield Robot("Crane with a swinging load", of_text(CRANE), replace(
        PLAN, rate=20.0, duration=40.0, sensors=(metres, hook),
        motion=Motion(reach=1.0, speed=1.0, acceleration=1.0, lowest=0.05, highest=0.5),
        controllers=(Controller(topic="/crane/position_controller/commands", delay=0.03),),
    ))  # fmt: skip
    camera = ImuReadings(
        gyro="camera_gyro", accelerometer="camera_acc", topic="/camera/imu",
        timing=Timing(rate=400.0, jitter=1e-4),
    )  # fmt: skip
    yield Robot("Gimbal of which an IMU tells all", of_text(GIMBAL), replace(
        PLAN, sensors=(camera,), motion=Motion(reach=0.6, speed=4.0, acceleration=40.0),
        controllers=(Controller(topic="/gimbal/target_angles", delay=0.004),),
    ))  # fmt: skip
    yield Robot("Lift and telescope of tied segments", of_text(TELESCOPE), replace(
        PLAN, rate=30.0, motion=Motion(reach=0.25, speed=0.6, acceleration=3.0),
        truth=(
            *true_joint("joint_lift", frictionloss=10.5, damping=45.0, armature=5.5),
            *true_joint("joint_arm_l3", frictionloss=1.2, damping=9.0, armature=0.9),
            *true_joint("joint_wrist_yaw", frictionloss=0.07, damping=0.4, armature=0.028),
        ),
        sensors=(replace(
            ENCODER, topic="/stretch/joint_states", form=StateForm.DYNAMIC,
            timing=Timing(rate=60.0, jitter=1e-3),
        ),),
        controllers=(Controller(
            topic="/stretch_controller/joint_trajectory", form=CommandForm.TRAJECTORY,
            actuators=("wrist_yaw", "lift"), delay=DELAY,
        ), Controller(topic="/stretch/arm_extension/commands", actuators=("arm",), delay=DELAY)),
    ))  # fmt: skip
    degrees = JointStates(
        topic="/machine/angles", joints=("bucket", "stick", "boom", "swing"),
        position=Reading(noise=3e-4, quantum=1e-3), timing=Timing(rate=50.0, jitter=2e-3),
    )  # fmt: skip
    yield Robot("Excavator with lagging hydraulics", of_text(EXCAVATOR), replace(
        PLAN, rate=20.0, duration=60.0, sensors=(degrees,),
        motion=Motion(reach=0.6, speed=0.6, acceleration=1.0, lowest=0.03, highest=0.5),
        controllers=(Controller(
            topic="/machine/targets", form=CommandForm.TRAJECTORY, delay=0.04,
        ),),
    ))  # fmt: skip
    yield Robot("Gripper with linkages, told in counts", of_text(LINKAGE_GRIPPER), replace(
        PLAN, rate=20.0, motion=Motion(reach=0.4, speed=1.5, acceleration=10.0),
        truth=true_joint("right_driver_joint", frictionloss=0.045, damping=0.14, armature=0.0065),
        sensors=(replace(
            ENCODER, topic="/gripper/joint_states", joints=("right_driver_joint",),
            timing=Timing(rate=100.0, jitter=3e-4),
        ),),
        controllers=(Controller(topic="/gripper/counts", delay=0.02),),
    ))  # fmt: skip
    yield Robot("Micro drone of a thrust and three moments", of_text(MICRODRONE), replace(
        PLAN, rate=200.0, motion=Motion(reach=0.5, dither=0.1),
        truth=(TrueParameter("body", "cf2", "mass", 0.0295),),
        sensors=(
            OdometryReadings(topic="/cf2/odom"),
            ImuReadings(gyro="body_gyro", accelerometer="body_linacc", topic="/cf2/imu"),
        ),
        controllers=(Controller(topic="/cf2/wrench", delay=0.002),),
    ))  # fmt: skip
    yield Robot("Four joints with a force sensor at the wrist", _arm_with_force_sensor, replace(
        PLAN, motion=Motion(reach=0.7),
        truth=(
            *true_joint("j1", frictionloss=0.06, damping=0.5, armature=0.02),
            TrueParameter("body", "tool", "mass", 0.33),
        ),
        sensors=(ENCODER, WrenchReadings(force="ft_force", torque="ft_torque")),
        controllers=(Controller(
            topic="/arm_controller/joint_trajectory", form=CommandForm.TRAJECTORY, delay=DELAY,
        ),),
    ))  # fmt: skip


def _as_controllers_have_it() -> Iterator[Robot]:
    """Springs that rest elsewhere, weights that are compensated, lengths in millimetres."""
    yield Robot("Lamp on springs that rest elsewhere", of_text(_LAMP), replace(
        PLAN, motion=Motion(reach=0.5), truth=(
            *true_joint("base_tilt", frictionloss=0.07, damping=0.12, armature=0.025),
            *true_joint("elbow_tilt", frictionloss=0.05, damping=0.13, armature=0.01),
            *true_joint("base_tilt", stiffness=9.0), *true_joint("elbow_tilt", springref=0.75),
        ),
    ))  # fmt: skip
    yield Robot("Arm whose weight is compensated by other masses", of_text(_COMPENSATED), replace(
        PLAN, motion=Motion(reach=0.7), truth=(
            *true_joint("shoulder", frictionloss=0.55, damping=0.8, armature=0.13),
            *true_joint("elbow", frictionloss=0.25, damping=0.7, armature=0.04),
            TrueParameter("body", "forearm", "mass", 1.4),
            TrueParameter("body", "forearm", "gravcomp", 1.0 / 1.4),
        ),
    ))  # fmt: skip
    micrometres = replace(ENCODER, position=Reading(noise=4e-3, quantum=5e-3))
    yield Robot("Two axes in millimetres", of_text(_MILLIMETRES), replace(
        PLAN, motion=Motion(reach=90.0, speed=600.0, acceleration=6e3), sensors=(micrometres,),
    ))  # fmt: skip


def _arm_with_force_sensor() -> mujoco.MjSpec:
    """An arm whose wrist carries a tool by a sensor of force and torque."""
    spec = servo_arm()
    hand = spec.bodies[-1].add_body(name="hand", pos=[0, 0, 0.2])
    hand.add_joint(name="j3", axis=[0, 0, 1], damping=0.1, armature=0.005, frictionloss=0.02)
    hand.add_geom(type=_BOX, size=[0.02, 0.02, 0.01], mass=0.1, contype=0, conaffinity=0)
    tool = hand.add_body(name="tool", pos=[0, 0, 0.03])
    tool.add_site(name="ft_sensor")
    tool.add_geom(type=_BOX, size=[0.02, 0.03, 0.05], pos=[0.01, 0, 0.05], mass=0.2, contype=0,
                  conaffinity=0)  # fmt: skip
    servo = spec.add_actuator(name="m3", target="j3", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    servo.set_to_position(kp=8.0, kv=0.3)
    for name, kind in (("ft_force", "FORCE"), ("ft_torque", "TORQUE")):
        spec.add_sensor(
            name=name, type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"), objname="ft_sensor",
            objtype=mujoco.mjtObj.mjOBJ_SITE,
        )  # fmt: skip
    return spec
