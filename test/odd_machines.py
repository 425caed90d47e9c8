# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Machines that are no arms: a crane, a camera's gimbal, a telescope on a lift, an excavator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import mujoco
from robot_to_try import DELAY, ENCODER, PLAN, Robot

from sysid_ros.rehearsal import (
    CommandForm,
    Controller,
    ImuReadings,
    JointStates,
    Motion,
    Reading,
    StateForm,
    Timing,
)

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


def odd_machines() -> Iterator[Robot]:
    """Machines with passive swings, an IMU only, tied segments, lagging hydraulics."""
    metres = JointStates(
        topic="/crane/joint_states", joints=("trolley_joint", "bridge_joint"),
        position=Reading(noise=3e-4, quantum=1e-3), timing=Timing(rate=50.0, jitter=1e-3),
    )  # fmt: skip
    hook = ImuReadings(
        gyro="hook_gyro", accelerometer="hook_acc", topic="/hook/imu/data_raw",
        timing=Timing(rate=100.0, jitter=5e-4),
    )  # fmt: skip
    yield Robot("Crane with a swinging load", _text(CRANE), replace(
        PLAN, rate=20.0, duration=40.0, sensors=(metres, hook),
        motion=Motion(reach=1.0, speed=1.0, acceleration=1.0, lowest=0.05, highest=0.5),
        controllers=(Controller(topic="/crane/position_controller/commands", delay=0.03),),
    ))  # fmt: skip
    camera = ImuReadings(
        gyro="camera_gyro", accelerometer="camera_acc", topic="/camera/imu",
        timing=Timing(rate=400.0, jitter=1e-4),
    )  # fmt: skip
    yield Robot("Gimbal of which an IMU tells all", _text(GIMBAL), replace(
        PLAN, sensors=(camera,), motion=Motion(reach=0.6, speed=4.0, acceleration=40.0),
        controllers=(Controller(topic="/gimbal/target_angles", delay=0.004),),
    ))  # fmt: skip
    yield Robot("Lift and telescope of tied segments", _text(TELESCOPE), replace(
        PLAN, rate=30.0, motion=Motion(reach=0.25, speed=0.6, acceleration=3.0),
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
    yield Robot("Excavator with lagging hydraulics", _text(EXCAVATOR), replace(
        PLAN, rate=20.0, duration=60.0, sensors=(degrees,),
        motion=Motion(reach=0.6, speed=0.6, acceleration=1.0, lowest=0.03, highest=0.5),
        controllers=(Controller(
            topic="/machine/targets", form=CommandForm.TRAJECTORY, delay=0.04,
        ),),
    ))  # fmt: skip


def _text(model: str) -> Callable[[], mujoco.MjSpec]:
    return lambda: mujoco.MjSpec.from_string(model)
