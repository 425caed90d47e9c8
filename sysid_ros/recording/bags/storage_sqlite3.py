# Copyright 2026 sysid_ros maintainers
# SPDX-License-Identifier: Apache-2.0

"""rosbag2's SQLite files (``.db3``), from Dashing's schema to today's."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from sysid_ros.errors import BagError
from sysid_ros.files import check_regular
from sysid_ros.recording.bags.storage import Storage, StoredTopic
from sysid_ros.recording.messages import Definition, RawMessage, ros2_type

MAGIC = b"SQLite format 3\0"
# besides SQLite's own: a column may be missing, text may be a number, nothing, or not UTF-8
_DAMAGE = (
    sqlite3.Error,
    KeyError,
    TypeError,
    AttributeError,
    UnicodeDecodeError,
    OverflowError,
    MemoryError,
)
_LANGUAGES = {"ros2msg": "msg", "ros2idl": "idl"}


class Sqlite3Storage(Storage):
    """One open SQLite bag file; it keeps receive times only."""

    format = "sqlite3"

    def __init__(self, path: Path, *, salvage: bool = False, shown: Path | None = None) -> None:
        """Open a file; of a damaged one, what SQLite still finds can be read."""
        super().__init__(path, salvage=salvage, shown=shown)
        self._file = path
        self._read = self._wanted = 0
        self._stack = ExitStack()
        try:
            self._database = self._connect()
            self._check_pages()
            self._topics = self._read_topics()
        except _DAMAGE as error:
            self.close()
            raise self._damaged(error) from error
        except BaseException:
            self.close()
            raise

    @property
    def topics(self) -> list[StoredTopic]:
        """The file's topics."""
        return self._topics

    @property
    def checks(self) -> list[str]:
        """Checks that vouch for the messages that were read."""
        return [
            f"The pages of {self._path.name} are in order, as SQLite checks them; it has no "
            "checksums: changed bytes of a message cannot be seen."
        ]

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
            self._omissions.begin()
            self._count_orphans(names)
            self._read = 0
            self._wanted = sum(topic.promised or 0 for topic in self.topics if topic.name in topics)
            for number, stamp, data in self._database.execute(query, (json.dumps(wanted),)):
                if not (isinstance(stamp, int) and isinstance(data, bytes)):
                    raise sqlite3.DataError("a message has no time or no bytes")
                self._read += 1
                if stamp < 0:
                    if not self._salvage:
                        raise sqlite3.DataError("a message is dated before 1970")
                    self._omissions.count("{} messages are dated before 1970 and left out", 1)
                    continue
                yield RawMessage(names[number], stamp, None, data)
        except _DAMAGE as error:
            raise self._damaged(error) from error

    def _count_orphans(self, names: Collection[int]) -> None:
        """Count the messages of topics that are not there: nothing says what they are."""
        orphans = sum(count for number, count in self._counts.items() if number not in names)
        self._omissions.count("{} messages belong to no topic and are left out", orphans)

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
        for file in (path, *logs):
            check_regular(file)
        if logs:
            folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="sysid_ros_")))
            path = Path(shutil.copy(path, folder))
            for log in logs:
                shutil.copy(log, folder)
            database = sqlite3.connect(path)
            what = "write-ahead log" if logs[0].name.endswith("-wal") else "journal"
            self._omissions.say(f"{self._path.name} was not closed; its {what} was read.")
        else:
            database = sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)
        self._stack.callback(database.close)
        database.text_factory = lambda text: text.decode(errors="replace")
        # Nothing that the file says is run: no function of a view, trigger or expression.
        database.execute("PRAGMA trusted_schema = OFF")
        return database

    def _check_pages(self) -> None:
        """Let SQLite look for what is damaged: a damaged page may hide messages without a word."""
        found = [row[0] for row in self._database.execute("PRAGMA quick_check(3)")]
        if found != ["ok"]:
            said = " ".join("; ".join(map(str, found)).split())
            error = f"{self._path} is damaged: SQLite says {said}"
            if not self._salvage:
                raise BagError(error)
            self._omissions.say(f"{error}; messages may be missing.")

    def _columns(self, table: str) -> set[str]:
        """The columns of a table; a view or another thing that computes its rows is none.

        Raises:
          BagError: It is not a plain table.
        """
        kinds = self._database.execute(
            "SELECT type, rootpage FROM sqlite_master WHERE lower(name) = ?", (table,)
        ).fetchall()
        if not kinds:
            return set()
        rows = self._database.execute(f"PRAGMA table_xinfo({table})").fetchall()
        if any(kind != "table" or not page for kind, page in kinds) or any(row[6] for row in rows):
            raise BagError(
                f"{self._path} is refused: {table!r} is no plain table: it computes what it holds"
            )
        return {row[1] for row in rows}

    def _read_topics(self) -> list[StoredTopic]:
        if not self._columns("topics") or not self._columns("messages"):
            raise BagError(f"{self._path} is a database but not a bag: it has no table of messages")
        definitions = self._read_definitions()
        self._counts = Counter(
            dict(
                self._database.execute("SELECT topic_id, count(*) FROM messages GROUP BY topic_id")
            )
        )
        cursor = self._database.execute("SELECT * FROM topics ORDER BY id")
        names = [column[0] for column in cursor.description]
        topics = []
        seen = set()
        for row in cursor:
            topic = dict(zip(names, row, strict=True))
            if topic["id"] in seen:
                raise sqlite3.DataError(f"two topics have the number {topic['id']}")
            seen.add(topic["id"])
            language, text = definitions.get(topic["type"], ("", ""))
            digest = topic.get("type_description_hash", "")  # since Iron
            topics.append(
                StoredTopic(
                    name=topic["name"],
                    msgtype=ros2_type(topic["type"]),
                    serialization=topic["serialization_format"],
                    definition=Definition(language, text, digest),
                    promised=self._counts[topic["id"]],
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
