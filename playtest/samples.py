"""The suite of samples that shows that contracts accept and refuse what they should.

`<root>/<contract>/valid/*.json` must be accepted. `<root>/<contract>/invalid/*.json` must be stopped, by the one rule
that the sample names, and by no other: a sample that is wrong in two ways shows nothing about either.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from playtest.contracts import Rules, contract_rules
from playtest.documents import read_document
from playtest.errors import UsageError
from playtest.protocol.validation import ContractReport, SampleReport, SuiteReport, Violation

ROOT = Path("contracts/samples")
REPRODUCES, STOPPED_BY = "_reproduces", "_stoppedBy"
"""An invalid sample's notes: the failure it shows, and the rule that stops it, `$.items[0]: required phaseNow`."""


def run_suite(root: Path) -> SuiteReport:
    """Every sample below `root`. Raises UsageError where there are none, or for a contract that isn't known."""
    folders = sorted(folder for folder in root.iterdir() if folder.is_dir()) if root.is_dir() else []
    if not folders:
        raise UsageError(f"there are no samples in {root}", "give the folder that holds them with --samples")
    reports = tuple(_contract(contract_rules(folder.name), folder) for folder in folders)
    return SuiteReport(ok=all(sample.ok for report in reports for sample in report.samples), contracts=reports)


def _contract(rules: Rules, folder: Path) -> ContractReport:
    samples = [*_samples(rules, folder, "valid"), *_samples(rules, folder, "invalid")]
    valid = [sample.ok for sample in samples if sample.expected == "valid" and sample.file.endswith(".json")]
    invalid = [sample.ok for sample in samples if sample.expected == "invalid" and sample.file.endswith(".json")]
    return ContractReport(
        contract=rules.name,
        valid=len(valid),
        accepted=sum(valid),
        invalid=len(invalid),
        stopped=sum(invalid),
        samples=tuple(samples),
    )


def _samples(rules: Rules, folder: Path, expected: Literal["valid", "invalid"]) -> Iterator[SampleReport]:
    files = sorted((folder / expected).glob("*.json"))
    if not files:
        problem = "has no sample: nothing shows that the contract can tell right from wrong"
        yield SampleReport(file=str(folder / expected), expected=expected, ok=False, problem=problem)
    for file in files:
        yield _sample(rules, file, expected)


def _sample(rules: Rules, file: Path, expected: Literal["valid", "invalid"]) -> SampleReport:
    try:
        document = read_document(file)
    except UsageError as error:
        return SampleReport(file=str(file), expected=expected, ok=False, problem=error.message)
    notes = document if isinstance(document, dict) else {}
    reproduces, stopped_by = _text(notes.get(REPRODUCES)), _text(notes.get(STOPPED_BY))
    found = rules.violations(document)
    if expected == "valid":
        problem = f"is refused: {_listed(found)}" if found else None
        return SampleReport(file=str(file), expected=expected, ok=not found, problem=problem, violations=found)
    problem = _not_as_said(reproduces, stopped_by, found)
    return SampleReport(
        file=str(file),
        expected=expected,
        ok=problem is None,
        reproduces=reproduces,
        stopped_by=stopped_by,
        problem=problem,
        violations=found,
    )


def _not_as_said(reproduces: str | None, stopped_by: str | None, found: tuple[Violation, ...]) -> str | None:
    if reproduces is None or stopped_by is None:
        return f"must say in {REPRODUCES} which real failure it shows, and in {STOPPED_BY} which rule must stop it"
    if not found:
        return f"passes, and should be stopped by {stopped_by}"
    if {str(violation) for violation in found} != {stopped_by}:
        return f"is stopped by {_listed(found)}, and should be by {stopped_by} alone"
    return None


def _listed(found: tuple[Violation, ...]) -> str:
    return " and ".join(str(violation) for violation in found)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
