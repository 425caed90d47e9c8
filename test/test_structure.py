# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The order of rooms: imports point one way, rooms are small and are used through their faces.

A room is a package; a module at the top level is a room by itself. Lazy imports and imports for
types count as imports.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "sysid_ros"

# Each may import what stands above it.
ORDER = (
    "arrays", "assignment", "choices", "closing", "errors", "printable", "time_intervals",
    "files", "processes", "pictures",
    "engine.compiled", "engine.elements", "engine.signals", "engine.friction",
    "engine.attributes", "engine.parameters", "engine.residuals", "engine.simulation",
    "engine.windows", "engine.mechanics", "engine.derivatives", "engine.least_squares",
    "engine.problem",
    "engine.uncertainty", "engine.estimation", "engine.regressor", "engine.inverse_dynamics",
    "engine.measured_torque.rows", "engine.measured_torque", "engine.moving_horizon",
    "recording.messages", "recording.bags", "recording.mapping",
    "experiment", "robots", "dataset", "live_estimation", "diagnosis.fits",
    "diagnosis.evidence", "diagnosis.body_sensors", "diagnosis.torque", "diagnosis.simulated",
    "diagnosis",
    "proposal.signals", "proposal", "judgement", "trend", "terminal",
    "exports", "results", "run_logs", "playback", "video", "report.svg", "report",
    "search", "pipeline", "fit_worker", "supervised_fit", "fit_page", "estimate_page",
    "comparison",
    "excitation", "excitation.design", "rehearsal", "sysid", "nodes",
    "nodes.sim_robot", "nodes.excite", "nodes.recorder", "nodes.sufficiency", "nodes.fit_server",
    "nodes.estimator", "nodes.replay", "nodes.identify", "nodes.demo", "commands",
    "cli", "__main__",
)  # fmt: skip

MOST_MODULES = 26
MOST_LINES = 400
# Imports by name: a user's hook, messages of packages that only a robot has, the library's face.
BY_NAME = {"robots/hook.py", "nodes/recorder/message_definitions.py", "sysid/__init__.py"}
# Folders whose modules are programs or answer to one name each; nothing below imports them.
WITHOUT_FACE = ("commands", "nodes")


@functools.cache
def modules() -> dict[str, Path]:
    """Files by dotted name below the package; a room's ``__init__`` goes by the room's name."""
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        .removesuffix("__init__")
        .rstrip("."): path
        for path in sorted(PACKAGE.rglob("*.py"))
    }


@functools.cache
def room_of(module: str) -> str:
    """The room that a module belongs to."""
    is_room = modules()[module].name == "__init__.py"
    return module if is_room or "." not in module else module.rpartition(".")[0]


@functools.cache
def tree_of(module: str) -> ast.Module:
    """A module's syntax."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


@functools.cache
def imported_by(module: str) -> tuple[str, ...]:
    """Modules of this package that one imports, anywhere in its text."""
    return tuple(_imports(module))


def _imports(module: str) -> Iterator[str]:
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relative to itself"
            base = node.module or ""
            offered = offered_by(base.partition(".")[2])
            names = [
                base if alias.name in offered else f"{base}.{alias.name}" for alias in node.names
            ]
            names = [name if name.partition(".")[2] in modules() else base for name in names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            if top == "sysid_ros" and rest in modules() and rest != module:
                yield rest


@functools.cache
def offered_by(room: str) -> frozenset[str]:
    """Return the names that a room's face takes from its modules; a module may share its name."""
    if room not in modules() or modules()[room].name != "__init__.py":
        return frozenset()
    taken = [node for node in tree_of(room).body if isinstance(node, ast.ImportFrom)]
    return frozenset(alias.asname or alias.name for node in taken for alias in node.names)


def place_of(room: str) -> int:
    """Place of a room, or of the room around it, in the order."""
    parts = room.split(".")
    for size in range(len(parts), 0, -1):
        name = ".".join(parts[:size])
        if name in ORDER:
            return ORDER.index(name)
    raise AssertionError(f"{room} is missing in ORDER")


def test_every_room_has_its_place() -> None:
    rooms = {room_of(module) for module in modules()} - {""}
    holding_others_only = {room for room in rooms if is_empty(room)}
    for room in rooms - holding_others_only:
        place_of(room)
    assert not [name for name in ORDER if name not in modules()]


def test_every_room_is_installed() -> None:
    # An editable installation, as `make setup` makes it, finds a room that colcon would leave out.
    setup = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    (listed,) = [
        [ast.literal_eval(name) for name in node.value.elts]
        for node in ast.walk(setup)
        if isinstance(node, ast.keyword)
        and node.arg == "packages"
        and isinstance(node.value, ast.List)
    ]
    packages = [path.parent.relative_to(ROOT) for path in modules().values()]
    assert sorted(listed) == sorted({".".join(package.parts) for package in packages})


def is_empty(room: str) -> bool:
    """Return whether a room has no code of its own, only other rooms."""
    own = [m for m in modules() if room_of(m) == room]
    return own == [room] and len(tree_of(room).body) <= 1


ROOMS = sorted({room_of(module) for module in modules()})  # a test each, not one per module


def modules_in(room: str) -> list[str]:
    """The modules of a room itself, its face included."""
    return [module for module in modules() if room_of(module) == room]


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_one_way(room: str) -> None:
    backwards = []
    for module in modules_in(room):
        if not room or is_empty(room) or module in ("cli", "__main__"):
            continue
        for other in imported_by(module):
            there = room_of(other)
            if there not in ("", room) and not place_of(there) < place_of(room):
                backwards.append(f"{module} imports {other}")
    assert not backwards


def test_no_module_imports_itself_by_a_detour() -> None:
    # Inside a room; between rooms the order forbids it.
    edges = {m: {o for o in imported_by(m) if room_of(o) == room_of(m)} for m in modules()}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path, module))
        if module not in done:
            for other in edges[module]:
                if modules()[other].name != "__init__.py":
                    visit(other, (*path, module))
            done.add(module)

    for module in edges:
        visit(module, ())


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_used_through_their_faces(room: str) -> None:
    reached = []
    for module in modules_in(room):
        for other in imported_by(module):
            there = room_of(other)
            faced = there in (room, other) or there.split(".")[0] in WITHOUT_FACE
            if "." in other and not faced:
                reached.append(f"{module} reaches into {there}: {other}")
    assert not reached


def test_names_come_from_where_they_are_defined() -> None:
    for module in modules():
        for node in ast.walk(tree_of(module)):
            source = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            source = source.removeprefix("sysid_ros.")
            if source in modules() and modules()[source].name != "__init__.py":
                assert isinstance(node, ast.ImportFrom)
                unknown = {alias.name for alias in node.names} - defined_in(source)
                assert not unknown, f"{module} takes {unknown} from {source}"


@functools.cache
def defined_in(module: str) -> frozenset[str]:
    """Names that a module gives a meaning, or passes on and says so: ``__all__``, ``a as a``."""
    names = set()
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias) and node.name == node.asname:
            names.add(node.name)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names.update(ast.literal_eval(node.value))
    return frozenset(names)


def test_faces_offer_what_is_taken() -> None:
    # ``sysid`` is for users, and the report's templates take what ``report.svg`` offers.
    taken = {
        (node.module, alias.name)
        for module in modules()
        for node in ast.walk(tree_of(module))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    outside = [path for folder in ("test", "benchmark", "examples") for path in
               (ROOT / folder).rglob("*.py")]  # fmt: skip
    named = set(re.findall(r"\w+", "\n".join(path.read_text("utf-8") for path in outside)))
    for room in set(modules()) - {"sysid", "report.svg"}:
        offered = offered_by(room) - named - {"annotations"}
        spare = {name for name in offered if (f"sysid_ros.{room}", name) not in taken}
        assert not spare, f"nobody takes {spare} from {room}"


def test_rooms_and_modules_are_small() -> None:
    for room in {room_of(module) for module in modules()}:
        own = [m for m in modules() if room_of(m) == room and modules()[m].name != "__init__.py"]
        assert len(own) <= MOST_MODULES, f"{room} has {len(own)} modules"
    for module, path in modules().items():
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= MOST_LINES, f"{module} has {lines} lines"


def test_neighbouring_rooms_have_no_module_of_one_name() -> None:
    # A command is called after what it runs, and every node has a node.py and a settings.py.
    seen: dict[tuple[str, str], str] = {}
    for module, path in modules().items():
        parent, _, name = module.rpartition(".")
        room = parent.rpartition(".")[0] if "." in parent else ""
        if path.name in ("__init__.py", "__main__.py") or parent.split(".")[0] in WITHOUT_FACE:
            continue
        other = seen.setdefault((room, name), module)
        assert other == module, f"{module} and {other}"


def test_types_of_arrays_have_one_name_each() -> None:
    named = re.findall(r"= (npt\.NDArray\[np\.\w+\])", modules()["arrays"].read_text("utf-8"))
    for module, path in modules().items():
        text = path.read_text(encoding="utf-8")
        assert module == "arrays" or not any(kind in text for kind in named), module


def test_nothing_is_imported_by_name() -> None:
    for path in modules().values():
        text = path.read_text(encoding="utf-8")
        named = re.search(r"import_module|__import__|^def __getattr__|spec_from_file", text, re.M)
        assert not named or str(path.relative_to(PACKAGE)) in BY_NAME, path


def test_docstrings_say_what_a_thing_is_or_does() -> None:
    for module in modules():
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                question = re.match(r"(What|Where|How|Whether|Which|When|Why|Who)\b", text)
                assert not question, f"{module}: {text.splitlines()[0]}"
