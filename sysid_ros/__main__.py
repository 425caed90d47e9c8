"""``python -m sysid_ros``: the command line."""

from sysid_ros.cli import main

raise SystemExit(main())
