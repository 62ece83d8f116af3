"""CSV with a header that names the columns id and prediction; others are left aside."""

import csv
from collections.abc import Iterator
from typing import BinaryIO

from symshift.metrics.record import Problems, Reader, Reading, Record, readable_lines, record_of


def _records(stream: BinaryIO, problems: Problems, reading: Reading) -> Iterator[Record]:
    lines = (line.text + "\n" for line in readable_lines(stream, problems))
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, [])
        if not {"id", "prediction"} <= set(header) or len(set(header)) < len(header):
            problems.add(1, f"expected the columns id and prediction, found {header!r:.80}")
            return
        places = header.index("id"), header.index("prediction")
        for cells in reader:
            if len(cells) == len(header):
                yield record_of(reader.line_num, cells[places[0]], cells[places[1]])
            elif cells:
                problems.add(reader.line_num, f"{len(cells)} cells, the header has {len(header)}")
    except csv.Error as error:
        problems.add(reader.line_num, str(error))


READER = Reader(read=_records, suffixes=(".csv",))
