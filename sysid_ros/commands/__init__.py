# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The commands of ``sysid_ros``, one module each, in the order in which ``--help`` lists them."""

from sysid_ros.commands import (
    apply,
    check,
    compare,
    demo,
    design,
    evaluate,
    export,
    fit,
    info,
    init,
    live,
    recover,
    rehearse,
    replay,
    report,
    trend,
    view,
)

COMMANDS = (
    init,
    check,
    rehearse,
    fit,
    live,
    compare,
    evaluate,
    info,
    recover,
    export,
    apply,
    report,
    trend,
    replay,
    view,
    design,
    demo,
)
