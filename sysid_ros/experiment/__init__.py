# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The experiment file: reading, validating and resolving what it names."""

from sysid_ros.experiment.cross_checks import check_fittable as check_fittable
from sysid_ros.experiment.load import load_experiment as load_experiment
from sysid_ros.experiment.load import parse_experiment as parse_experiment
from sysid_ros.experiment.load import with_bags as with_bags
from sysid_ros.experiment.load import with_folders as with_folders
from sysid_ros.experiment.load import with_overrides as with_overrides
from sysid_ros.experiment.locate import locate_bag as locate_bag
from sysid_ros.experiment.locate import locate_model as locate_model
from sysid_ros.experiment.locate import message_paths_of as message_paths_of
from sysid_ros.experiment.locate import packages_of as packages_of
