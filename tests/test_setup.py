"""Set-up: which browser is found, what installing one does, and what the lock file may hold."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from playtest.browser import find, install
from playtest.browser.find import find_browser
from playtest.browser.install import install_browser
from playtest.errors import UsageError

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="fake programs are shell scripts")


def program(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def browser(path: Path, says: str = "Chromium 156.0.8078.114") -> Path:
    return program(path, f"echo '{says}'")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with an empty PATH and an empty Playwright cache, at a path with a space in it."""
    home = tmp_path / "a machine"
    (home / "bin").mkdir(parents=True)
    monkeypatch.setenv("PATH", str(home / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(home / "cache"))
    return home


@pytest.fixture
def cached(machine):
    """A function that puts a headless shell of some revision into Playwright's cache."""

    def put(revision: str, says: str = "Google Chrome for Testing 159.0.1.2") -> Path:
        folder = machine / "cache" / f"chromium_headless_shell-{revision}" / "chrome-headless-shell-linux64"
        return browser(folder / "chrome-headless-shell", says)

    return put


@pytest.fixture
def lock():
    return (ROOT / "requirements.lock").read_text(encoding="utf-8")


class TestFindBrowser:
    def test_the_headless_shell_on_path_is_first(self, machine, cached):
        cached("1000")
        browser(machine / "bin" / "chromium")
        shell = browser(machine / "bin" / "chromium-headless-shell")
        found = find_browser(None)
        assert (found.path, found.kind, found.source) == (shell, "headless_shell", "PATH")
        assert found.version == "156.0.8078.114"

    def test_playwrights_shell_comes_before_a_full_chromium(self, machine, cached):
        browser(machine / "bin" / "chromium")
        shell = cached("1000")
        found = find_browser(None)
        assert (found.path, found.kind, found.source) == (shell, "headless_shell", "playwright")

    def test_the_newest_of_playwrights_shells_is_taken(self, machine, cached):
        cached("999")
        newest = cached("1000")
        assert find_browser(None).path == newest

    @pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
    def test_a_full_chromium_is_better_than_nothing(self, machine, name):
        path = browser(machine / "bin" / name, "Google Chrome 150.1.2.3 ")
        found = find_browser(None)
        assert (found.path, found.kind, found.version) == (path, "chromium", "150.1.2.3")

    def test_a_program_that_only_says_how_to_install_one_is_no_browser(self, machine):
        program(machine / "bin" / "chromium-browser", "echo 'install the chromium snap first'; exit 1")
        chrome = browser(machine / "bin" / "google-chrome")
        assert find_browser(None).path == chrome

    def test_none_at_all_says_what_to_type(self, machine):
        with pytest.raises(UsageError, match="no Chromium") as caught:
            find_browser(None)
        for words in ("playtest doctor --install", "playwright install --only-shell chromium", "apt-get install"):
            assert words in caught.value.hint

    def test_a_setting_is_taken_before_all_else(self, machine):
        browser(machine / "bin" / "chromium-headless-shell")
        mine = browser(machine / "mine" / "chrome")
        found = find_browser(str(mine))
        assert (found.path, found.kind, found.source) == (mine, "chromium", "setting")

    def test_a_setting_may_be_a_name_on_path(self, machine):
        path = browser(machine / "bin" / "chromium")
        assert find_browser("chromium").path == path

    def test_a_link_to_the_shell_is_known_as_the_shell(self, machine):
        shell = browser(machine / "opt" / "headless_shell")
        link = machine / "bin" / "browser"
        link.symlink_to(shell)
        assert find_browser("browser").kind == "headless_shell"

    def test_a_setting_that_points_to_nothing_is_named_and_nothing_else_is_tried(self, machine):
        browser(machine / "bin" / "chromium-headless-shell")
        with pytest.raises(UsageError, match=r"'/no/such/browser' does not exist"):
            find_browser("/no/such/browser")

    def test_a_setting_that_is_a_folder_is_refused(self, machine):
        with pytest.raises(UsageError, match="is not an executable file"):
            find_browser(str(machine / "bin"))

    def test_a_setting_that_is_another_program_is_refused(self, machine):
        other = program(machine / "bin" / "other", "echo 'other 1.2.3'")
        with pytest.raises(UsageError, match="is no working Chromium") as caught:
            find_browser(str(other))
        assert f"{other} --version" in caught.value.hint

    def test_a_program_that_never_answers_is_given_up(self, machine, monkeypatch):
        monkeypatch.setattr(find, "_VERSION_DEADLINE_S", 0.2)
        slow = program(machine / "bin" / "slow", "exec /bin/sleep 60")
        with pytest.raises(UsageError, match="is no working Chromium"):
            find_browser(str(slow))


class TestInstallBrowser:
    @pytest.fixture
    def ran(self, machine, monkeypatch):
        """The commands that installing started; each entry of `effects` is what a command does."""
        commands: list[str] = []

        def run(command):
            commands.append(" ".join(command))
            for words, effect in self.effects.items():
                if words in commands[-1]:
                    return effect() or []
            return [f"`{commands[-1]}` ended with 1:", "    no way"]

        self.effects = {}
        monkeypatch.setattr(install, "_run", run)
        monkeypatch.setattr(install, "_may_use_apt", lambda: True)
        return commands

    def test_nothing_is_installed_where_there_is_one(self, machine, ran):
        path = browser(machine / "bin" / "chromium")
        assert install_browser().path == path
        assert ran == []

    def test_playwrights_shell_is_tried_first(self, ran, cached):
        self.effects["playwright install --only-shell chromium"] = lambda: cached("1000") and []
        assert install_browser().source == "playwright"
        assert len(ran) == 1

    def test_then_apt_with_fonts(self, machine, ran):
        def apt():
            browser(machine / "bin" / "chromium-headless-shell")

        self.effects["apt-get -q update"] = list
        self.effects["apt-get -q install"] = apt
        assert install_browser().kind == "headless_shell"
        assert any("chromium-headless-shell" in command for command in ran)
        assert any("fonts-noto-cjk" in command for command in ran)

    def test_a_full_chromium_where_apt_has_no_shell(self, machine, ran):
        def apt():
            if ran[-1].endswith(" chromium"):
                browser(machine / "bin" / "chromium")
                return []
            return ["Unable to locate package"]

        self.effects["apt-get -q update"] = list
        self.effects["apt-get -q install"] = apt
        assert install_browser().kind == "chromium"

    def test_without_root_it_says_what_failed_and_what_to_type(self, ran, monkeypatch):
        monkeypatch.setattr(install, "_may_use_apt", lambda: False)
        with pytest.raises(UsageError, match="no way") as caught:
            install_browser()
        assert not any("apt-get" in command for command in ran)
        for words in ("playwright install --only-shell chromium", "sudo apt-get install chromium-headless-shell"):
            assert words in caught.value.hint
        assert "fonts-noto-cjk" in caught.value.hint

    def test_a_wrong_setting_is_not_mended_by_installing(self, ran):
        with pytest.raises(UsageError, match="does not exist"):
            install_browser("/no/such/browser")
        assert ran == []

    def test_what_a_command_said_is_shown_when_it_fails(self, tmp_path):
        broken = program(tmp_path / "broken", "echo 'disk full'; exit 3")
        assert install._run([str(broken)]) == [f"`{broken}` ended with 3:", "    disk full"]

    def test_what_a_command_said_is_not_shown_when_it_works(self, tmp_path, capfd):
        well = program(tmp_path / "well", "echo 'a thousand lines'")
        assert install._run([str(well)]) == []
        assert "a thousand lines" not in "".join(capfd.readouterr())


class TestLock:
    def test_it_names_no_index_and_no_file(self, lock):
        assert "://" not in lock
        assert not re.search(r"^\s*-", lock, re.MULTILINE)

    def test_every_line_is_a_pin(self, lock):
        lines = [line for line in lock.splitlines() if line and not line.lstrip().startswith("#")]
        assert lines
        assert [line for line in lines if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*==[\w.!+]+", line)] == []

    def test_it_has_every_dependency_of_the_project(self, lock):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        wanted = {
            re.split(r"[^\w.-]", need)[0].lower()
            for need in (*project["dependencies"], *project["optional-dependencies"]["dev"])
        }
        assert wanted <= set(re.findall(r"^([a-z0-9.-]+)==", lock, re.MULTILINE))
