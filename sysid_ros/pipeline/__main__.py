# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Runs one fit for another process: ``python -m sysid_ros.pipeline EVENTS_FD [ahead]``."""

import sys

from sysid_ros.pipeline.worker_process import fit, prepare, serve

sys.exit(serve(fit, sys.argv[1:], prepare))
