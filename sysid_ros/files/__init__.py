# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""Files that are complete or absent, JSON that every parser reads, dataclasses in it."""

from __future__ import annotations

from sysid_ros.files.array_archive import open_arrays
from sysid_ros.files.json_forms import (
    LIST,
    MAPPING,
    TEXT,
    Form,
    FormError,
    Record,
    by_name,
    matrix,
    named,
    number,
    optional,
    several,
)
from sysid_ros.files.labels import labels_of, untaken
from sysid_ros.files.plain_xml import parsed_xml
from sysid_ros.files.plain_yaml import read_yaml
from sysid_ros.files.regular_file import (
    check_regular,
    open_regular,
    read_regular,
    read_regular_text,
    target_said,
)
from sysid_ros.files.strict_json import dumps, plain, write_json
from sysid_ros.files.utf8_names import check_utf8
from sysid_ros.files.writing import (
    check_replaceable,
    rename_folder,
    replace_file,
    replacing,
    sync_folder,
    translated_os_errors,
    write_new_file,
)
from sysid_ros.files.yaml_text import yaml_line, yaml_text
