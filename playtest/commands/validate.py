"""`playtest validate`: documents against a contract or any JSON Schema, and the contracts against their samples."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from playtest.commands.arguments import Commands, add_json
from playtest.contracts import Rules, contract_rules, schema_rules
from playtest.documents import read_document
from playtest.errors import UsageError
from playtest.files import dump_json
from playtest.protocol.exit_codes import ExitCode
from playtest.protocol.validation import FileReport, SuiteReport, ValidationReport
from playtest.samples import ROOT, run_suite
from playtest.texts import sanitize


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("validate", help="hold documents against a contract, or contracts against samples")
    parser.add_argument("schema", nargs="?", metavar="SCHEMA", help="play-spec, verdict-feedback, playtest-1 or a file")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="JSON documents")
    parser.add_argument("--suite", action="store_true", help="check that each sample is accepted or stopped as it says")
    parser.add_argument("--samples", type=Path, metavar="DIR", help=f"the suite's samples; default {ROOT}")
    add_json(parser)
    parser.set_defaults(command=_from_options)


def _from_options(options: argparse.Namespace) -> int:
    if options.suite:
        if options.schema is not None:
            raise UsageError("--suite takes its documents from its folder", "give no SCHEMA and FILE with it")
        return suite(options.samples or ROOT, as_json=options.json)
    if options.samples is not None or options.schema is None or not options.files:
        raise UsageError("a schema and documents are needed", "playtest validate SCHEMA FILE..., or --suite")
    return validate(options.schema, options.files, as_json=options.json)


def validate(schema: str, files: list[Path], *, as_json: bool) -> int:
    """0 where all files are valid, else 1. Raises UsageError when the schema or a file can't be read."""
    rules = rules_of(schema)
    documents = [(file, read_document(file)) for file in files]
    found = [(file, rules.violations(document)) for file, document in documents]
    report = ValidationReport(
        ok=not any(violations for _, violations in found),
        contract=rules.name,
        files=tuple(
            FileReport(file=str(file), valid=not violations, violations=violations) for file, violations in found
        ),
    )
    if as_json:
        sys.stdout.write(dump_json(report.to_json(), indent=2) + "\n")
    else:
        for one in report.files:
            sys.stdout.write(f"{'valid  ' if one.valid else 'INVALID'} {sanitize(one.file, 1000)}\n")
            for violation in one.violations:
                sys.stdout.write(f"  {sanitize(violation.at, 300)}: {violation.message}\n")
    return ExitCode.PASS if report.ok else ExitCode.FAIL


def rules_of(schema: str) -> Rules:
    """The rules named by a contract's name, or by a file that holds a JSON Schema."""
    path = Path(schema)
    if path.name != schema or path.is_file():
        return schema_rules(sanitize(schema, 300), read_document(path))
    return contract_rules(schema)


def suite(root: Path, *, as_json: bool) -> int:
    """0 where each sample is accepted or stopped as it must be, else 1. Raises UsageError when there are none."""
    report = run_suite(root)
    if as_json:
        sys.stdout.write(dump_json(report.to_json(), indent=2) + "\n")
    else:
        sys.stdout.write(_counts(report))
    return ExitCode.PASS if report.ok else ExitCode.FAIL


def _counts(report: SuiteReport) -> str:
    lines = []
    width = max(len(one.contract) for one in report.contracts)
    for one in report.contracts:
        counts = f"{one.accepted} of {one.valid} valid accepted, {one.stopped} of {one.invalid} invalid stopped"
        lines.append(f"{one.contract:{width}}  {counts}")
        lines += [
            f"  FAIL {sanitize(sample.file, 1000)} {sanitize(sample.problem or '', 1000)}"
            for sample in one.samples
            if not sample.ok
        ]
    samples = [sample for one in report.contracts for sample in one.samples]
    lines.append(f"{'total':{width}}  {sum(sample.ok for sample in samples)} of {len(samples)} samples as they must be")
    return "".join(f"{line}\n" for line in lines)
