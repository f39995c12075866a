# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Compiled metrics on disk, so that a metric that was compiled once is not compiled again.

An entry is a file named by its key: magic, SHA-256 of key and payload, payload. It is written to a
temporary file and renamed, so that readers in other processes see all of it or nothing; an entry whose
digest does not fit is dropped and compiled again. The newest entries are kept up to a bound of bytes.

Artifacts are run as code, so a folder that someone else may write to is not used. Folder and entry are opened once,
and what was opened is looked at: a path may lead elsewhere a moment later.

Environment
-----------
ANNUDF_CACHE_DIR
    The folder; default: the user's cache folder of the system (``~/.cache/annudf``).
ANNUDF_CACHE_DISABLE
    ``1``: neither read nor write.
ANNUDF_CACHE_MAX_BYTES
    The bound, 268435456 (256 MiB) by default.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from annudf._core import DEFAULT_CACHE_BYTES
from annudf._support.log import logger

_MAGIC = b"annudfC1"
_SUFFIX = ".annudfc"
_STALE_SECONDS = 3600.0
_warned: set[str] = set()


def _warn_once(message: str) -> None:
    if message not in _warned:
        _warned.add(message)
        logger.warning("%s", message)


def directory() -> Path | None:
    """The folder in use, or None if the cache is switched off."""
    if os.environ.get("ANNUDF_CACHE_DISABLE", "") not in ("", "0"):
        return None
    named = os.environ.get("ANNUDF_CACHE_DIR")
    if not named:
        return Path(platformdirs.user_cache_dir("annudf"))
    try:
        # A shell expands ~ in `export`, but neither in quotes nor do a container's settings.
        return Path(named).expanduser()
    except RuntimeError:
        _warn_once(f"ANNUDF_CACHE_DIR is {named!r}, but that user or home folder does not exist, so there is no cache")
        return None


def max_bytes() -> int:
    """The bound on all entries together."""
    text = os.environ.get("ANNUDF_CACHE_MAX_BYTES", "")
    if not text:
        return DEFAULT_CACHE_BYTES
    if not (text.isascii() and text.isdecimal()):
        _warn_once(f"ANNUDF_CACHE_MAX_BYTES is {text!r}, not a number of bytes; {DEFAULT_CACHE_BYTES} is used")
        return DEFAULT_CACHE_BYTES
    return int(text)


def make_key(*parts: str) -> str:
    """SHA-256 over length-prefixed parts, so that no two lists of parts run together."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def _digest(key: str, payload: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + payload).digest()


def _is_ours(status: os.stat_result) -> bool:
    """Whether nobody else has written it: it is the user's or root's, and no one else may write."""
    return status.st_uid in (os.getuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int | None]:
    """A descriptor of the folder, or None if it is not to be used."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if _is_ours(os.fstat(descriptor)):
            yield descriptor
            return
        _warn_once(
            f"the cache folder {folder} can be written by another user, so it is not used: its files run as code; name "
            "another in ANNUDF_CACHE_DIR"
        )
        yield None
    finally:
        os.close(descriptor)


def _read(name: str, folder: int) -> bytes | None:
    """An entry, or None if it is not ours; a link is none."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not _is_ours(status):
            return None
        data = file.read()
        # Its time says when it was last used, which is what is dropped first goes by.
        with contextlib.suppress(OSError):
            os.utime(descriptor)
        return data


def load(key: str) -> bytes | None:
    """The payload that was stored under `key`, or None. A damaged entry is removed. Never raises."""
    path = directory()
    if path is None:
        return None
    max_bytes()  # Said at the first use of the cache, not when something is stored.
    name = key + _SUFFIX
    try:
        with _opened(path) as folder:
            if folder is None:
                return None
            data = _read(name, folder)
            head = len(_MAGIC) + 32
            if data is not None and data[: len(_MAGIC)] == _MAGIC:
                payload = data[head:]
                if data[len(_MAGIC) : head] == _digest(key, payload):
                    return payload
            logger.debug("cache: %s is damaged or owned by another user; removed", path / name)
            _unlink(name, folder)
            return None
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_once(f"the cache of compiled metrics cannot be read: {error}")
        return None


def store(key: str, payload: bytes) -> None:
    """Keeps `payload` under `key`. A disk that is full or read-only is told once and never raises."""
    path = directory()
    limit = max_bytes()
    if path is None or len(payload) > limit:
        return
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _opened(path) as folder:
            if folder is None:
                return
            temporary = f".tmp-{secrets.token_hex(8)}"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=folder), "wb") as file:
                    file.write(_MAGIC + _digest(key, payload) + payload)
                os.replace(temporary, key + _SUFFIX, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                _unlink(temporary, folder)
                raise
            _evict(folder, limit)
    except OSError as error:
        _warn_once(f"the cache of compiled metrics cannot be written: {error}")


def drop(key: str) -> None:
    """Removes an entry, e.g. one that its reader could not use."""
    path = directory()
    if path is not None:
        with contextlib.suppress(OSError), _opened(path) as folder:
            if folder is not None:
                _unlink(key + _SUFFIX, folder)


def _unlink(name: str, folder: int) -> None:
    # Another process may have removed it.
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=folder)


def _evict(folder: int, limit: int) -> None:
    entries: list[tuple[float, int, str]] = []
    stale: list[tuple[float, str]] = []
    with os.scandir(folder) as files:
        for file in files:
            # Another process may remove what was just listed.
            with contextlib.suppress(OSError):
                status = file.stat(follow_symlinks=False)
                if file.name.endswith(_SUFFIX):
                    entries.append((status.st_mtime, status.st_size, file.name))
                elif file.name.startswith(".tmp-"):
                    stale.append((status.st_mtime, file.name))
    now = time.time()  # A file's time may lie in the future, beside which those being written look old.
    for when, name in stale:
        if now - when > _STALE_SECONDS:  # Left by a process that was killed.
            _unlink(name, folder)
    total = sum(size for _, size, _ in entries)
    for _, size, name in sorted(entries):
        if total <= limit:
            break
        _unlink(name, folder)
        total -= size
