# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Choosing among model structures by how well each predicts what it has not seen."""

from __future__ import annotations

from sysid_ros.comparison.compare import compare
from sysid_ros.comparison.comparison_document import comparison_document
from sysid_ros.comparison.comparison_folder import write_comparison
from sysid_ros.comparison.comparison_table import print_comparison
from sysid_ros.comparison.overlay import evaluate_files, render_overlay
from sysid_ros.comparison.resume_states import fit_states
from sysid_ros.comparison.structures import default_structures, structure
