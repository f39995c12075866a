# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Compiled metrics on disk, so that a metric that was compiled once is not compiled again.

An entry is a file named by its key: magic, SHA-256 of key and payload, payload. It is written to a
temporary file and renamed, so that readers in other processes see all of it or nothing; an entry whose
digest does not fit is dropped and compiled again. The newest entries are kept up to a bound of bytes.

Artifacts are run as code, so a folder that someone else may write to is not used.

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
import hashlib
import os
import stat
import tempfile
from pathlib import Path

import platformdirs

from annudf._log import logger

_MAGIC = b"annudfC1"
_SUFFIX = ".annudfc"
_DEFAULT_MAX_BYTES = 256 << 20
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
    # A shell expands ~ in `export`, but neither in quotes nor do a container's settings.
    return Path(named).expanduser() if named else Path(platformdirs.user_cache_dir("annudf"))


def max_bytes() -> int:
    """The bound on all entries together."""
    text = os.environ.get("ANNUDF_CACHE_MAX_BYTES", "")
    if not text:
        return _DEFAULT_MAX_BYTES
    if not (text.isascii() and text.isdecimal()):
        _warn_once(f"ANNUDF_CACHE_MAX_BYTES is {text!r}, not a number of bytes; {_DEFAULT_MAX_BYTES} is used")
        return _DEFAULT_MAX_BYTES
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


def _is_private(folder: Path) -> bool:
    status = folder.stat()
    if hasattr(os, "getuid") and status.st_uid not in (os.getuid(), 0):
        return False
    return not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _usable(folder: Path) -> bool:
    if _is_private(folder):
        return True
    _warn_once(
        f"the cache folder {folder} belongs to or can be written by someone else; it is not used, as "
        "what it holds is run as code. Name another in ANNUDF_CACHE_DIR"
    )
    return False


def load(key: str) -> bytes | None:
    """The payload that was stored under `key`, or None. A damaged entry is removed. Never raises."""
    folder = directory()
    if folder is None:
        return None
    max_bytes()  # Said at the first use of the cache, not when something is stored.
    path = folder / (key + _SUFFIX)
    try:
        if not _usable(folder):
            return None
        data = path.read_bytes()
        head = len(_MAGIC) + 32
        payload = data[head:]
        if data[: len(_MAGIC)] != _MAGIC or data[len(_MAGIC) : head] != _digest(key, payload):
            logger.debug("cache: %s is damaged and is removed", path)
            drop(key)
            return None
        # Its time says when it was last used, which is what is dropped first goes by.
        with contextlib.suppress(OSError):
            os.utime(path)
        return payload
    except FileNotFoundError:
        return None
    except OSError as error:
        _warn_once(f"the cache of compiled metrics cannot be read: {error}")
        return None


def store(key: str, payload: bytes) -> None:
    """Keeps `payload` under `key`. A disk that is full or read-only is told once and never raises."""
    folder = directory()
    limit = max_bytes()
    if folder is None or len(payload) > limit:
        return
    temporary: str | None = None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _usable(folder):
            return
        handle, temporary = tempfile.mkstemp(prefix=".tmp-", dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + _digest(key, payload) + payload)
        os.replace(temporary, folder / (key + _SUFFIX))
        temporary = None
        _evict(folder, limit)
    except OSError as error:
        _warn_once(f"the cache of compiled metrics cannot be written: {error}")
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def drop(key: str) -> None:
    """Removes an entry, e.g. one that its reader could not use."""
    folder = directory()
    if folder is not None:
        with contextlib.suppress(OSError):
            (folder / (key + _SUFFIX)).unlink()


def _evict(folder: Path, limit: int) -> None:
    entries: list[tuple[float, int, str]] = []
    newest = 0.0
    stale: list[tuple[float, str]] = []
    with os.scandir(folder) as files:
        for file in files:
            # Another process may remove what was just listed.
            with contextlib.suppress(OSError):
                status = file.stat()
                newest = max(newest, status.st_mtime)
                if file.name.endswith(_SUFFIX):
                    entries.append((status.st_mtime, status.st_size, file.path))
                elif file.name.startswith(".tmp-"):
                    stale.append((status.st_mtime, file.path))
    for when, path in stale:
        if newest - when > _STALE_SECONDS:  # Left by a process that was killed.
            with contextlib.suppress(OSError):
                os.unlink(path)
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
