"""A Parquet file that is written while the next columns are made."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import Full, Queue

import polars as pl
from polars.io.plugins import register_io_source

from affidavit.archive.copy_parts import ROW_GROUP


class ParquetFile:
    """A file of columns that a thread writes while the next are made."""

    def __init__(self, path: Path, schema: dict[str, pl.DataType]) -> None:
        self.path = path
        self._schema = schema
        self._frames: Queue[pl.DataFrame | None] = Queue(1)
        self._thread = ThreadPoolExecutor(1)
        self._written: Future[None] = self._thread.submit(self._write)

    def _write(self) -> None:
        columns = register_io_source(lambda *_: self._next_frames(), schema=self._schema)
        columns.sink_parquet(self.path, compression="lz4", statistics=False, row_group_size=ROW_GROUP)

    def _next_frames(self) -> Iterator[pl.DataFrame]:
        while (frame := self._frames.get()) is not None:
            yield frame

    def takes(self, frame: pl.DataFrame | None) -> bool:
        """Have a frame written next, None being the end; False if nothing is written any more."""
        while not self._written.done():
            with suppress(Full):
                self._frames.put(frame, timeout=0.1)
                return True
        return False

    def ended(self) -> bool:
        """Whether everything is written, and well."""
        return self.takes(None) and self._written.exception() is None

    def drop(self) -> None:
        """Let go of the thread, and take away what was written."""
        self.takes(None)
        self._thread.shutdown(wait=True)
        self.path.unlink(missing_ok=True)
