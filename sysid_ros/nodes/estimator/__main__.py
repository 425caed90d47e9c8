# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs the node: ``python -m sysid_ros.nodes.estimator``."""

import sys

from sysid_ros.nodes.estimator.node import main

sys.exit(main())
