# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Part of the annudf project. See LICENSE for license information.
"""Indexes whose rows are spread over the workers of a Dask cluster: :mod:`annudf.dask.ivf_flat`."""

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ModuleNotFoundError as error:
    from annudf.errors import UnavailableError

    raise UnavailableError(
        f"annudf.dask needs dask[array] and distributed, and '{error.name}' is not installed: pip install annudf[dask]"
    ) from None
