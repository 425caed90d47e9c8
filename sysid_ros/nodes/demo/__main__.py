# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs the demo: ``python -m sysid_ros.nodes.demo``."""

import sys

from sysid_ros.nodes.demo.run import main

sys.exit(main())
