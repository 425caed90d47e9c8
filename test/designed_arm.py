# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""An arm of two joints over a floor, for tests of designed motions."""

ARM = """<mujoco><compiler angle="radian"/><worldbody>
<geom name="floor" type="plane" size="3 3 .1" pos="0 0 -0.2"/>
<body name="upper"><joint name="shoulder" axis="0 1 0" range="-2.5 2.5" armature="0.02"
 damping="0.2" frictionloss="0.1"/>
 <geom name="upper" type="capsule" fromto="0 0 0 0 0 0.3" size="0.03" mass="2"/>
 <body name="lower" pos="0 0 0.3"><joint name="elbow" axis="0 1 0" range="-2.2 2.2" armature="0.01"
  damping="0.1" frictionloss="0.1"/>
  <geom name="lower" type="capsule" fromto="0 0 0 0 0 0.25" size="0.03" mass="1"/>
 </body></body></worldbody>
<actuator><motor joint="shoulder" ctrlrange="-20 20" forcerange="-30 30"/>
<motor joint="elbow" forcerange="-8 8"/></actuator>
<keyframe><key name="up" qpos="0 0"/><key name="bent" qpos="-1.2 -1"/>
<key name="low" qpos="2.4 0.3"/>
</keyframe></mujoco>"""
JOINTS = ("shoulder", "elbow")
