# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""A folder of shards: one file for each, and a manifest that names them with their digests."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterator
from typing import Any

from annudf._arrays.views import ELEMENT_OF_DTYPE, VECTORS
from annudf._shards.shard import Shard, check_version
from annudf._support.options import COARSE_OF_METRIC
from annudf.errors import ArgumentError, InputError, UnavailableError
from annudf.ivf_flat._files import load
from annudf.ivf_flat._index import Index

MANIFEST = "manifest.json"
_FORMAT = "annudf shards 1"


def is_url(folder: str) -> bool:
    """Whether fsspec reaches it, and not the file system."""
    return "://" in folder


def _file_system(folder: str) -> tuple[Any, str]:
    import fsspec

    files, path = fsspec.core.url_to_fs(folder)
    return files, str(path)


def digest_of(path: str) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def centers_digest(index: Index) -> str:
    """SHA-256 of the centers, which all shards share."""
    return hashlib.sha256(index.centers.tobytes()).hexdigest()


def write_shard(version: str, shard: Shard, folder: str, number: int) -> dict[str, Any]:
    """Writes the file of a shard; its name has its digest, so that no file of a manifest is ever written over."""
    check_version(version)
    name = f"shard-{number:05}"
    remote = is_url(folder)
    with tempfile.TemporaryDirectory(prefix="annudf-") if remote else contextlib.nullcontext(folder) as place:
        path = os.path.join(place, f".{name}-{secrets.token_hex(8)}")
        try:
            if not remote:
                os.makedirs(folder, exist_ok=True)
            _ = shard.index._core.saving(path).result
            digest = digest_of(path)
            final = f"{name}-{digest[:16]}.ivf"
            size = os.path.getsize(path)
            if remote:
                files, there = _file_system(folder)
                files.makedirs(there, exist_ok=True)
                files.put_file(path, f"{there}/{final}")
            else:
                os.replace(path, os.path.join(folder, final))
        except OSError as error:
            raise UnavailableError(f"{folder}: shard {number} cannot be written: {error}") from None
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
    return {
        "file": final,
        "sha256": digest,
        "bytes": size,
        "rows": shard.index.size,
        "ranges": shard.ranges,
        "centers": centers_digest(shard.index),
    }


@contextlib.contextmanager
def _at_hand(folder: str, name: str) -> Iterator[str]:
    """A path of the file; one of a URL is copied."""
    if not is_url(folder):
        yield os.path.join(folder, name)
        return
    with tempfile.TemporaryDirectory(prefix="annudf-") as place:
        path = os.path.join(place, name)
        files, there = _file_system(folder)
        files.get_file(f"{there}/{name}", path)
        yield path


def read_shard(version: str, folder: str, record: dict[str, Any], metric: str) -> Shard:
    """Reads the file of a shard, and checks it against what the manifest says."""
    check_version(version)
    name = record["file"]
    where = f"{folder}: file '{name}'"
    try:
        with _at_hand(folder, name) as path:
            if (digest := digest_of(path)) != record["sha256"]:
                raise InputError(
                    f"{where} has the SHA-256 {digest}, the manifest says {record['sha256']}; it was changed, so "
                    "restore it, or build the index again"
                )
            index = load(path, metric=metric)
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error}") from None
    if index.size != record["rows"] or centers_digest(index) != record["centers"]:
        raise InputError(f"{where} has {index.size} rows, or other centers than the manifest says")
    return Shard(index, [(first, last) for first, last in record["ranges"]])


def write_manifest(folder: str, described: dict[str, Any], shards: list[dict[str, Any]]) -> None:
    """Writes the manifest, after all files that it names."""
    text = json.dumps({"format": _FORMAT, **described, "shards": shards}, indent=1)
    try:
        if is_url(folder):
            files, there = _file_system(folder)
            files.pipe_file(f"{there}/{MANIFEST}", text.encode())
            return
        path = os.path.join(folder, f".{MANIFEST}-{secrets.token_hex(8)}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path, os.path.join(folder, MANIFEST))
    except OSError as error:
        raise UnavailableError(
            f"{folder}: the client cannot write {MANIFEST}: {error}; give a folder that it and all workers see"
        ) from None


def refuse_full(folder: str) -> None:
    """Raises ArgumentError where the folder has a manifest: others may have its files open."""
    if is_url(folder):
        files, there = _file_system(folder)
        full = files.exists(f"{there}/{MANIFEST}")
    else:
        full = os.path.exists(os.path.join(folder, MANIFEST))
    if full:
        raise ArgumentError(f"folder is {folder!r}, which holds an index; give another, or remove it first")


_FIELDS = {"annudf": str, "metric": str, "n_lists": int, "dim": int, "dtype": str, "columns": dict, "shards": list}
_SHARD_FIELDS = {"file": str, "sha256": str, "rows": int, "ranges": list, "centers": str}


def _wrong_field(found: dict[str, Any]) -> str | None:
    """The first field of a manifest that is missing or has another form."""
    wrong = [name for name, kind in _FIELDS.items() if type(found.get(name)) is not kind]
    if wrong:
        return wrong[0]
    if found["metric"] not in COARSE_OF_METRIC:
        return "metric"
    if found["dtype"] not in VECTORS:
        return "dtype"
    for name, dtype in found["columns"].items():
        if not isinstance(dtype, str) or dtype not in ELEMENT_OF_DTYPE:
            return f"columns.{name}"
    for i, shard in enumerate(found["shards"]):
        if not isinstance(shard, dict):
            return f"shards[{i}]"
        wrong = [name for name, kind in _SHARD_FIELDS.items() if type(shard.get(name)) is not kind]
        if wrong:
            return f"shards[{i}].{wrong[0]}"
        if not shard["ranges"]:
            return f"shards[{i}].ranges"
        for j, one in enumerate(shard["ranges"]):
            if not _is_range(one):
                return f"shards[{i}].ranges[{j}]"
    return None if found["shards"] else "shards"


def _is_range(found: object) -> bool:
    """Whether it is two integers, the second above the first."""
    return isinstance(found, list) and [type(one) for one in found] == [int, int] and 0 <= found[0] < found[1]


def read_manifest(folder: str) -> dict[str, Any]:
    """What the manifest says."""
    try:
        with _at_hand(folder, MANIFEST) as path, open(path, encoding="utf-8") as file:
            found = json.load(file)
    except OSError as error:
        raise InputError(f"{folder}: has no {MANIFEST} that can be read: {error}") from None
    except ValueError as error:
        raise InputError(f"{folder}: {MANIFEST} is damaged: {error}") from None
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise InputError(f"{folder}: {MANIFEST} is not one of {_FORMAT!r}")
    if (wrong := _wrong_field(found)) is not None:
        raise InputError(f"{folder}: {MANIFEST} has no '{wrong}' of the form that it must have")
    for i, one in enumerate(found["shards"]):
        most = sum(last - first for first, last in one["ranges"])
        if not 0 <= one["rows"] <= most:
            raise InputError(
                f"{folder}: {MANIFEST} says that shards[{i}] has {one['rows']} rows, its ranges have {most}"
            )
    if any(os.path.basename(one["file"]) != one["file"] for one in found["shards"]):
        raise InputError(f"{folder}: {MANIFEST} names a file outside the folder")
    if len({one["centers"] for one in found["shards"]}) != 1:
        raise InputError(f"{folder}: {MANIFEST} names shards with different centers; build the index again")
    return found
