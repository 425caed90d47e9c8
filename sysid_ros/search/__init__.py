# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Looking for a good start all over the bounds, where a fit from one start may be led astray."""

from __future__ import annotations

from sysid_ros.search.start import FoundStart, SearchListener, find_start
from sysid_ros.search.trials import Trials, read_search_state, write_search_state, write_trials
