# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Choosing among model structures by how well each predicts what it has not seen."""
