# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The result folder: written whole or not at all, read back, kept while a fit runs."""

from __future__ import annotations

from sysid_ros.results.checkpoint import CHECKPOINT_FILE, Checkpoint, finalize_checkpoint
from sysid_ros.results.parameters_file import friction_creep, read_values, write_parameters
from sysid_ros.results.previous import model_hashes, previous_results, recording_hashes
from sysid_ros.results.reading import ResultError, read_results
from sysid_ros.results.result_document import (
    SCORE,
    STEP,
    document_from,
    evaluation_document,
    parameter_entry,
)
from sysid_ros.results.result_folder import (
    PARAMETERS,
    REPORT,
    RESIDUALS,
    RESULT,
    VIDEO,
    ResultFolder,
    clear,
)
from sysid_ros.results.signals_file import write_signals
from sysid_ros.results.state_file import (
    SEARCH_FILE,
    STATE_FILE,
    claimed,
    folders_with_state,
    read_state,
    write_state,
)
from sysid_ros.results.targets_file import TARGETS_FILE, write_targets
from sysid_ros.results.work_folder import (
    check_writable,
    discard,
    is_work_folder,
    open_work_folder,
    publish,
)
