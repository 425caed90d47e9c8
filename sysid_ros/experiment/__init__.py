# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The experiment file: reading, validating and resolving what it names."""

from __future__ import annotations

from sysid_ros.experiment.attribute_names import FRICTION
from sysid_ros.experiment.cross_checks import check_fittable, check_measured
from sysid_ros.experiment.entries import added_input
from sysid_ros.experiment.experiment_schema import (
    Experiment,
    MaskConfig,
    ParameterConfig,
    SequenceConfig,
    SignalConfig,
    ValidationConfig,
)
from sysid_ros.experiment.fit_schema import LEFT_OUT, SearchConfig
from sysid_ros.experiment.idle_settings import idle_settings
from sysid_ros.experiment.load import (
    load_experiment,
    parse_experiment,
    with_bags,
    with_folders,
    with_overrides,
)
from sysid_ros.experiment.locate import locate_bag, locate_model, message_paths_of, packages_of
from sysid_ros.experiment.overrides import apply_overrides
from sysid_ros.experiment.packages import PACKAGE, Packages, as_uri
from sysid_ros.experiment.units import UNITS
from sysid_ros.experiment.written_places import check_study, output_of
from sysid_ros.experiment.yaml_tree import parse_yaml, without_places
