"""The shape of the code, as ARCHITECTURE.md draws it, held by parsing every module."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "playtest"

# Every module stands here by its name inside the package; `x.*` is the package x with all in it.
# A module that isn't placed fails: decide where it belongs, and say so in ARCHITECTURE.md.
LAYERS: dict[str, tuple[str, ...]] = {
    "L0 words": ("", "errors", "config", "files", "ports", "texts", "protocol.*"),
    "L1 decisions": (
        "policy.*", "gates.*", "exam.*", "checking.*", "exploring.*", "prompts.*",
        "aiming", "briefing", "overlay", "pictures", "effects", "text_changes", "firstplay",
        "chat", "conversation", "reply_text", "blindness", "contracts",
        "presets", "pricing", "metering", "endpoint", "endpoint_errors",
    ),
    "L2 edges": ("browser.*", "vision_client", "testers.*", "drivers.*", "evidence", "ledger", "testing"),
    "L3 use cases": (
        "runner", "referee", "trial", "attribution", "experiments", "filming", "replaying",
        "rolls", "journal", "observer", "floor", "acceptance", "exam", "batch",
    ),
    "L4 delivery": ("__main__", "games", "recordings", "documents", "samples", "sources", "exporting",
        "fresh", "gating", "driving", "wiring", "report", "terminal", "commands.*", "cli"),
}  # fmt: skip
MAY_IMPORT = {
    "L0": ("L0",),
    "L1": ("L1", "L0"),
    "L2": ("L2", "L1", "L0"),  # of L2 only the edge's own modules
    "L3": ("L3", "L1", "L0"),
    "L4": ("L4", "L3", "L2", "L1", "L0"),
}
# What only one place may touch: everything else gets it as an argument.
KEPT_INSIDE = {"playwright": "browser", "httpx": "vision_client"}
ENVIRONMENT_READER = "config"
# Decisions are pure: they get values and return values.
NOT_PURE = ("asyncio", "http", "multiprocessing", "socket", "subprocess", "tempfile", "threading", "urllib.request")
# The boundaries where an error of any kind is caught, and why there.
BROAD_EXCEPT = {
    "cli": "the one place that turns an unknown error into exit code 3",
    "runner": "a roll that is stopped is closed as degraded: interrupted; the exception goes on",
}
# Calls that make a constant. A class (a capital first letter) does, and in L0 and L1 the module's own functions.
CONSTANT_CALLS = {
    "array", "cast", "compile", "date", "dedent", "dict", "encode", "enumerate", "field", "files", "float", "format",
    "frozenset", "fromkeys", "getLogger", "int", "items", "join", "len", "list", "max", "min", "namedtuple", "quote",
    "lower", "upper", "range", "replace", "reversed", "set", "sorted", "split", "splitlines", "str", "sum", "timedelta", "tuple", "zip",
}  # fmt: skip
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50

Sources = Mapping[str, str]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Module:
    """One parsed module: its name inside the package, its layer and edge, and what it imports of ours."""

    def __init__(self, name: str, source: str, names: set[str]) -> None:
        self.name = name
        self.source = source
        self.tree = ast.parse(source)
        self.layer = layer_of(name)
        self.edge = name.partition(".")[0]
        self.imports = [(node.lineno, target) for node, target in self._ours(names)]

    def _ours(self, names: set[str]) -> Iterator[tuple[ast.stmt, str]]:
        for node, target, members in imports(self.tree):
            if target != "playtest" and not target.startswith("playtest."):
                continue
            inside = target.removeprefix("playtest").lstrip(".")
            found = [f"{inside}.{member}".lstrip(".") for member in members]
            modules = [name for name in found if name in names]
            if len(modules) < len(found) or not found:
                modules.append(inside)
            yield from ((node, name) for name in modules)


def imports(tree: ast.AST) -> Iterator[tuple[ast.stmt, str, list[str]]]:
    """Every import below a node: the statement, the module, and the names taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node, "." * node.level + (node.module or ""), [alias.name for alias in node.names]


def layer_of(name: str) -> str | None:
    for layer, patterns in LAYERS.items():
        for pattern in patterns:
            package = pattern.removesuffix(".*")
            if name == package or (pattern != package and name.startswith(package + ".")):
                return layer[:2]
    return None


def parse(sources: Sources) -> list[Module]:
    names = set(sources)
    return [Module(name, source, names) for name, source in sorted(sources.items())]


def placed(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        if module.layer is None:
            yield f"{module.name}: not in the layer map"


def directions(modules: list[Module]) -> Iterator[str]:
    layers = {module.name: module for module in modules}
    for module in modules:
        for line, target in module.imports:
            other = layers.get(target)
            if other is None or module.layer is None or other.layer is None:
                continue
            if other.layer not in MAY_IMPORT[module.layer]:
                yield f"{module.name}:{line}: {module.layer} imports {target} of {other.layer}"
            elif module.layer == other.layer == "L2" and module.edge != other.edge:
                yield f"{module.name}:{line}: the edge {module.edge} imports the edge {other.edge}"


def unknown_imports(modules: list[Module]) -> Iterator[str]:
    names = {module.name for module in modules}
    for module in modules:
        for line, target in module.imports:
            if target not in names:
                yield f"{module.name}:{line}: imports {target}, which is no module"
        for node, target, _ in imports(module.tree):
            if target.startswith("."):
                yield f"{module.name}:{node.lineno}: a relative import"


def cycles(modules: list[Module]) -> Iterator[str]:
    graph = {module.name: {target for _, target in module.imports} for module in modules}
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> Iterator[str]:
        if name in path:
            yield "import cycle: " + " -> ".join((*path[path.index(name) :], name))
        elif name not in done:
            for target in sorted(graph.get(name, ())):
                yield from walk(target, (*path, name))
            done.add(name)

    for name in sorted(graph):
        yield from walk(name, ())


def late_imports(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for function in ast.walk(module.tree):
            if isinstance(function, FUNCTIONS):
                for node, target, _ in imports(function):
                    if target.startswith(("playtest", ".")):
                        yield f"{module.name}:{node.lineno}: {function.name} imports {target} while it runs"


def kept_inside(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for node, target, members in imports(module.tree):
            top = target.partition(".")[0]
            if KEPT_INSIDE.get(top, module.edge) != module.edge:
                yield f"{module.name}:{node.lineno}: {top} belongs inside {KEPT_INSIDE[top]}"
            if module.layer == "L1" and any(target == name or target.startswith(name + ".") for name in NOT_PURE):
                yield f"{module.name}:{node.lineno}: a decision imports {target}"
            if top == "os" and {"environ", "environb", "getenv"} & set(members) and module.name != ENVIRONMENT_READER:
                yield f"{module.name}:{node.lineno}: the environment is read in {ENVIRONMENT_READER} only"
        for part in ast.walk(module.tree):
            reads = isinstance(part, ast.Attribute) and ast.unparse(part) in {"os.environ", "os.environb", "os.getenv"}
            if reads and module.name != ENVIRONMENT_READER:
                yield f"{module.name}:{part.lineno}: the environment is read in {ENVIRONMENT_READER} only"


def broad_excepts(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        lines = list(_broad(module.tree))
        named = 1 if module.name in BROAD_EXCEPT else 0  # one boundary for each named module
        yield from (f"{module.name}:{line}: catches errors of any kind" for line in lines[named:])


def _broad(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler):
            caught = list(node.type.elts) if isinstance(node.type, ast.Tuple) else [node.type]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in {"suppress", "contextlib.suppress"}:
            caught = list(node.args)
        else:
            continue
        if any(item is None or ast.unparse(item) in {"Exception", "BaseException"} for item in caught):
            yield node.lineno


def import_time_work(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        own = {node.name for node in module.tree.body if isinstance(node, ast.FunctionDef)}
        allowed = CONSTANT_CALLS | (own if module.layer in {"L0", "L1"} else set())
        for node in module.tree.body:
            yield from (f"{module.name}:{line}: works while imported" for line in _work(node, allowed))


def _work(node: ast.stmt, allowed: set[str]) -> Iterator[int]:
    """Lines of a module or class body that do more than name things."""
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass, *FUNCTIONS)):
        return
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.If) and _is_static(node.test):
        if "__name__" not in ast.unparse(node.test):
            yield from (line for inner in (*node.body, *node.orelse) for line in _work(inner, allowed))
    elif isinstance(node, ast.ClassDef):
        yield from (line for inner in node.body for line in _work(inner, allowed))
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        yield from (call.lineno for call in _calls(node.value) if not _makes_a_constant(call, allowed))
    else:
        yield node.lineno


def _is_static(test: ast.expr) -> bool:
    text = ast.unparse(test)
    return text in {"TYPE_CHECKING", "__name__ == '__main__'"} or text.startswith(("sys.version_info", "sys.platform"))


def _calls(value: ast.expr | None) -> Iterator[ast.Call]:
    """Calls that run now: those inside a lambda run later."""
    if value is None or isinstance(value, ast.Lambda):
        return
    if isinstance(value, ast.Call):
        yield value
    for child in ast.iter_child_nodes(value):
        if isinstance(child, ast.expr | ast.keyword | ast.comprehension):
            yield from _calls(child)  # type: ignore[arg-type]


def _makes_a_constant(call: ast.Call, allowed: set[str]) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    return name in allowed or name.lstrip("_")[:1].isupper()


def lengths(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        lines = module.source.count("\n")
        if lines > MAX_FILE_LINES:
            yield f"{module.name}: {lines} lines, at most {MAX_FILE_LINES}"
        for node in ast.walk(module.tree):
            if isinstance(node, FUNCTIONS) and (long := _function_lines(node)) >= MAX_FUNCTION_LINES:
                yield f"{module.name}:{node.lineno}: {node.name} has {long} lines, {MAX_FUNCTION_LINES} are too many"


def _function_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    has_docstring = ast.get_docstring(node, clean=False) is not None
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if has_docstring else 0
    return (node.end_lineno or node.lineno) - node.lineno + 1 - docstring


RULES = (
    placed, directions, unknown_imports, cycles, late_imports, kept_inside, broad_excepts, import_time_work, lengths,
)  # fmt: skip


@pytest.fixture(scope="module")
def package() -> list[Module]:
    sources = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        sources[name.removesuffix("__init__").rstrip(".")] = path.read_text(encoding="utf-8")
    assert {"", "errors", "browser.find"} <= set(sources), "the package was not found"
    return parse(sources)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(package, rule):
    breaches = "\n".join(rule(package))
    assert not breaches, breaches


LONG = "def f():\n" + "    x = 1\n" * 50
BREACHES = {
    "unplaced module": (placed, {"nowhere": ""}),
    "unplaced package": (placed, {"nowhere.x": ""}),
    "L3 imports L2": (directions, {"runner": "from playtest.evidence import Store", "evidence": ""}),
    "L3 imports a module of L2": (directions, {"runner": "from playtest.browser import find", "browser.find": ""}),
    "L1 imports L3": (directions, {"overlay": "import playtest.runner", "runner": ""}),
    "L0 imports L1": (directions, {"errors": "from playtest import overlay", "overlay": "", "": ""}),
    "L2 imports L4": (directions, {"ledger": "from playtest.cli import main", "cli": ""}),
    "L2 imports L3": (directions, {"ledger": "from playtest.runner import play", "runner": ""}),
    "edge imports edge": (directions, {"testers.a": "from playtest.browser.find import x", "browser.find": ""}),
    "for typing only": (
        directions,
        {"runner": "if TYPE_CHECKING:\n    from playtest.evidence import Store", "evidence": ""},
    ),
    "no such module": (unknown_imports, {"errors": "from playtest.gone import x"}),
    "relative import": (unknown_imports, {"browser.a": "from .b import x", "browser.b": ""}),
    "cycle of two": (cycles, {"floor": "import playtest.runner", "runner": "import playtest.floor"}),
    "cycle through a third": (
        cycles,
        {"a": "import playtest.b", "b": "import playtest.c", "c": "from playtest import a", "d": "import playtest.a"},
    ),
    "late import": (late_imports, {"runner": "def f():\n    from playtest.floor import x", "floor": ""}),
    "playwright outside": (kept_inside, {"runner": "from playwright.async_api import Page"}),
    "httpx outside": (kept_inside, {"testers.minimax": "import httpx"}),
    "environ": (kept_inside, {"browser.find": "import os\ndef f(): return os.environ['A']"}),
    "getenv": (kept_inside, {"runner": "import os\ndef f(): return os.getenv('A')"}),
    "environ by name": (kept_inside, {"runner": "from os import environ"}),
    "a decision that waits": (kept_inside, {"policy.budget": "import asyncio"}),
    "a decision that asks the network": (kept_inside, {"policy.budget": "from urllib.request import urlopen"}),
    "except Exception": (broad_excepts, {"floor": "def f():\n  try: x()\n  except Exception: y()"}),
    "bare except": (broad_excepts, {"floor": "def f():\n  try: x()\n  except: y()"}),
    "Exception in a tuple": (broad_excepts, {"floor": "def f():\n  try: x()\n  except (OSError, Exception): y()"}),
    "a second boundary": (broad_excepts, {"cli": "def f():\n  try: x()\n  except: y()\n  try: x()\n  except: y()"}),
    "suppress": (broad_excepts, {"floor": "def f():\n  with contextlib.suppress(Exception): y()"}),
    "call at import": (import_time_work, {"errors": "print('hello')"}),
    "read at import": (import_time_work, {"errors": "TEXT = open('a').read()"}),
    "read through a class": (import_time_work, {"errors": "TEXT = Path('a').read_text()"}),
    "an edge's own function": (import_time_work, {"ledger": "def f(): ...\nA = f()"}),
    "loop at import": (import_time_work, {"errors": "for x in (1, 2): pass"}),
    "work in a class body": (import_time_work, {"errors": "class A:\n    b = connect()"}),
    "work for the type checker": (import_time_work, {"errors": "if TYPE_CHECKING:\n    connect()"}),
    "long file": (lengths, {"errors": "x = 1\n" * 401}),
    "long function": (lengths, {"errors": LONG}),
    "long method": (lengths, {"errors": "class A:\n    " + LONG.replace("\n", "\n    ")}),
}
ALLOWED = {
    "L4 imports L2": {"cli": "from playtest.browser.find import x", "browser.find": "def x(): ..."},
    "edge imports itself": {"browser.a": "from playtest.browser import b", "browser.b": "", "browser": ""},
    "version": {"report": "from playtest import __version__", "": "__version__ = '1'"},
    "playwright inside": {"browser.a": "from playwright.async_api import Page"},
    "config reads": {"config": "import os\ndef f(): return os.environ"},
    "boundary": {"cli": "def f():\n  try: x()\n  except Exception: y()"},
    "constants": {"errors": "A = re.compile('a')\nB = frozenset({1})\nC: int = Field(default=1)\nD = lambda: f()"},
    "a decision's own function": {"presets": "def patches(side): ...\nA = Preset(size=patches(28))"},
    "main": {"cli": "if __name__ == '__main__':\n    raise SystemExit(main())"},
    "function of 49 lines": {"errors": "def f():\n    'doc'\n" + "    x = 1\n" * 48},
    "file of 400 lines": {"errors": "x = 1\n" * 400},
}  # fmt: skip


@pytest.mark.parametrize(("rule", "sources"), BREACHES.values(), ids=BREACHES)
def test_a_breach_is_seen(rule, sources):
    assert list(rule(parse(sources)))


@pytest.mark.parametrize("sources", ALLOWED.values(), ids=ALLOWED)
def test_what_is_allowed_passes_every_rule(sources):
    assert [breach for rule in RULES for breach in rule(parse(sources))] == []


def test_every_rule_has_a_breach_that_shows_it_can_fail():
    assert {rule for rule, _ in BREACHES.values()} == set(RULES)
