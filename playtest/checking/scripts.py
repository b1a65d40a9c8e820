"""What a script says: what it calls and by which names, the files it names, and where in it a text stands.

Parsed with tree-sitter's grammars, which know templates, regular expressions and TypeScript, and go on after a mistake.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

import tree_sitter_javascript
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Query, QueryCursor

Grammar: TypeAlias = Literal["js", "ts", "tsx"]
Where: TypeAlias = Literal["code", "string", "comment"]
ANY = "?"
"""What stands in a name for a value that has none: `?.play` of `(a || b).play`."""
_MOST_ALIASES = 4
_QUERY = """
(call_expression function: (_) @called)
(new_expression constructor: (_) @called)
(arguments [(member_expression) (subscript_expression)] @called)
(variable_declarator name: (_) @name value: (_) @value)
(assignment_expression left: (_) @name right: (_) @value)
(import_specifier name: (_) @value alias: (_) @name)
(string) @string
(template_string) @string
"""
_NAMES = {"identifier", "this", "super", "property_identifier"}
# What stands around a value without changing it, and which child the value is.
_UNWRAPPED = {
    "parenthesized_expression": -1,
    "sequence_expression": -1,
    "type_assertion": -1,
    "as_expression": 0,
    "satisfies_expression": 0,
    "non_null_expression": 0,
    "await_expression": 0,
}
_TEXTS = {"string", "string_fragment", "template_string", "escape_sequence", "jsx_text", "regex", "regex_pattern"}
_COMMENTS = {"comment", "html_comment", "hash_bang_line"}


class Call(NamedTuple):
    """A call, or a function handed over to be called: every name that it may have, and its line."""

    names: frozenset[str]
    line: int


class NamedFile(NamedTuple):
    """A text that may name a file; of a template that goes on with a value only the beginning is known."""

    text: str
    is_beginning: bool


@dataclass(frozen=True, slots=True)
class Script:
    """One parsed script. Lines count from `first_line`: a script may stand inside a page."""

    source: bytes
    root: Node
    first_line: int
    grammar: Grammar

    @property
    def broken_at(self) -> int | None:
        """The line of the first mistake, or None."""
        if not self.root.has_error:
            return None
        node = self.root
        while True:
            child = next((child for child in node.children if child.has_error or child.is_missing), None)
            if child is None or node.is_error:
                return self._line(node)
            node = child

    def calls(self) -> Iterator[Call]:
        """Everything that is called, constructed, or handed over as an argument."""
        matches = self._matches()
        aliases = _aliases(matches)
        called = {node.id: node for match in matches for node in match.get("called", [])}
        for node in sorted(called.values(), key=lambda node: node.start_byte):
            name = name_of(node)
            if name is not None:
                yield Call(frozenset(_resolved(name, aliases)), self._line(node))

    def named_files(self) -> Iterator[NamedFile]:
        """Every text in the script."""
        for node in (node for match in self._matches() for node in match.get("string", [])):
            fragments = [child for child in node.named_children if child.type != "template_substitution"]
            whole = len(fragments) == len(node.named_children)
            text = _text(node)[1:-1] if whole else _text(node)[1:].partition("${")[0]
            yield NamedFile(text, is_beginning=not whole)

    def where(self, start: int, end: int) -> Where:
        """What stands at these bytes. A text that names a property is code, as the property itself would be."""
        node = self.root.descendant_for_byte_range(start, end)
        while node is not None and node.type in ("string_fragment", "escape_sequence"):
            node = node.parent
        if node is None or node.type not in _TEXTS | _COMMENTS:
            return "code"
        if node.type in _COMMENTS:
            return "comment"
        parent = node.parent
        is_key = parent is not None and (
            (parent.type == "pair" and parent.child_by_field_name("key") == node)
            or (parent.type == "subscript_expression" and parent.child_by_field_name("index") == node)
        )
        return "code" if is_key else "string"

    def _matches(self) -> list[dict[str, list[Node]]]:
        return [captures for _, captures in QueryCursor(_query(self.grammar)).matches(self.root)]

    def _line(self, node: Node) -> int:
        return self.first_line + node.start_point[0]


def parse_script(source: bytes, grammar: Grammar, first_line: int = 1) -> Script:
    """The script, parsed. A mistake in it is no error: what comes after is read all the same."""
    return Script(source, Parser(_language(grammar)).parse(source).root_node, first_line, grammar)


def name_of(node: Node) -> str | None:
    """The dotted name of a value: `this.audio.play`, `engine().hud.show`, `?.play`. None for a value without any."""
    parts: list[str] = []
    calls = ""  # of the part that comes next, from the end on: `()` for each time that it is called
    here: Node | None = node
    while here is not None:
        if here.type in _NAMES:
            return ".".join([_text(here) + calls, *reversed(parts)])
        if here.type in ("member_expression", "subscript_expression"):
            field, index = here.child_by_field_name("property"), here.child_by_field_name("index")
            parts.append((_text(field) if field is not None else _index(index)) + calls)
            calls, here = "", here.child_by_field_name("object")
        elif here.type in ("call_expression", "new_expression"):
            here = here.child_by_field_name("function") or here.child_by_field_name("constructor")
            calls += "()"
        elif here.type in _UNWRAPPED and here.named_children:
            here = here.named_children[_UNWRAPPED[here.type]]
        else:
            break
    return ".".join([ANY + calls, *reversed(parts)]) if parts or calls else None


def _index(node: Node | None) -> str:
    if node is not None and node.type in ("string", "template_string") and len(node.named_children) <= 1:
        return _text(node)[1:-1]
    return ANY


def _aliases(matches: list[dict[str, list[Node]]]) -> dict[str, set[str]]:
    """What other names stand for: `a` for `ctx.audio` after `const a = ctx.audio`."""
    aliases: dict[str, set[str]] = defaultdict(set)
    for match in (match for match in matches if "name" in match):
        name, stands_for = match["name"][0], name_of(match["value"][0])
        if stands_for is None:
            continue
        if name.type == "object_pattern":
            for field, local in _destructured(name):
                aliases[local].add(f"{stands_for}.{field}")
        else:
            local_name = name_of(name)
            if local_name is not None and local_name != stands_for:
                aliases[local_name].add(stands_for)
    return aliases


def _destructured(pattern: Node) -> Iterator[tuple[str, str]]:
    """Of `{a, b: c, d: {e}}`: (a, a), (b, c), (d.e, e)."""
    for child in pattern.named_children:
        if child.type == "shorthand_property_identifier_pattern":
            yield _text(child), _text(child)
        elif child.type == "object_assignment_pattern" and child.named_children:
            yield _text(child.named_children[0]), _text(child.named_children[0])
        elif child.type == "pair_pattern":
            key, value = _text(child.child_by_field_name("key")), child.child_by_field_name("value")
            if value is not None and value.type == "object_pattern":
                yield from ((f"{key}.{field}", local) for field, local in _destructured(value))
            elif value is not None:
                yield key, _text(value).partition("=")[0].strip()


def _resolved(name: str, aliases: dict[str, set[str]]) -> set[str]:
    """The name, and what it is when each of its beginnings is replaced by what that stands for."""
    found = {name}
    fresh = {name}
    for _ in range(_MOST_ALIASES):
        fresh = {
            stands_for + one[len(beginning) :]
            for one in fresh
            for beginning in _beginnings(one)
            for stands_for in aliases.get(beginning, ())
        } - found
        found |= fresh
    return found


def _beginnings(name: str) -> Iterator[str]:
    yield from (name[: dot.start()] for dot in re.finditer(r"\.", name))
    yield name


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


@cache
def _language(grammar: Grammar) -> Language:
    made = {
        "js": tree_sitter_javascript.language,
        "ts": tree_sitter_typescript.language_typescript,
        "tsx": tree_sitter_typescript.language_tsx,
    }
    return Language(made[grammar]())


@cache
def _query(grammar: Grammar) -> Query:
    return Query(_language(grammar), _QUERY)
