# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Motions designed for identification: the least standard errors that limits allow.

    robot = robot_demands(model, velocity=2.0, acceleration=6.0)
    motion = design_motion(robot, DesignSettings(duration=20.0))
    motion.values(times), motion.standard_errors, motion.condition

Torque that is measured along a motion tells base parameters (:mod:`.torque_information`); where it
is not measured, a fit by simulation tells its own parameters (:mod:`.forward_design`). A number
from their covariance (:mod:`.criterion`) is made small over splines at rest at both ends
(:mod:`.rest_spline`) by linear programs (:mod:`.descent`) that keep joint limits, torque and
distances (:mod:`.clearance`).
"""

from sysid_ros.excitation.design.approach import approach
from sysid_ros.excitation.design.criterion import CRITERIA, criterion
from sysid_ros.excitation.design.demands import Demands, MovingRobot
from sysid_ros.excitation.design.design import DesignSettings, design_motion
from sysid_ros.excitation.design.designed_motion import DesignedMotion
from sysid_ros.excitation.design.experiment_design import (
    ExperimentDesign,
    MotionRequest,
    design_for,
)
from sysid_ros.excitation.design.fitted_parameters import FittedParameters, fitted_parameters
from sysid_ros.excitation.design.forward_design import SERVO_PIECE, design_servo_motion
from sysid_ros.excitation.design.planned_recording import SimulatedFit
from sysid_ros.excitation.design.preview import render_preview
from sysid_ros.excitation.design.rest_spline import RestSpline
from sysid_ros.excitation.design.robot_demands import robot_demands
from sysid_ros.excitation.design.servos import NoServoError, servo_motion
from sysid_ros.excitation.design.shown_motion import load_planned, shown_motion
from sysid_ros.excitation.design.simulated_fit import simulated_fit

# What the documentation shows to users; the rest is for other rooms.
__all__ = [
    "Demands",
    "DesignSettings",
    "MovingRobot",
    "SimulatedFit",
    "design_motion",
    "design_servo_motion",
    "fitted_parameters",
    "robot_demands",
    "simulated_fit",
]
