# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""The demo: a simulated robot with hidden parameters is identified by real ROS 2 processes.

``python -m sysid_ros demo`` starts ``sim_robot``, ``excite``, ``recorder`` and ``fit_server``, runs
``identify`` and ends them all. Its exit status is 0 only if every parameter was found.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import sysid_ros
from sysid_ros.errors import ErrorCode, OutputError, SysidError
from sysid_ros.nodes.demo.child_processes import ChildProcesses
from sysid_ros.nodes.identify import EXIT_OFF
from sysid_ros.printable import print_text
from sysid_ros.processes import StopRequest

_NOBODYS, _FIRST_PARTICIPANT = 5, 10  # ports of a domain, from its first on
_DOMAINS = range(1, 102)  # those whose ports lie below Linux's ephemeral ones
_POLL = 0.1  # s
_CLIENT = "identify"
_FOR_THE_MOTION = ("excite", "sim_robot", "recorder")  # they end before the fit
_FAULT = re.compile(r"ERROR|FATAL|[Ee]rror\b|Traceback")
_WARNING = re.compile("WARN")
_SCREEN = 18  # lines of logs that are shown, so that one screen holds all


class DemoError(SysidError):
    """A process of the demo failed, or its files are not where they belong."""

    code = ErrorCode.WORKER_DIED


def demo_folder() -> Path:
    """The folder with the demo's robot and settings, in a clone or an installation.

    Raises:
      DemoError: It is nowhere.
    """
    package = Path(sysid_ros.__file__).resolve().parent
    candidates = [package.parent / "examples" / "demo"]
    candidates += [folder / "share/sysid_ros/examples/demo" for folder in package.parents]
    for candidate in candidates:
        if (candidate / "experiment.yaml").is_file():
            return candidate
    raise DemoError(f"examples/demo is neither beside {package} nor in a share folder above it")


@contextmanager
def free_domain() -> Iterator[int]:
    """A ROS domain that no process of this machine seems to use, nor is about to.

    Others that look for one the same way do not get it until the block ends. Ports are those of
    RTPS 2.2, 9.6.1.1: that of a domain's first participant, and one that no participant has.
    """
    domains = random.sample(_DOMAINS, len(_DOMAINS))
    with ExitStack() as held:
        for domain in domains:
            if held.enter_context(_bound(domain, _NOBODYS)):
                with _bound(domain, _FIRST_PARTICIPANT) as free:
                    pass
                if free:
                    yield domain
                    return
        yield domains[0]


@contextmanager
def _bound(domain: int, port: int) -> Iterator[bool]:
    """Bind a port of a domain inside the block; False where it is taken."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        try:
            bound.bind(("", 7400 + 250 * domain + port))
        except OSError:
            yield False
        else:
            yield True


def node_arguments(folder: Path, output: Path) -> Mapping[str, list[str]]:
    """ROS arguments of every node of the demo, with what :func:`demo_folder` made."""
    experiment = f"experiment:={folder / 'experiment.yaml'}"
    truth = f"true_parameters:={folder / 'true_parameters.yaml'}"
    given = {
        "sim_robot": [f"model:={folder / 'arm.xml'}", truth],
        "excite": [],
        "recorder": [experiment, f"output_dir:={output / 'bags'}"],
        "fit_server": [f"output_dir:={output / 'results'}"],
        "identify": [experiment, truth, "arm:=true"],
    }
    settings = ["--ros-args", "--params-file", str(folder / "demo.yaml")]
    return {
        node: [*settings, *(part for value in values for part in ("-p", value))]
        for node, values in given.items()
    }


def run_demo(output: Path, folder: Path, is_to_end: Callable[[], bool] = lambda: False) -> int:
    """Run the demo.

    Args:
      output: A new folder for its bags, results and logs.
      folder: Holds ``arm.xml``, ``experiment.yaml``, ``true_parameters.yaml`` and ``demo.yaml``.
      is_to_end: Asked repeatedly; ends it where true.

    Returns:
      The exit status of ``identify``: 0, or EXIT_OFF where a parameter was not found.

    Raises:
      SysidError: A process did not start, ended too early or refused; names the step.
      KeyboardInterrupt: It was to end.
    """
    with free_domain() as domain:
        return _run_in(domain, output, folder, is_to_end)


def _run_in(domain: int, output: Path, folder: Path, is_to_end: Callable[[], bool]) -> int:
    """Run the demo in a ROS domain; see :func:`run_demo`."""
    environment = {
        **os.environ,
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        # Shared memory of nodes that were killed earlier would keep messages from these.
        "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4",
    }
    arguments = node_arguments(folder, output)
    with ChildProcesses(environment, output / "logs") as children:
        for node, values in arguments.items():
            if node != _CLIENT:
                children.start(node, [f"sysid_ros.nodes.{node}", *values])
        client = children.start(
            _CLIENT, [f"sysid_ros.nodes.{_CLIENT}", *arguments[_CLIENT]], show=True
        )
        with _compilation_beside():
            status = _exit_status(client, children, output, is_to_end)
        if status not in (0, EXIT_OFF):
            said = what_was_said(children, arguments)
            raise DemoError(f"{_step(output)} failed for the reason above; besides, {said}")
        return status


def _exit_status(
    client: subprocess.Popen[bytes],
    children: ChildProcesses,
    output: Path,
    is_to_end: Callable[[], bool],
) -> int:
    """Wait for the client, and end the nodes of the motion once it is over.

    Raises:
      DemoError: A node ended before the client.
      KeyboardInterrupt: The demo was to end.
    """
    recorded: float | None = None  # when, by time.monotonic()
    while client.poll() is None:
        if is_to_end():
            raise KeyboardInterrupt
        time.sleep(_POLL)
        if recorded is None and _bag_is_complete(output):
            recorded = time.monotonic()
            for node in _FOR_THE_MOTION:
                children.end(node)
        for name, status, words in children.ended():
            if name != _CLIENT and client.poll() is None:
                raise DemoError(
                    f"{_step(output)} failed: {name} ended with status {status}; it said:\n{words}"
                )
    if recorded is not None:
        print(f"demo: {time.monotonic() - recorded:.0f} s from the recording to the report")
    return client.returncode


@contextmanager
def _compilation_beside() -> Iterator[None]:
    """Compile what the fit needs while the robot moves; end that only if the demo ends before."""
    from sysid_ros.engine.derivatives import start_compiling  # takes a second

    with start_compiling() as compilation:
        try:
            yield
        finally:
            compilation.terminate()  # nothing happens where it has ended


def _bag_is_complete(output: Path) -> bool:
    """True if the recorder has closed its bag: rosbag2's metadata come last."""
    return any(output.glob("bags/*/metadata.yaml"))


def _step(output: Path) -> str:
    """Name the step at which the demo was, as its files show."""
    if any(output.glob("results/*/result.json")):
        return "showing the result"
    if _bag_is_complete(output):
        return "fitting"
    return "recording the motion" if any(output.glob("bags/*")) else "starting the nodes"


def what_was_said(children: ChildProcesses, nodes: Iterable[str]) -> str:
    """The last lines of the nodes at fault, of those that warned, or where all logs are."""
    said = {node: children.last_words(node) for node in nodes if node != _CLIENT}
    for sign, verb in ((_FAULT, "said"), (_WARNING, "warned")):
        loud = {node: words for node, words in said.items() if sign.search(words)}
        if loud:
            most = _SCREEN // len(loud)
            return "\n".join(f"{node} {verb}:\n{_end(words, most)}" for node, words in loud.items())
    return f"no node complained; all they said is in {children.log_dir}"


def _end(text: str, lines: int) -> str:
    return "\n".join(text.splitlines()[-lines:])


def main(args: Sequence[str] | None = None) -> int:
    """Run the demo from the command line.

    Returns:
      The exit status: 0 only if every identifiable parameter was found.
    """
    parser = argparse.ArgumentParser(
        prog="sysid_ros demo", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument(
        "--output", type=Path, default=Path("demo_results"), help="folder (default: %(default)s)"
    )
    options = parser.parse_args(args)
    output = options.output / datetime.now().strftime("%Y-%m-%d_%H-%M-%S")
    started = time.monotonic()
    try:
        _make_folder(output)
        # Raised by a signal, an interrupt may be lost in what a library does while it is imported.
        with StopRequest(lambda: None) as stop:
            status = run_demo(output.absolute(), demo_folder(), stop.requested)
    except SysidError as error:
        print_text(f"sysid_ros demo: {error}", stream=sys.stderr)
        return int(error.code)
    except KeyboardInterrupt:
        print("sysid_ros demo: interrupted; every process has ended", file=sys.stderr)
        return int(ErrorCode.CANCELED)
    print(f"demo: {'good' if status == 0 else 'failed'} after {time.monotonic() - started:.0f} s")
    return status


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {path}: {error.strerror}") from error
