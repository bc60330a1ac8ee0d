"""Output of a result: standard output, and an HTML page."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lorenyi.cli import Refused, show
from lorenyi.cli.options import Common
from lorenyi.cli.tables import Read
from lorenyi.report import Finding


@dataclass(frozen=True)
class Output:
    """Destinations of the output."""

    json: bool
    csv: bool
    report: Path | None
    quiet: bool

    @classmethod
    def of(cls, asked: Common) -> Output:
        """Return the destinations that a command asks for."""
        return cls(asked.as_json, asked.as_csv, asked.report_file, asked.quiet)

    def __post_init__(self) -> None:
        if self.json and self.csv:
            raise Refused("--json and --csv: choose one")
        if self.report is None:
            return
        folder = self.report.absolute().parent
        if not folder.is_dir():
            raise Refused(f"--report {self.report}: the folder {folder} does not exist")
        if self.report.is_dir():
            raise Refused(f"--report {self.report}: is a folder; give a file name")
        effective = os.access in os.supports_effective_ids
        if not os.access(folder, os.W_OK, effective_ids=effective):
            raise Refused(f"--report {self.report}: no permission to write in {folder}")


@dataclass(frozen=True)
class Job:
    """A result and its destinations."""

    finding: Finding
    output: Output

    def deliver(self) -> None:
        """Write the page, then the result."""
        to = self.output
        if to.report is not None:
            with show.progress("making the report", to.quiet):
                try:
                    self.finding.save(to.report)
                except OSError as error:
                    raise Refused(f"--report {to.report}: {error.strerror}") from None
        form = show.as_json if to.json else show.as_csv if to.csv else show.as_text
        sys.stdout.write(form(self.finding))
        sys.stdout.flush()
        if to.report is not None:
            show.notes([f"the report is in {to.report}"], to.quiet)


def job(finding: Finding, table: Read, output: Output, reread: str, columns: bool = True) -> Job:
    """Add the table's columns, notes and reading code to a result."""
    finding.notes = table.notes
    finding.columns = table.described() if columns else None
    finding.settings = {"table": table.name, **finding.settings}
    imports, _, rest = reread.partition("\n\n")
    own, _, lines = finding.python.partition("\n\n")
    finding.python = f"{imports}\n{own}\n\n{rest}\n{lines}"
    return Job(finding, output)


def named_steps(step: show.Step, names: Sequence[str]) -> show.Step:
    """Return a progress callback that replaces column numbers by names."""

    def shown(message: str, share: float | None) -> None:
        step(re.sub(r"feature (\d+)", lambda found: names[int(found[1])], message), share)

    return shown
