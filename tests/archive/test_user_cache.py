"""The user's own cache: where it is, that it is nobody else's, and that it does not grow without end."""

import os
import stat
from pathlib import Path

from affidavit.archive.user_cache import cache_directory, make_room, used


def test_it_is_where_the_setting_says_or_in_the_user_s_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "here"))
    assert cache_directory() == tmp_path / "here"
    monkeypatch.delenv("AFFIDAVIT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_directory() == tmp_path / "xdg" / "affidavit" / "columns"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory() == tmp_path / "home" / ".cache" / "affidavit" / "columns"


def test_it_can_be_turned_off(monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_CACHE", "off")
    assert cache_directory() is None


def test_nobody_else_has_access(tmp_path, monkeypatch):
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o777)
    (tmp_path / "cache").chmod(0o777)
    assert stat.S_IMODE(cache_directory().stat().st_mode) == 0o700


def test_what_is_no_directory_of_the_user_s_is_not_used(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("")
    for name in ("link", "file"):
        monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / name))
        assert cache_directory() is None
    monkeypatch.setenv("AFFIDAVIT_CACHE", str(tmp_path / "real"))
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert cache_directory() is None


def made(folder: Path, name: str, size: int, when: int) -> Path:
    path = folder / name
    path.write_bytes(b"x" * size)
    os.utime(path, (when, when))
    return path


def test_what_was_not_used_for_longest_goes_first(tmp_path):
    old, middle, new = (made(tmp_path, name, 100, when) for name, when in (("a", 1), ("b", 2), ("c", 3)))
    make_room(tmp_path, most_bytes=300)
    assert old.exists()
    used([old])
    make_room(tmp_path, most_bytes=250)
    assert [path.exists() for path in (old, middle, new)] == [True, False, True]
    make_room(tmp_path, most_bytes=0)
    assert not list(tmp_path.iterdir())
