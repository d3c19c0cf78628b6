"""Values that are taken from the environment when a request is sent: `{ env = "NAME" }` in `body` and `headers`.

On the record stands that object, never the value. A literal under a key that names a secret is refused, because a
body is frozen with the study, logged and shown.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from affidavit.errors import InputError, UsageError
from affidavit.models.redaction import Redaction
from affidavit.models.shown_names import shown_name, shown_variable

_NAMES_A_SECRET = frozenset(
    [
        "accesskey",
        "accesstoken",
        "apikey",
        "apisecret",
        "apitoken",
        "auth",
        "authorization",
        "authtoken",
        "bearer",
        "bearertoken",
        "clientsecret",
        "credential",
        "credentials",
        "key",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "secret",
        "secretkey",
        "token",
        "xapikey",
    ]
)
_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_ENDS_LIKE_ONE = ("apikey", "password", "secret", "accesstoken", "authtoken", "apitoken", "secretkey")


def name_of(value: object) -> str | None:
    """The variable that a value stands for; None for any other value.

    >>> name_of({"env": "SERVER_KEY"}), name_of({"env": 1}), name_of("SERVER_KEY")
    ('SERVER_KEY', None, None)
    """
    if isinstance(value, dict) and value.keys() == {"env"} and isinstance(value["env"], str):
        return value["env"]
    return None


def variables_in(value: object) -> Iterator[str]:
    """The names of all variables that a value needs, at any depth."""
    if (name := name_of(value)) is not None:
        yield name
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from variables_in(each)


def with_values(value: object, values: Mapping[str, str]) -> object:
    """The value with the content of the variables in their place."""
    if (name := name_of(value)) is not None:
        return values[name]
    if isinstance(value, dict):
        return {key: with_values(each, values) for key, each in value.items()}
    return [with_values(each, values) for each in value] if isinstance(value, list) else value


def refuse_odd_names(names: Iterable[str], *, where: str, place: str) -> None:
    """Refuse what cannot be the name of a variable; it is not repeated, as it may be the secret itself.

    >>> refuse_odd_names(["sk-proj-1"], where="s", place="models.m")
    Traceback (most recent call last):
    affidavit.errors.InputError: s: expected names of environment variables in models.m, found something else
    Letters, digits and underscores. If it is a key, take it out of the file, and name a variable that holds it.
    """
    if not all(map(_VARIABLE.fullmatch, names)):
        expected = f"names of environment variables in {place}"
        hint = f"Letters, digits and underscores. {_IF_KEY}"
        raise InputError(where, expected=expected, found="something else", hint=hint)


_IF_KEY = "If it is a key, take it out of the file, and name a variable that holds it."


def look_up(name: str, *, place: str) -> str:
    """The content of a variable, without blanks around it; refused if there is none."""
    value = os.environ.get(name, "").strip()
    if not value:
        told = shown_variable(name)
        hint = f"Set it before running: export {name}=…" if told == name else _IF_KEY
        raise UsageError(place, expected=f"a value in the environment variable {told}", found="none", hint=hint)
    return value


def values_set(names: Iterable[str]) -> dict[str, str | None]:
    """The contents of variables as far as they are set here, None for those that are not: nobody is asked now."""
    return {name: os.environ.get(name, "").strip() or None for name in names}


def refuse_unset(needed: Iterable[tuple[str, str]]) -> None:
    """Refuse variables that hold nothing, all of them at once; each is given behind the place that needs it.

    >>> refuse_unset([("models.a.key_env", "NO_KEY_A"), ("models.b.key_env", "NO_KEY_B")])
    Traceback (most recent call last):
    affidavit.errors.UsageError: models.a.key_env, models.b.key_env: expected values in the environment variables NO_KEY_A and NO_KEY_B, found none
    Set them before running: export NO_KEY_A=… NO_KEY_B=…
    """  # noqa: E501
    unset = [(place, name) for place, name in needed if not os.environ.get(name, "").strip()]
    names = list(dict.fromkeys(name for _, name in unset))
    if len(names) == 1:
        look_up(names[0], place=unset[0][0])
    if names:
        *others, last = map(shown_variable, names)
        hint = f"Set them before running: export {' '.join(f'{name}=…' for name in names)}"
        raise UsageError(
            ", ".join(dict.fromkeys(place for place, _ in unset)),
            expected=f"values in the environment variables {', '.join(others)} and {last}",
            found="none",
            hint=hint if [*others, last] == names else _IF_KEY,
        )


def mask_of(names: Iterable[str]) -> Callable[[str], str]:
    """What covers the values of some variables in a text; each must have one. Of none, the text stays as it is."""
    redaction, values = Redaction(), [look_up(name, place="--mask") for name in names]
    for value in values:
        redaction.add(value)
    return redaction.masked if values else str


def refuse_literal_secrets(value: object, *, where: str, place: str) -> None:
    """Refuse a text under a key that names a secret; neither it nor a long key is repeated.

    >>> refuse_literal_secrets({"a": {"api_key": "sk-1"}}, where="study.toml", place="models.m.body")
    Traceback (most recent call last):
    affidavit.errors.InputError: study.toml: expected no secret in models.m.body.a.api_key, found a text
    A body stands on the record. Take it from the environment: api_key = { env = "NAME" }
    """
    if isinstance(value, list):
        for number, each in enumerate(value):
            refuse_literal_secrets(each, where=where, place=f"{place}[{number}]")
    if isinstance(value, dict):
        for key, each in value.items():
            name = shown_name(key)
            if isinstance(each, str) and each and _names_a_secret(key):
                hint = f'A body stands on the record. Take it from the environment: {name} = {{ env = "NAME" }}'
                raise InputError(where, expected=f"no secret in {place}.{name}", found="a text", hint=hint)
            refuse_literal_secrets(each, where=where, place=f"{place}.{name}")


def is_secret_header(name: str) -> bool:
    """Whether the value of a header is a secret by the header's name.

    >>> is_secret_header("X-Api-Key"), is_secret_header("Cookie"), is_secret_header("X-Title")
    (True, True, False)
    """
    return any(word in name.lower() for word in ("auth", "cookie", "credential", "key", "pass", "secret", "token"))


def _names_a_secret(key: str) -> bool:
    bare = key.lower().replace("_", "").replace("-", "").replace(" ", "")
    return bare in _NAMES_A_SECRET or bare.endswith(_ENDS_LIKE_ONE)
