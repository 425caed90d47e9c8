# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs the node: ``python -m sysid_ros.nodes.replay``."""

import sys

from sysid_ros.nodes.ending import program

main = program("sysid_ros.nodes.replay")

if __name__ == "__main__":
    sys.exit(main())
