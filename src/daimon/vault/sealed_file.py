"""The vault on disk: read when it changed, changed as a whole, by one process at a time.

    vault.sealed    all secrets, sealed     vault.lock    held while one changes them

Invariant: `vault.sealed` is what was there before or what is there after a change, whenever the process dies and whatever the disk does. It
is written to a draft, forced to disk and renamed; what cannot be opened is never written over. Whoever reads looks first whether the
file is still the one that was read: that costs one `stat`.

It knows nothing of scopes or uses. It may be called from any thread.
"""

import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from daimon.abi.errors import Misconfigured
from daimon.vault import private, seal
from daimon.vault.key_file import Replace
from daimon.vault.passphrase import Passphrase
from daimon.vault.secret import Secret
from daimon.vault.source import Source, Sources

All = Mapping[str, Secret]
LOCK_S = 10.0
_LOG = logging.getLogger(__name__)
_STORED: TypeAdapter[tuple[Secret, ...]] = TypeAdapter(tuple[Secret, ...])
_Mark = tuple[int, int, int, int]


class SealedFile:
    def __init__(self, path: Path, sources: Sources, usual: Callable[[], Source], replace: Replace) -> None:
        """`usual`: which source a vault is sealed with that does not exist yet."""
        self.path = path
        self.sources = sources
        self._place = os.fspath(path)  # looked at with every delivery and every text
        self._lock_path = path.with_suffix(".lock")
        self._usual = usual
        self._replace = replace
        self._turn = threading.RLock()
        self._mark: _Mark | None = None
        self._secrets: All = {}
        self._header: seal.Header | None = None
        self._data_key = b""

    def read(self) -> All:
        """Raises Misconfigured for a vault that cannot be opened; what was read before is not used in its place."""
        with self._turn:
            mark = self._look()
            if mark is None or mark != self._mark:
                self._load()
            return self._secrets

    @property
    def source(self) -> str:
        """Which one is in force; for a vault that does not exist yet, which one would be."""
        with self._turn:
            self.read()
            return self._usual().name if self._header is None else self._header.source

    def change(self, changed: Callable[[All], All]) -> None:
        """What `changed` makes of what is there. It may raise, and then nothing has changed."""
        with self._turn, self._locked():
            before = self.read()
            after = changed(before)
            if after == before:
                return
            header, data_key = (self._header, self._data_key) if self._header is not None else _wrapped(self._usual())
            self._write(after, header, data_key)

    def reseal(self, source: Source) -> None:
        """With a data key of its own: who has the old key and an old copy learns nothing of what comes."""
        with self._turn, self._locked():
            secrets, old = self.read(), self._header
            before = self.sources.get(old.source) if old is not None else source
            new, data_key = _wrapped(source)
            self._write(secrets, new, data_key)
            self.sources.put(source)
            if old is not None and (old.source, old.place) != (new.source, new.place):
                _drop(before, old.place)

    def _write(self, secrets: All, header: seal.Header, data_key: bytes) -> None:
        data = seal.sealed(header, data_key, _STORED.dump_json(tuple(secrets.values())))
        if len(data) > seal.MOST_BYTES:
            raise Misconfigured(f"{self.path} would be longer than {seal.MOST_BYTES:,} bytes; remove secrets that nobody uses")
        self._mark = None
        try:
            self._replace(self.path, data, 0o600)
        except OSError as error:
            raise Misconfigured(f"{self.path} cannot be written: {error.strerror}; nothing has changed") from None
        self._header, self._data_key = header, data_key
        if self.read() != secrets:
            raise Misconfigured(f"{self.path} does not hold what was just written; is the disk all right?")

    def _look(self) -> _Mark | None:
        try:
            return _mark(os.stat(self._place))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Misconfigured(f"{self.path} cannot be read: {error.strerror}") from None

    def _load(self) -> None:
        self._mark = None
        try:
            data, found = private.read(self.path, seal.MOST_BYTES, "the vault")
        except FileNotFoundError:
            self._secrets, self._header, self._data_key = {}, None, b""
            return
        sealed = seal.parsed(data, str(self.path))
        if self._header is None or sealed.header != self._header:
            self._header, self._data_key = None, self._unlocked(sealed.header)
        try:
            content = seal.opened(sealed, self._data_key)
            secrets = _STORED.validate_json(content)
        except (seal.Unopened, ValidationError):
            raise seal.damaged(str(self.path)) from None
        self._secrets, self._header, self._mark = {secret.name: secret for secret in secrets}, sealed.header, _mark(found)

    def _unlocked(self, header: seal.Header) -> bytes:
        source = self.sources.get(header.source)
        try:
            return seal.unwrapped(header, source.material(header.place))
        except seal.Unopened:
            if isinstance(source, Passphrase):
                source.forget()
                raise Misconfigured(f"the passphrase does not open {self.path}; nothing has changed, try again") from None
            whose = "it is the key of another vault, or the file was changed"
            raise Misconfigured(f"the key of the source {header.source!r} does not open {self.path}: {whose}") from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Raises Misconfigured when another process does not let go."""
        try:
            descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Misconfigured(f"{self._lock_path} cannot be opened: {error.strerror}") from None
        try:
            self._wait(descriptor)
            yield
        finally:
            os.close(descriptor)

    def _wait(self, descriptor: int) -> None:
        deadline = time.monotonic() + LOCK_S
        while True:
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Misconfigured(f"another process has held {self._lock_path} for {LOCK_S:g} s; try again when it is done") from None
            time.sleep(0.01)


def _wrapped(source: Source) -> tuple[seal.Header, bytes]:
    place = source.prepare()
    return seal.wrapped(source.name, place, source.work, source.material(place))


def _drop(source: Source, place: str) -> None:
    """The vault is sealed otherwise by now: what stays opens nothing."""
    try:
        source.drop(place)
    except (Misconfigured, OSError) as error:
        _LOG.warning("the old key of the vault, in %s, could not be removed: %s", source.name, error)


def _mark(found: os.stat_result) -> _Mark:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
