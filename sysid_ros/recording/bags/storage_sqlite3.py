# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""rosbag2's SQLite files (``.db3``), from Dashing's schema to today's."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from sysid_ros.errors import BagError
from sysid_ros.recording.bags.storage import StoredTopic
from sysid_ros.recording.messages import Definition, RawMessage, ros2_type

MAGIC = b"SQLite format 3\0"
# besides SQLite's own: a column may be missing, text may be a number, nothing, or not UTF-8
_DAMAGE = (sqlite3.Error, KeyError, TypeError, AttributeError, UnicodeDecodeError)
_LANGUAGES = {"ros2msg": "msg", "ros2idl": "idl"}


class Sqlite3Storage:
    """One open SQLite bag file; it keeps receive times only."""

    format = "sqlite3"

    def __init__(self, path: Path, *, shown: Path | None = None) -> None:
        """Open a file and learn its topics.

        Args:
          path: The ``.db3`` file.
          shown: What messages call the file, if not ``path``.

        Raises:
          BagError: It is not a bag or is damaged.
        """
        self._file = path
        self._path = shown or path
        self.warnings: list[str] = []
        self._read = self._wanted = 0
        self._stack = ExitStack()
        try:
            self._database = self._connect()
            self.topics = self._read_topics()
        except _DAMAGE as error:
            self.close()
            raise self._damaged(error) from error
        except BaseException:
            self.close()
            raise

    @property
    def progress(self) -> float:
        """The share of what was asked for that has been read, 0 to 1."""
        return self._read / max(1, self._wanted)

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Yield the messages of some topics in file order; see :class:`~.storage.Storage`."""
        query = (
            "SELECT topic_id, timestamp, data FROM messages "
            "WHERE topic_id IN (SELECT value FROM json_each(?))"
        )
        try:
            names = dict(self._database.execute("SELECT id, name FROM topics"))
            wanted = [number for number, name in names.items() if name in topics]
            self._read = 0
            self._wanted = sum(topic.promised or 0 for topic in self.topics if topic.name in topics)
            for number, stamp, data in self._database.execute(query, (json.dumps(wanted),)):
                if not (isinstance(stamp, int) and isinstance(data, bytes)):
                    raise sqlite3.DataError("a message has no time or no bytes")
                self._read += 1
                yield RawMessage(names[number], stamp, None, data)
        except _DAMAGE as error:
            raise self._damaged(error) from error

    def close(self) -> None:
        """Close the file."""
        self._stack.close()

    def _connect(self) -> sqlite3.Connection:
        """Open read-only, without touching the bag's folder.

        A recorder that was killed leaves a write-ahead log with the newest messages, or a journal
        that undoes a change it did not complete. SQLite uses them only where it may write beside
        the file, so such a bag is opened as a copy.
        """
        path = self._file
        logs = [path.with_name(path.name + ending) for ending in ("-wal", "-journal")]
        logs = [log for log in logs if log.exists() and log.stat().st_size]
        if logs:
            folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="sysid_ros_")))
            path = Path(shutil.copy(path, folder))
            for log in logs:
                shutil.copy(log, folder)
            database = sqlite3.connect(path)
            what = "write-ahead log" if logs[0].name.endswith("-wal") else "journal"
            self.warnings.append(f"{self._path.name} was not closed; its {what} was read.")
        else:
            database = sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)
        self._stack.callback(database.close)
        database.text_factory = lambda text: text.decode(errors="replace")
        return database

    def _columns(self, table: str) -> set[str]:
        return {row[1] for row in self._database.execute(f"PRAGMA table_info({table})")}

    def _read_topics(self) -> list[StoredTopic]:
        if not self._columns("topics") or not self._columns("messages"):
            raise BagError(f"{self._path} is a database but not a bag: it has no table of messages")
        definitions = self._read_definitions()
        counts = dict(
            self._database.execute("SELECT topic_id, count(*) FROM messages GROUP BY topic_id")
        )
        cursor = self._database.execute("SELECT * FROM topics ORDER BY id")
        names = [column[0] for column in cursor.description]
        topics = []
        for row in cursor:
            topic = dict(zip(names, row, strict=True))
            language, text = definitions.get(topic["type"], ("", ""))
            digest = topic.get("type_description_hash", "")  # since Iron
            topics.append(
                StoredTopic(
                    name=topic["name"],
                    msgtype=ros2_type(topic["type"]),
                    serialization=topic["serialization_format"],
                    definition=Definition(language, text, digest),
                    promised=counts.get(topic["id"], 0),
                    qos=topic.get("offered_qos_profiles", ""),  # since Foxy
                )
            )
        return topics

    def _read_definitions(self) -> dict[str, tuple[str, str]]:
        """Return language and text of each type's definition (stored since Iron)."""
        if "encoded_message_definition" not in self._columns("message_definitions"):
            return {}
        rows = self._database.execute(
            "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
        )
        return {
            name: (_LANGUAGES[encoding], text)
            for name, encoding, text in rows
            if encoding in _LANGUAGES and text.strip()
        }

    def _damaged(self, error: Exception) -> BagError:
        if isinstance(error, sqlite3.Error):
            said = " ".join(str(error).split())  # it quotes statements line by line
            return BagError(f"{self._path} is damaged: SQLite says {said}")
        return BagError(f"{self._path} is damaged: its tables are malformed ({error!r})")
