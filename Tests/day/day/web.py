"""HTTP as an operator's tools speak it: what was answered, and never an exception for what was not."""
import base64
import json
import urllib.error
import urllib.parse
import urllib.request

# No proxy of the machine stands before what listens on loopback.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Answer:
    """A status and a body; the status is 0 where nobody answered, and the body then says why."""

    def __init__(self, status, body):
        self.status = status
        self.body = body

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return {}


def ask(url, method="GET", body=None, headers=None, timeout=30, user=None):
    headers = dict(headers or {})
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        headers.setdefault("Content-Type", "application/json")
    if user:
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    try:
        with OPENER.open(request, timeout=timeout) as response:
            return Answer(response.status, response.read().decode(errors="replace"))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read().decode(errors="replace"))
    except (OSError, ValueError, urllib.error.URLError) as error:
        return Answer(0, str(error))
    except Exception as error:  # http.client has exceptions of its own for answers that break off
        return Answer(0, repr(error))


def quoted(text):
    return urllib.parse.quote(text, safe="")
