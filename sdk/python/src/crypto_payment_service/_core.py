"""Requests to the API: retries with one idempotency key, time-outs, pages, and errors with their request ids."""

from __future__ import annotations

import random
import re
import time
import uuid
from typing import (
    Any,
    Callable,
    Dict,
    Generic,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Set,
    Tuple,
    Type,
    TypeVar,
    Union,
)
from urllib.parse import quote, urlencode

import httpx

from ._json import decode, encode
from .errors import ApiConnectionError, ApiError, class_of

Page = TypeVar("Page", bound=Mapping[str, Any])
Row = TypeVar("Row", bound=Mapping[str, Any])


class Operation(NamedTuple):
    """A call, as the API reference describes it."""

    method: str
    path: str
    #: Whether the payload is in `{ok, data}`.
    wrapped: bool
    #: Where an idempotency key goes: header or body.
    key: Optional[str] = None
    #: How its list goes on: page, cursor or after.
    pages: Optional[str] = None


class Options(NamedTuple):
    idempotency_key: Optional[str]
    timeout: Optional[float]
    max_retries: Optional[int]
    headers: Optional[Mapping[str, str]]


class Settings(NamedTuple):
    base_url: str
    api_key: str
    max_retries: int
    timeout: float
    max_pause: float
    user_agent: str


class _Attempt(NamedTuple):
    method: str
    url: str
    headers: Dict[str, str]
    content: Optional[bytes]
    key: Optional[str]
    may_repeat: bool


class Listing(Generic[Page, Row]):
    """A list that is asked for when it is iterated, not before. Iterated, it is every row of every page, each once."""

    def __init__(self, kind: str, query: Mapping[str, Any], ask: Callable[[Mapping[str, Any]], Page]) -> None:
        self._kind = kind
        self._query = query
        self._ask = ask

    def first(self) -> Page:
        """The first page, with its total where the list has one."""
        return self._ask(self._query)

    def pages(self) -> Iterator[Page]:
        """Each page, one after the other, as it is needed."""
        query = self._query
        while True:
            page = self._ask(query)
            yield page
            further = self._next(query, page)
            if further is None:
                return
            query = {**self._query, **further}

    def __iter__(self) -> Iterator[Row]:
        """A row that moves to the next page, because new ones came before it, is not given twice."""
        seen: Set[Any] = set()
        for page in self.pages():
            for item in _items_of(page):
                row_id = item.get("_id", item.get("id"))
                if row_id is not None and row_id in seen:
                    continue
                seen.add(row_id)
                yield item

    def _next(self, query: Mapping[str, Any], page: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        cursor = page.get("nextCursor")
        if self._kind == "cursor":
            return {"cursor": cursor} if isinstance(cursor, str) else None
        if self._kind == "after":
            return {"after": cursor} if page.get("hasMore") is True else None
        if not _items_of(page):
            return None
        current = query.get("page") or 1
        limit = min(query.get("limit") or 50, 100)
        return {"page": current + 1} if current * limit < page["total"] else None


class Core:
    def __init__(
        self,
        settings: Settings,
        http: httpx.Client,
        codes_by_text: Mapping[str, str],
        classes: Mapping[str, Type[ApiError]],
    ) -> None:
        if not re.fullmatch(r"https?://[^/?#\s]+/?", settings.base_url):
            raise ValueError("base_url has to be an origin, such as https://payments.example.com")
        if not settings.api_key:
            raise ValueError("api_key is missing")
        self._settings = settings
        self._http = http
        self._codes = codes_by_text
        self._classes = classes

    def request(
        self,
        operation: Operation,
        *,
        options: Options,
        path: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
    ) -> Any:
        """The payload of a success. Raises ApiError or ApiConnectionError."""
        attempt = self._attempt(operation, options, path or {}, query or {}, body)
        retries = self._settings.max_retries if options.max_retries is None else options.max_retries
        n = 0
        while True:
            try:
                payload = self._send(attempt, self._settings.timeout if options.timeout is None else options.timeout)
                return payload["data"] if operation.wrapped else payload
            except (ApiError, ApiConnectionError) as error:
                pause = self._pause(error, attempt, n) if n < retries else None
                if pause is None:
                    raise
            time.sleep(pause)
            n += 1

    def list(
        self,
        operation: Operation,
        *,
        options: Options,
        path: Optional[Mapping[str, str]] = None,
        query: Optional[Mapping[str, Any]] = None,
    ) -> Listing[Any, Any]:
        def ask(asked: Mapping[str, Any]) -> Any:
            return self.request(operation, options=options, path=path, query=asked)

        return Listing(operation.pages or "page", query or {}, ask)

    def _attempt(
        self,
        operation: Operation,
        options: Options,
        path: Mapping[str, str],
        query: Mapping[str, Any],
        body: Optional[Mapping[str, Any]],
    ) -> _Attempt:
        key: Optional[str] = None
        if operation.key:
            key = options.idempotency_key or (body or {}).get("idempotencyKey") or str(uuid.uuid4())
        if operation.key == "body":
            body = {**(body or {}), "idempotencyKey": key}
        headers = dict(options.headers or {})
        headers["Authorization"] = f"Bearer {self._settings.api_key}"
        headers["Accept"] = "application/json"
        headers["User-Agent"] = self._settings.user_agent
        if operation.key == "header" and key is not None:
            headers["Idempotency-Key"] = key
        if body is not None:
            headers["Content-Type"] = "application/json"
        given = [(name, _as_query(value)) for name, value in query.items() if value is not None]
        filled = re.sub(r"\{(\w+)\}", lambda found: _segment(found[1], path.get(found[1])), operation.path)
        return _Attempt(
            method=operation.method,
            url=self._settings.base_url.rstrip("/") + filled + (f"?{urlencode(given)}" if given else ""),
            headers=headers,
            content=None if body is None else encode(body).encode(),
            key=key,
            may_repeat=key is not None or operation.method != "POST",
        )

    def _send(self, attempt: _Attempt, timeout: float) -> Any:
        # The API takes this id for its own, so that an attempt without an answer is found in its logs too.
        given = [value for name, value in attempt.headers.items() if name.lower() == "x-request-id"]
        request_id = given[0] if given else uuid.uuid4().hex

        def lost(words: str) -> ApiConnectionError:
            return ApiConnectionError(
                f"{words} from {attempt.method} {attempt.url}", request_id=request_id, idempotency_key=attempt.key
            )

        try:
            status, headers, content = self._exchange(attempt, request_id, timeout)
        except httpx.TimeoutException as error:
            raise lost("No answer in time") from error
        except httpx.RequestError as error:
            raise lost("No answer") from error
        request_id = headers.get("x-request-id", request_id)
        try:
            body = decode(content)
        except ValueError as error:
            if 200 <= status < 300:
                raise lost("Half an answer") from error
            body = None  # what a proxy says
        if 200 <= status < 300:
            return body
        raise self._refusal(status, headers, body if isinstance(body, dict) else {}, request_id)

    def _exchange(self, attempt: _Attempt, request_id: str, timeout: float) -> Tuple[int, httpx.Headers, bytes]:
        """One attempt. The time-out is of the whole attempt: a server that drips its answer does not prolong it."""
        end = time.monotonic() + timeout
        with self._http.stream(
            attempt.method,
            attempt.url,
            headers=httpx.Headers({"X-Request-Id": request_id, **attempt.headers}),
            content=attempt.content,
            timeout=timeout,
            follow_redirects=False,
        ) as response:
            chunks: List[bytes] = []
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                if time.monotonic() > end:
                    raise httpx.ReadTimeout("The answer takes too long")
            return response.status_code, response.headers, b"".join(chunks)

    def _refusal(self, status: int, headers: httpx.Headers, body: Dict[str, Any], request_id: str) -> ApiError:
        """The exception of one of the three shapes: envelope A, envelope B, flat."""
        error = body.get("error")
        code: Any
        if isinstance(error, dict):
            fields = dict(error)
            code = fields.pop("code", None)
            message = fields.pop("message", None)
        else:
            fields = {name: value for name, value in body.items() if name not in ("error", "message")}
            message = body.get("message") or error
            is_flat = isinstance(body.get("message"), str)
            code = error if is_flat else self._codes.get(f"{status} {error}", self._codes.get(f"default {error}"))
        code = code if isinstance(code, str) else f"HTTP_{status}"
        return self._classes.get(code, class_of(status))(
            message if isinstance(message, str) else f"The API answered {status}",
            status=status,
            code=code,
            request_id=request_id,
            retry_after=_seconds(headers.get("retry-after")),
            data=fields,
        )

    def _pause(self, error: Union[ApiError, ApiConnectionError], attempt: _Attempt, n: int) -> Optional[float]:
        """How long to wait before attempt n + 2; None where a repeat is of no use, or might do a thing twice."""
        refusal = error if isinstance(error, ApiError) else None
        is_busy = refusal is not None and refusal.status == 429 and refusal.code == "RATE_LIMITED"
        is_away = refusal is None or refusal.status in (502, 503, 504)
        is_running = refusal is not None and refusal.code == "CONVERSION_IN_PROGRESS"
        if not is_busy and not (attempt.may_repeat and (is_away or is_running)):
            return None
        backoff = min(8.0, 0.5 * 2**n) * random.uniform(0.5, 1)
        asked = refusal.retry_after if refusal is not None else None
        pause = max(backoff, asked or 0.0)
        return pause if pause <= self._settings.max_pause else None


def _items_of(page: Mapping[str, Any]) -> List[Any]:
    items = page.get("items")
    if not isinstance(items, list):
        raise TypeError("The answer has no list")
    return items


def _segment(name: str, value: Any) -> str:
    if not isinstance(value, str) or value == "":
        raise ValueError(f"{name} is missing")
    if value in (".", ".."):
        raise ValueError(f"{name} is no id")
    return quote(value, safe="")


def _as_query(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _seconds(text: Optional[str]) -> Optional[float]:
    return float(text) if text is not None and re.fullmatch(r"\d{1,9}", text) else None
