# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""``python -m sysid_ros``: the command line."""

from sysid_ros.cli import main

raise SystemExit(main())
