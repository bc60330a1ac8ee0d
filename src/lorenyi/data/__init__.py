"""Sources of points: arrays, data-frames, files and clusters, read in one way.

`lorenyi.data.parquet` opens Parquet files; other data is passed to the measures directly.
"""

from lorenyi.data.parquet import parquet
from lorenyi.data.reading import Data, read
from lorenyi.data.sources import ArraySource, Source

__all__ = ["ArraySource", "Data", "Source", "parquet", "read"]
