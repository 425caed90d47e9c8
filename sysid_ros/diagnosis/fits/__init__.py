# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Fits within limits that hypotheses compete in, and the scores of what they leave."""

from __future__ import annotations

from sysid_ros.diagnosis.fits.bounded_fit import bounded_fit, left_by_any
from sysid_ros.diagnosis.fits.floating_bases import (
    beside_contacts,
    joint_motion,
    moment_arms,
    most_pushed,
    rolling_rates,
)
from sysid_ros.diagnosis.fits.gravity_direction import (
    other_gravity,
    size_of_gravity,
    turned_first_joint,
)
from sysid_ros.diagnosis.fits.interpolation_fits import DearError, InterpolationScores, RecordedFit
from sysid_ros.diagnosis.fits.misfit import Misfit, decisive, mean_misfit, misfit_of
from sysid_ros.diagnosis.fits.modelled_bodies import ModelledBodies, body_torques
from sysid_ros.diagnosis.fits.one_mass import OneMass, clearly_off, hidden_masses, one_mass
from sysid_ros.diagnosis.fits.open_loop import OpenLoop
from sysid_ros.diagnosis.fits.point_mass_regressor import (
    Bodies,
    BodyMotion,
    PointMasses,
    ancestors,
    body_motion,
    moving_masses,
    non_negative_fit,
    own_torques,
    regressor,
)
from sysid_ros.diagnosis.fits.resistance import beats_resistance
from sysid_ros.diagnosis.fits.servo_screening import ServoEquation
from sysid_ros.diagnosis.fits.signal_powers import (
    VISIBLE,
    explained_more,
    helped_or_late,
    helped_signals,
    helps,
    late_signals,
    left_of_helped,
    most_telling,
    signals_misfit,
    spoils,
)
from sysid_ros.diagnosis.fits.spring_torques import spring_torques
from sysid_ros.diagnosis.fits.thrust_mixing import ThrustMixing, best_order
from sysid_ros.diagnosis.fits.torque_table import TorqueTable
from sysid_ros.diagnosis.fits.window_scores import MOST_WINDOWS, Linearized, Scores, WindowScores
from sysid_ros.diagnosis.fits.window_suspects import (
    centre_of,
    delay_of,
    found_by_fits,
    gain_of,
    gravity_of,
    mass_of,
    resistances,
    springs,
    with_names,
    zero_of,
)
