# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Parameters with bounds and priors, and the ways in which they change a model."""

from __future__ import annotations

from sysid_ros.engine.parameters.body_modifiers import apply_body_inertia
from sysid_ros.engine.parameters.bounds import Bounds, parameter_scale
from sysid_ros.engine.parameters.flags import (
    AT_A_BOUND,
    AT_LOWER_BOUND,
    BESIDE_IMPLAUSIBLE,
    BIASED_BY_NOISE,
    CHANGES_AT_ONCE,
    DIFFERS_BETWEEN_RECORDINGS,
    DRIFTS,
    FROM_THE_PRIOR,
    IMPLAUSIBLE,
    KEPT_NEAR_THE_MODEL,
    MAY_BE_ZERO,
    NO_UNCERTAINTY,
    POORLY_DETERMINED,
    UNIDENTIFIABLE,
    WITHOUT_EFFECT,
    moves_with,
)
from sysid_ros.engine.parameters.inertia_parameter import body_inertia_param
from sysid_ros.engine.parameters.model_modifier import (
    apply_dgain,
    apply_param_modifiers,
    apply_param_modifiers_spec,
    apply_pdgain,
    apply_pgain,
)
from sysid_ros.engine.parameters.modifiers import (
    AttributeModifier,
    BodyInertiaModifier,
    SignalModifier,
    StartModifier,
    Target,
    corrects,
    modifier_to_dict,
    target_of,
    written_by,
)
from sysid_ros.engine.parameters.natural_scale import UNIFORM, minimum_change, priors, vague_error
from sysid_ros.engine.parameters.parameter import ModifierFn, Parameter
from sysid_ros.engine.parameters.parameter_dict import ParameterDict
from sysid_ros.engine.parameters.start_parameters import all_deviated, moved_start, start_params
