"""The bytes of a request's body, made in this one place for a live request and for a line of a batch (ruling C9).

On the record a body holds `{ env = "NAME" }` where a value is a secret; what is sent has the value in its place.
"""

import json
from collections.abc import Mapping

from affidavit.json_values import Fields
from affidavit.models.environment_values import look_up, variables_in, with_values
from affidavit.models.model import Request
from affidavit.models.redaction import Redaction


class SentBody:
    """What is sent of every request to one model.

    >>> request = Request({"model": "m", "messages": (), "seed": 7}, encoded=b'{"as":"hashed"}')
    >>> SentBody("m", {}, Redaction()).encoded(request)
    b'{"as":"hashed"}'
    """

    def __init__(self, name: str, body: Mapping[str, object], redaction: Redaction) -> None:
        """`body` has the further keys of the model's table; the values that come from outside become secrets."""
        needed = {key: value for key, value in body.items() if any(variables_in(value))}
        place = f"models.{name}.body"
        values = {variable: look_up(variable, place=place) for variable in variables_in(needed)}
        for value in values.values():
            redaction.add(value)
        self.variables = tuple(values)
        """The environment variables whose values are in it."""
        self.from_environment: Fields = {key: with_values(value, values) for key, value in needed.items()}
        """The further keys of requests that have a value of the environment in them, with that value."""

    def encoded(self, request: Request) -> bytes:
        """The body as it is sent: where nothing comes from outside, to the byte what was hashed."""
        if request.encoded is not None and not self.from_environment:
            return request.encoded
        return self.of(request.body)

    def of(self, fields: Mapping[str, object]) -> bytes:
        """Any fields, with the values from outside over them."""
        return json.dumps({**fields, **self.from_environment}).encode()
