# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Identification of models from signals; knows nothing of ROS, of files or of reports."""
