"""Where points come from: arrays, data-frames, files and clusters, read in one way.

`lorenyi.data.parquet` opens Parquet files; all else is given to the measures as it is.
"""

from lorenyi.data.parquet import parquet
from lorenyi.data.reading import Data, read
from lorenyi.data.sources import ArraySource, Source

__all__ = ["ArraySource", "Data", "Source", "parquet", "read"]
