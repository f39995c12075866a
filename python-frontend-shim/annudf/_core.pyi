# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. Written by scripts/stubs from python-frontend-shim/src; do not edit.
"""
Compiler and runtime of annudf. The package annudf is the interface to use.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray

import annudf.errors
from annudf.errors import Diagnostic as Diagnostic


MAX_CAPTURES: int = 64

MAX_TRIP_COUNT: int = 4096

MAX_UNROLLED_OPS: int = 4096

MAX_MODULE_OPS: int = 65536

MAX_DIMS: int = 1048576

MAX_EXTENTS: int = 8

MAX_NAME: int = 255

MAX_K: int = 1073741824

MAX_FIELDS: int = 6

MAX_SCRATCH: int = 65536

MAX_SCRATCH_DIM: int = 64

DEFAULT_N_LISTS: int = 1024

DEFAULT_KMEANS_N_ITERS: int = 20

DEFAULT_KMEANS_TRAINSET_FRACTION: float = 0.5

DEFAULT_SEED: int = 1

DEFAULT_N_PROBES: int = 20

DEFAULT_K: int = 10

DEFAULT_RECALL: float = 0.95

DEFAULT_MAX_RESULTS: int = 100000000

DEFAULT_NAN_SHARE: float = 0.001

DEFAULT_CACHE_BYTES: int = 268435456

MAX_LISTS: int = 16777216

MAX_RESULTS: int = 1099511627776

MAX_KMEANS_N_ITERS: int = 10000

MAX_THREADS: int = 1024

MAX_FILTER_IDS: int = 34359738368

MAX_SOURCE_BYTES: int = 16777216

class Artifact:
    """A compiled metric. It never changes once made."""

    @staticmethod
    def from_bytes(data: bytes, origin: str) -> Artifact:
        """Reads the bytes of a file; messages call it `origin`."""

    @staticmethod
    def load(path: str | bytes) -> Artifact:
        """Reads a file."""

    def to_bytes(self) -> bytes:
        """The bytes that `save` writes."""

    def saving(self, path: str | bytes) -> Work:
        """Writes the file, whole or not at all."""

    def save(self, path: str | bytes) -> None:
        """Writes the file, whole or not at all."""

    def __repr__(self) -> str: ...

    def describe(self, origin: str) -> str:
        """The manifest for people, as `annudf inspect`."""

    def ltoir(self, arch: str) -> bytes:
        """The LTO-IR that a device of `arch` ("sm_90") would link."""

    @property
    def digest(self) -> str:
        """SHA-256 of its bytes in hexadecimal."""

    @property
    def name(self) -> str:
        """Name of the metric."""

    @property
    def manifest(self) -> str:
        """The manifest as JSON, as `annudf inspect --json`."""

    @property
    def archs(self) -> list[str]:
        """Architectures that it holds LTO-IR for: ["sm_90", ...]."""

    @property
    def has_host_code(self) -> bool:
        """Whether it holds code for CPUs."""

    @property
    def sees_query(self) -> bool:
        """Whether it is a filter whose rows may differ between queries."""

    @property
    def is_verified(self) -> bool:
        """
        Whether its manifest says that the metric was verified; CUDA source is not.
        """

    @property
    def verified(self) -> tuple[int, str] | None:
        """
        (edition of the rules, version of annudf) that it was verified by, or None.
        """

def tables() -> dict[str, list[tuple[str, str, int, int, str, str, int]]]:
    """
    The tables of the ABI by name: rows of (name, spelling, value, bits, kind, detail, since); since is -1 where a row is reserved for a later version.
    """

def compile(source: str, origin: str, *, archs: Sequence[str] | None = None, lto_ir: bool = True, host_bitcode: bool = True, metric_name: str = '', inline_captures: str = '', import_frontend: bool = False, device_backend: str = '') -> tuple[Artifact, list[annudf.errors.Diagnostic]]:
    """
    Compiles text of the dialect. `archs` None: all that are supported if there is a libNVVM, else none with a warning.
    """

def lower(source: str, origin: str, target: str, *, arch: str = '', metric_name: str = '', inline_captures: str = '', import_frontend: bool = False, device_backend: str = '') -> bytes:
    """
    Verifies text of the dialect and stops at `target`: "mlir", "nvvm-ir", "ptx", "ltoir", "device-bitcode", "host-bitcode", "functions" or "properties" (JSON).
    """

def compile_cuda_source(source: str, origin: str, *, archs: Sequence[str] | None = None, name: str = '', order: str = 'min', coarse: str = 'l2', coarse_order: str | None = None, elements: Sequence[str] = [], accumulator: str = 'f32', compute_type: str | None = None, initial: float = 0.0, captures: Sequence[tuple[str, str, Sequence[str]]] = [], missing_values: bool = False) -> tuple[Artifact, list[annudf.errors.Diagnostic]]:
    """
    Compiles CUDA C++ with NVRTC. A capture is its name, its element type and its extents: "dim" for one entry a dimension, none for a scalar.
    """

def builtin_metrics() -> list[str]:
    """Names of the metrics that annudf has by itself."""

def builtin_metric(name: str) -> str:
    """Text of one of them."""

def supported_archs() -> list[int]:
    """Architectures that LTO-IR can be made for: 90 for sm_90, oldest first."""

def device_udf_check(udf: tuple[str, str, bytes, str, Sequence[tuple[str, str, Sequence[int], Sequence[int] | None, int, int, bool]], str, str]) -> None:
    """Refuses what can be no descriptor."""

def device_udf_cache_key(udf: tuple[str, str, bytes, str, Sequence[tuple[str, str, Sequence[int], Sequence[int] | None, int, int, bool]], str, str], options: Sequence[str] = []) -> str:
    """A key that leaves out where captures lie."""

def device_udf_from_artifact(artifact: Artifact, arch: str, symbol: str = '', inline_captures: str = '', captures: Sequence[tuple[str, str, Sequence[int], Sequence[int] | None, int, int, bool]] = [], dims: int = 0) -> tuple[bytes, str, str, str]:
    """Payload, symbol, cache key and target of a metric as a device UDF."""

def device_udf_to_artifact(udf: tuple[str, str, bytes, str, Sequence[tuple[str, str, Sequence[int], Sequence[int] | None, int, int, bool]], str, str], name: str = '', archs: Sequence[str] = []) -> tuple[Artifact, list[annudf.errors.Diagnostic]]:
    """An artifact that searches by the code of a descriptor."""

class Filter:
    """
    A bit for every id, set where a search may find the row; or code and bits that say so for each query.
    """

    @staticmethod
    def from_bitset(words: int, bits: int) -> Filter:
        """
        Copies uint32 words at a host address; id 0 is the lowest bit of the first.
        """

    @staticmethod
    def from_bytes(bytes: int, count: int) -> Filter:
        """From bytes at a host address, one an id."""

    @staticmethod
    def from_bitmap(words: int, queries: int, bits: int) -> Filter:
        """
        Copies uint32 words at a host address; query q has the bits from q * bits on.
        """

    def both(self, other: Filter) -> Filter:
        """Rows that pass this and the other."""

    def either(self, other: Filter) -> Filter:
        """Rows that pass this or the other."""

    def inverted(self) -> Filter:
        """Rows that do not pass this."""

    @property
    def bits(self) -> int:
        """Ids that its bits say something of; 0 if it is code alone."""

    @property
    def count(self) -> int:
        """How many of them pass; -1 if each query has its own."""

class Work:
    """What cannot be undone, and has not been done yet."""

    @property
    def result(self) -> Any:
        """
        Reading it does the work. Between its end and the return of the function that reads it, `return work.result`, Python looks for no signal: Ctrl-C either raises and nothing is done, or waits until the function has returned.
        """

class BuildOptions:
    """The options of a build, without its rows."""

    def __init__(self, *, n_lists: int, metric: str, kmeans_n_iters: int, kmeans_trainset_fraction: float, seed: int, threads: int, adaptive_centers: bool = False, train_only: bool = False, missing_values: bool = False, device_memory_limit: int = 0) -> None:
        """
        `device_memory_limit` is of Backend.build_index at a host address; 0: what is free there.
        """

class Index:
    """An IVF-Flat index."""

    @staticmethod
    def build(address: int, rows: int, dims: int, element: str, options: BuildOptions, progress: Callable[[str, float], None] | None = None) -> Index:
        """
        Trains the centers on the C-contiguous matrix at `address` and adds its rows unless `train_only`. An exception of `progress` stops the work.
        """

    @staticmethod
    def of_rows(address: int, rows: int, dims: int, element: str, ids_address: int | None = None, missing_values: bool = False, threads: int = 0, progress: Callable[[str, float], None] | None = None, owner: object | None = None) -> Index:
        """
        All rows of the C-contiguous matrix at `address` in one list, without k-means. With the `owner` of the matrix it is not copied: a search on the CPU stores a piece of it at a time.
        """

    def extending(self, address: int, rows: int, dims: int, element: str, ids_address: int | None = None, progress: Callable[[str, float], None] | None = None, result: object | None = None, allow_repeated_ids: bool = False, columns: Mapping[str, tuple[str, Sequence[int], bytes, str]] | None = None) -> Work:
        """
        Adds rows, with a value of each column for each; without ids they go on from `row_extent`. `result` is what the work gives.
        """

    def removing(self, ids_address: int, count: int, progress: Callable[[str, float], None] | None = None) -> Work:
        """Removes the rows with these ids; the work gives how many went."""

    def saving(self, path: str | bytes, progress: Callable[[str, float], None] | None = None) -> Work:
        """Writes one file, whole or not at all."""

    @staticmethod
    def load(path: str | bytes, mmap: bool = False) -> Index:
        """Reads a file."""

    def centers(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
        """A copy of the centers, float32, n_lists x dims."""

    def ids(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The id of each row, int64, list by list."""

    @property
    def element(self) -> str:
        """Element type of the rows: "f32", "f16", "i8", "u8", "bf16" or "bits"."""

    @property
    def dims(self) -> int:
        """Dimensions of a row."""

    @property
    def size(self) -> int:
        """Number of rows."""

    @property
    def row_extent(self) -> int:
        """One more than the largest id."""

    @property
    def n_lists(self) -> int:
        """Number of lists."""

    @property
    def metric(self) -> str:
        """What k-means clustered by: "l2", "inner_product" or "cosine"."""

    @property
    def adaptive_centers(self) -> bool:
        """Whether every extend and remove moves the centers."""

    @property
    def missing_values(self) -> bool:
        """Whether coordinates may be NaN."""

    @property
    def device(self) -> int:
        """
        The CUDA device that built it and has its lists; -1: the host has them.
        """

    @property
    def generation(self) -> int:
        """
        Another number after every build, load and extend, and every remove of a row, in this process.
        """

class Captures:
    """Values of a metric's captures, checked."""

    @staticmethod
    def bind(artifact: Artifact, dims: int, values: Mapping[str, tuple[str, Sequence[int], bytes | tuple[int, int, int, object], str]], allow_non_finite: bool = False, rows: int = 0, queries: int = 0) -> Captures:
        """
        Binds a value (element type, shape, bytes in C order, origin for messages) to each capture. In place of bytes: address, size, device and owner of an array on a device, which is used where it is.
        """

def add_columns(index: Index, ids_address: int | None, columns: Mapping[str, tuple[str, Sequence[int], bytes, str]]) -> None:
    """
    Adds columns to an index, of as many values as it has rows; value i is for id i, or for the i-th of the ids.
    """

def columns_of(index: Index) -> list[tuple[str, str]]:
    """Names and dtypes of an index's columns."""

def bind_index(artifact: Artifact, index: Index, values: Mapping[str, tuple[str, Sequence[int], bytes | tuple[int, int, int, object], str]], allow_non_finite: bool = False, queries: int = 0) -> Captures:
    """
    As Captures.bind; captures of rows without a value read the index's columns, in the order of its rows where the metric's row is nothing but their index.
    """

class SearchStats:
    """What a call cost, in milliseconds."""

    @property
    def link_ms(self) -> float:
        """
        Making the kernels of metric and element type, or reading them from disk; 0 when they are in memory.
        """

    @property
    def links(self) -> int:
        """Kernels made by this call."""

    @property
    def disk_hits(self) -> int:
        """Kernels for a GPU that this call found made, in the cache on disk."""

    @property
    def cache_fault(self) -> str:
        """Why that cache was no use; empty where it was, or is switched off."""

    @property
    def upload_ms(self) -> float:
        """Copying the index to the device; 0 when it is there."""

    @property
    def search_ms(self) -> float:
        """The search itself; 0 where it was only enqueued."""

    @property
    def family(self) -> str:
        """
        The kernels that ran it: "groups", "parts", "pairs", "tiles", "staged", "staged_granules", "packed", "packed_granules", "matrix" or "matrix_mma".
        """

    @property
    def why(self) -> str:
        """Why these kernels."""

    @property
    def rows_per_query(self) -> float:
        """Rows in the lists that a query probed, the mean; 0 unless time_stages."""

    @property
    def evaluated_per_query(self) -> float:
        """
        Those of them that the metric's own code computed, the mean; 0 unless time_stages.
        """

    @property
    def stages(self) -> list[tuple[str, float]]:
        """
        Name and milliseconds of each stage, in order; none unless time_stages.
        """

    @property
    def workspace_bytes(self) -> int:
        """Device memory that the workspace of the search holds; 0 on a CPU."""

    @property
    def passing_share(self) -> float:
        """The share of rows that the filter lets pass, by its bits."""

    @property
    def slow(self) -> str:
        """
        The operations of the metric that a CPU computes one row at a time; empty if there is none.
        """

    @property
    def scored(self) -> int:
        """
        Pairs of a query and a row of its lists that the filter lets pass; on a GPU an estimate unless all lists are probed.
        """

    @property
    def nan_distances(self) -> int:
        """
        Those of them whose distance was NaN; of a search that was only enqueued those of earlier ones with the metric.
        """

    @property
    def nan_query(self) -> int:
        """
        Number of a query whose distance to `nan_row` was NaN; -1 where there is none.
        """

    @property
    def nan_row(self) -> int:
        """Id of that row."""

    @property
    def widened(self) -> int:
        """Queries that searched more lists than asked for."""

class Explanation:
    """The accumulator of a query and a row."""

    @property
    def fields(self) -> int:
        """How many fields the accumulator has."""

    def field(self, field: int) -> list[float]:
        """Its values after init and after each dimension; ints where it is one."""

    @property
    def distance(self) -> float:
        """What finalize makes of the last."""

    @property
    def first_nan(self) -> int:
        """
        The first dimension after which a field is NaN; -1: init, the number of dimensions: none.
        """

def explain(artifact: Artifact, captures: Captures, query: int, query_element: str, row: int, row_element: str, dims: int, query_number: int = 0, row_id: int = 0, list: int = 0) -> Explanation:
    """
    Runs the metric of a query and a row at host addresses, dimension by dimension.
    """

def nan_example(index: Index, artifact: Artifact, captures: Captures, queries: int, rows: int, dims: int, element: str, stats: SearchStats) -> str:
    """
    Words for the pair that `stats` name, and where it turns NaN; queries are those of the search, at a host address.
    """

class DeviceBuffer:
    """Device memory, freed when the work enqueued before is done."""

    @property
    def address(self) -> int:
        """Device address."""

    @property
    def size(self) -> int:
        """Bytes."""

class Event:
    """A point in a stream's work."""

    def done(self) -> bool:
        """Whether the work before it is done."""

    def wait(self) -> None:
        """Waits until it is done."""

class SecondPhase:
    """A metric that ranks what a search finds, for one search at a time."""

    def __init__(self, artifact: Artifact, captures: Captures, ratio: float) -> None: ...

    @property
    def stats(self) -> SearchStats:
        """What it cost the last search."""

class Prepared:
    """A search that was checked once."""

    def run(self, queries: int, ids: int, distances: int, told: bool = False) -> SearchStats | None:
        """
        Searches with queries and results at addresses of the backend's memory; on a GPU it is enqueued, and the memory must live until the stream has got there. On a CPU what it cost, if `told` or where a distance is NaN.
        """

    def stats(self) -> SearchStats:
        """Pairs of a GPU's runs that are done since it was last asked."""

class Backend:
    """Searches on the CPU or on GPUs; keeps compiled kernels."""

    def build_index(self, stream: int | None, address: int, rows: int, dims: int, element: str, options: BuildOptions, progress: Callable[[str, float], None] | None = None) -> tuple[Index, tuple[float, float, float, int, bool]]:
        """
        As Index.build, on the device, of a matrix at a device address that is written on `stream`, or, where it is None, at a host address. With it come milliseconds of training, adding, copying, the pieces in which a host's matrix went there, and whether the lists are there.
        """

    def store_rows(self, stream: int | None, address: int, rows: int, dims: int, element: str, ids_address: int | None = None, missing_values: bool = False, threads: int = 0, progress: Callable[[str, float], None] | None = None) -> tuple[Index, tuple[float, float, float, int, bool]]:
        """
        As Index.of_rows, on the device, of rows at a device address that are written on `stream`, or, where it is None, at a host address. With it comes what it cost, as of build_index.
        """

    def extending(self, index: Index, stream: int | None, address: int, rows: int, dims: int, element: str, ids_address: int | None = None, progress: Callable[[str, float], None] | None = None, result: object | None = None, allow_repeated_ids: bool = False, columns: Mapping[str, tuple[str, Sequence[int], bytes, str]] | None = None) -> Work:
        """
        As Index.extending, on the device, of rows at a device address that are written on `stream`, or, where it is None, at a host address.
        """

    def removing(self, index: Index, ids_address: int, count: int, progress: Callable[[str, float], None] | None = None) -> Work:
        """As Index.removing, on the device."""

    def refine(self, artifact: Artifact, captures: Captures, dataset: tuple[int, int, int, str, int | None] | Index, queries: tuple[int, int, int, str, int | None], candidates: tuple[int, int, int | None], k: int, ids: int, distances: int, filter: Filter | None = None, time_stages: bool = False, count_pairs: bool = True, tell_why: bool = True) -> SearchStats:
        """
        The k best of each query's candidates. A matrix is an address, rows, dims, element type and stream, which is None for host memory; candidates are an address of int64 row numbers, or of ids where `dataset` is an index, columns and stream. Results go where the queries are.
        """

    @staticmethod
    def cpu(threads: int = 0) -> Backend:
        """Searches on the host; 0 threads: all cores."""

    @staticmethod
    def cuda(device: int = 0) -> Backend:
        """Searches on a GPU, in its primary context."""

    @staticmethod
    def multi_device(devices: Sequence[int], sharded: bool) -> Backend:
        """Searches on several GPUs."""

    def describe(self) -> str:
        """Processor and threads, or device and architecture."""

    @property
    def device(self) -> int:
        """The CUDA device, the first of several, or -1 for the CPU."""

    @property
    def arch(self) -> int:
        """Architecture of the CUDA device, 90 for sm_90; 0 for the CPU."""

    def search(self, index: Index, artifact: Artifact, captures: Captures, queries: int, rows: int, dims: int, element: str, k: int, n_probes: int, ids: int, distances: int, stream: int | None = None, filter: Filter | None = None, family: str = '', time_stages: bool = False, count_pairs: bool = True, tell_why: bool = True, goal: tuple[int, int, int, int, str] | None = None, refine: SecondPhase | None = None, lists: int = 0) -> SearchStats:
        """
        Searches with queries and results at host addresses. With a stream they are at device addresses and the search is enqueued there: the memory must live until the stream has got there. With `time_stages` it waits. Without `tell_why` the statistics have no words for `family` and `why`. A goal is max_probes, min_rows, address and length of the groups of all ids, and the column that has them instead. `lists` is the host address of those to probe, of rank_lists().
        """

    def radius_search(self, index: Index, artifact: Artifact, captures: Captures, queries: int, rows: int, dims: int, element: str, radius: float, n_probes: int, max_results: int, filter: Filter | None = None, family: str = "", time_stages: bool = False, lists: int = 0) -> tuple[bytearray, bytearray, bytearray, SearchStats]:
        """
        All within a radius of queries at a host address: where those of each query begin (int64, one more than there are queries), ids (int64) and distances (float32); and what it cost.
        """

    def rank_lists(self, index: Index, artifact: Artifact, queries: int, rows: int, dims: int, element: str, n_probes: int, lists: int) -> None:
        """
        Writes the lists that a search probes for each query, rows x n_probes of uint32, the best first; at host addresses.
        """

    def filter(self, index: Index, artifact: Artifact, captures: Captures, bits: int) -> Filter:
        """The rows that the filter, an artifact of annudf.filter, keeps."""

    def prepare(self, index: Index, artifact: Artifact, captures: Captures, rows: int, dims: int, element: str, k: int, n_probes: int, stream: int | None = None, filter: Filter | None = None, family: str = '', count_pairs: bool = True) -> tuple[Prepared, SearchStats]:
        """
        Checks and makes what searches with so many queries need, enqueued on `stream`; a CPU has none.
        """

    def distances(self, index: Index, artifact: Artifact, captures: Captures, queries: int, rows: int, dims: int, element: str, distances: int, stream: int | None = None) -> SearchStats:
        """
        Every distance, rows x index.size, at a host address; ids are those of a build. With a stream queries and distances are at device addresses, and it is enqueued there.
        """

    def distance(self, artifact: Artifact, captures: Captures, dims: int, x: int, element_of_x: str, y: int, element_of_y: str) -> float:
        """The distance of a vector at a host address to another."""

    def precompile(self, artifact: Artifact, element: str) -> SearchStats:
        """
        Makes the kernel of metric and element type, so that no search waits for it.
        """

    def allocate(self, size: int, stream: int) -> DeviceBuffer:
        """Device memory that may be used on `stream` from now on."""

    def copy(self, dst: int, src: int, size: int, stream: int) -> None:
        """Enqueues a copy between any two of host and device memory."""

    def merge_parts(self, distances: int, ids: int, out_distances: int, out_ids: int, parts: int, queries: int, found: int, translations: Sequence[int], largest_is_best: bool, k: int, stream: int) -> None:
        """Enqueues annudf._core.merge_parts on `stream`, at device addresses."""

    def synchronize(self, stream: int) -> None:
        """Waits for all work enqueued on `stream`."""

    def record(self, stream: int) -> Event:
        """All work enqueued on `stream` until now."""

def check_k(k: int, rows: int) -> None:
    """ArgumentError unless a search of so many rows may ask for k of them."""

def precompile_for(artifact: Artifact, element: str, arch: int) -> SearchStats:
    """
    Leaves the kernels for GPUs of an architecture, 90 for sm_90, in the cache on disk.
    """

def describe_environment() -> dict[str, str | bool | list[str]]:
    """
    What this build and this machine offer. `X_found` false: `X` says why not.
    """

def merge_parts(distances: int, ids: int, out_distances: int, out_ids: int, parts: int, queries: int, found: int, translations: Sequence[int], largest_is_best: bool, k: int, threads: int = 0) -> None:
    """
    The k best of `parts` x `queries` x `found` results, at host addresses.
    """

class ArrayView:
    """An array of another library, kept alive."""

    @property
    def address(self) -> int:
        """Address of the first element."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps in bytes."""

    @property
    def dtype(self) -> str:
        """"f32", "f16", "i8", "u8", "i64", "b1", ..."""

    @property
    def device_type(self) -> str:
        """"cpu", "cuda", "cuda_host", "cuda_managed" or "dlpackN"."""

    @property
    def device_id(self) -> int:
        """Which of the devices of that type."""

    @property
    def read_only(self) -> bool:
        """Whether the producer forbids to write; only versioned DLPack tells."""

def from_dlpack(obj: object, stream: int | None = None) -> ArrayView:
    """
    Opens an array. `stream`: where it will be used; the producer makes its work visible there.
    """

def to_dlpack(owner: object, address: int, shape: Sequence[int], dtype: str, device_type: str, device_id: int) -> Any:
    """
    An object with __dlpack__ and __dlpack_device__ over a C-contiguous array that `owner` keeps alive.
    """

__version__: str
