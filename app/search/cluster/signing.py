"""Requests signed for AWS, where a managed OpenSearch asks for that.

Signature Version 4, as it is published in AWS's IAM User Guide, "Create a signed AWS API request"
(docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html): the request in a canonical form, a
digest of it with time and scope, and an HMAC of that under a key derived for the day, the region and the service.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote

ALGORITHM = "AWS4-HMAC-SHA256"
KEY_ID, SECRET, TOKEN = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"
UNESCAPED = "-_.~"
"""Beside letters and digits; everything else is escaped in the canonical form."""


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """Who signs. `token` belongs to credentials that were lent for a while; otherwise it is empty."""

    key_id: str
    secret: str
    token: str = ""

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> "Credentials":
        """Those of the usual variables. Raises KeyError, with the name of one that is not set."""
        for name in (KEY_ID, SECRET):
            if not environ.get(name, "").strip():
                raise KeyError(name)
        return cls(environ[KEY_ID].strip(), environ[SECRET].strip(), environ.get(TOKEN, "").strip())

    def __repr__(self) -> str:
        return "Credentials"


@dataclass(frozen=True, slots=True)
class Request:
    """What is signed: `target` is path and query as they are sent, `headers` are those that the signature covers, and
    `content` is the SHA-256 of the body in hexadecimal digits."""

    method: str
    target: str
    headers: Mapping[str, str]
    content: str


def canonical(request: Request) -> str:
    """The form of a request that both sides digest."""
    path, _, query = request.target.partition("?")
    asked = sorted(
        (quote(name, UNESCAPED), quote(value, UNESCAPED))
        for name, value in parse_qsl(query, keep_blank_values=True)
    )
    headers = sorted((name.lower(), " ".join(value.split())) for name, value in request.headers.items())
    return "\n".join(
        (
            request.method,
            quote(path or "/", f"/{UNESCAPED}"),
            "&".join(f"{name}={value}" for name, value in asked),
            *(f"{name}:{value}" for name, value in headers),
            "",
            ";".join(name for name, _ in headers),
            request.content,
        )
    )


def authorization(credentials: Credentials, scope: str, moment: str, request: Request) -> str:
    """The header Authorization. `moment` is of the form 20150830T123600Z; `scope` is `region/service`."""
    whole_scope = f"{moment[:8]}/{scope}/aws4_request"
    text = "\n".join(
        (ALGORITHM, moment, whole_scope, hashlib.sha256(canonical(request).encode()).hexdigest())
    )
    key = f"AWS4{credentials.secret}".encode()
    for part in whole_scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    names = ";".join(sorted(name.lower() for name in request.headers))
    said = f"Credential={credentials.key_id}/{whole_scope}, SignedHeaders={names}, Signature={signature}"
    return f"{ALGORITHM} {said}"


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs requests to one service. `service` is `es` for a domain, `aoss` for serverless collections."""

    credentials: Credentials
    region: str
    service: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def headers(self, method: str, host: str, target: str, body: bytes | None) -> dict[str, str]:
        """What a request carries; `host` as it is sent, with its port where that is not the usual one."""
        moment = self.now().strftime("%Y%m%dT%H%M%SZ")
        content = hashlib.sha256(body or b"").hexdigest()
        given = {"Host": host, "X-Amz-Date": moment, "X-Amz-Content-Sha256": content}
        if self.credentials.token:
            given["X-Amz-Security-Token"] = self.credentials.token
        request = Request(method, target, given, content)
        signed = authorization(self.credentials, f"{self.region}/{self.service}", moment, request)
        return {**given, "Authorization": signed}
