"""The same tasks on a Dask cluster."""
