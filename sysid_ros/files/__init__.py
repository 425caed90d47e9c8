# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files that are complete or absent, and JSON that every parser reads."""

from __future__ import annotations

from sysid_ros.files.array_archive import open_arrays
from sysid_ros.files.plain_xml import parsed_xml
from sysid_ros.files.regular_file import (
    check_regular,
    open_regular,
    read_regular,
    read_regular_text,
)
from sysid_ros.files.strict_json import dumps, plain, write_json
from sysid_ros.files.writing import rename_folder, replace_file, replacing, translated_os_errors

__all__ = [
    "check_regular",
    "dumps",
    "open_arrays",
    "open_regular",
    "parsed_xml",
    "plain",
    "read_regular",
    "read_regular_text",
    "rename_folder",
    "replace_file",
    "replacing",
    "translated_os_errors",
    "write_json",
]
