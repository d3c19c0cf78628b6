"""A plan read by real Ray, in a process of its own: Ray changes what a process does with the ends of its children.

    python read_on_ray.py ROWS FILE.py:NAME FOLDER RANGE_BYTES

It prints the counts and the manifest, as JSON.
"""

import json
import sys
from pathlib import Path

import msgspec

from affidavit.contracts.frozen_contract import named_contract
from affidavit.reading.part_files.folder import PartsFolder
from affidavit.reading.part_files.plan import ColumnsRead, RangeSizes, planned
from affidavit.reading.part_files.run import PartsRead, read_parts


def main(rows: str, own: str, folder: str, size: str) -> None:
    columns = ColumnsRead("raw_output", "answer", lenses=False)
    plan = planned([Path(rows)], named_contract(own), columns, RangeSizes(int(size), 90))
    parts = PartsFolder(Path(folder))
    counts = read_parts(plan, parts, how=PartsRead(own_file=own, workers=2, engine="ray")).tally.counts()
    manifest = msgspec.to_builtins(parts.finished(plan))
    sys.stdout.write(f"\n{json.dumps({'counts': counts, 'manifest': manifest})}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
