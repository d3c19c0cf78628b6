"""A batch service: it answers files of requests as a live server answers the same requests, one line for each.

    lines = answered([folder / "m-0001.jsonl"], server.url)

Each body is sent as it stands in the file, and what comes back becomes a line of the shape that hosted services and
`vllm run-batch` write.
"""

import http.client
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import urlsplit


def requests_in(paths: Iterable[Path]) -> list[dict]:
    """The lines of files of requests."""
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def answered(paths: Iterable[Path], url: str) -> list[dict]:
    """The lines that a service writes whose server is at `url`."""
    address, lines = urlsplit(url), []
    for number, request in enumerate(requests_in(paths)):
        connection = http.client.HTTPConnection(address.hostname, address.port)
        content, headers = json.dumps(request["body"]), {"Content-Type": "application/json"}
        connection.request("POST", f"{address.path}/chat/completions", content, headers)
        came = connection.getresponse()
        lines.append(line(request["custom_id"], _body(came.read()), status=came.status, number=number))
        connection.close()
    return lines


def _body(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        return content.decode("utf-8", "replace")


def line(custom_id: str, body: object, *, status: int = 200, number: int = 0, error: object = None) -> dict:
    """One line of answers."""
    response = {"status_code": status, "request_id": f"req-{number}", "body": body}
    return {"id": f"batch_req_{number}", "custom_id": custom_id, "response": response, "error": error}


def failed(custom_id: str, error: object) -> dict:
    """A line about a request that was never answered."""
    return {"id": "batch_req_x", "custom_id": custom_id, "response": None, "error": error}


def said(custom_id: str, text: str, **more: object) -> dict:
    """A line with this text, as a chat completion."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    return line(custom_id, {"id": f"c-{custom_id}", "model": "m", "choices": [choice], "usage": usage, **more})


def write_lines(path: Path, lines: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path
