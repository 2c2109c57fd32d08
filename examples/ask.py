"""Ask a running gateway over HTTP, with nothing but the standard library.

    python examples/ask.py http://127.0.0.1:7310 ~/.daimon/token "what time is it?"

It hands in an event, waits for its turn to rest, and prints the answer.
"""

import http.client
import json
import sys
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


def main(url: str, token_file: str, text: str) -> int:
    token = Path(token_file).expanduser().read_text().strip()
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": str(uuid.uuid4())}
    taken = call(url, "POST", "/v1/events", headers, {"type": "message", "text": text, "conversation": "ask"})
    while True:
        turn = call(url, "GET", f"/v1/events/{taken['event']}", headers)["turn"]
        if turn and turn["state"] in ("done", "failed", "parked"):
            break
        time.sleep(0.1)
    trace = call(url, "GET", f"/v1/turns/{turn['id']}", headers)
    replies = [step["body"] for step in trace["steps"] if step["body"]["kind"] == "reply"]
    sys.stdout.write("".join(part["text"] for part in replies[-1]["parts"] if part["kind"] == "text") + "\n")
    return 0 if turn["state"] == "done" else 1


def call(url: str, method: str, path: str, headers: dict[str, str], body: object = None) -> Any:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        data = json.loads(answer.read())
    finally:
        connection.close()
    if answer.status >= 400:
        raise SystemExit(f"{answer.status} {data['error']['code']}: {data['error']['message']}")
    return data


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
