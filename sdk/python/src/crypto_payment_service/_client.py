from __future__ import annotations

from typing import Optional

import httpx

from . import __version__
from ._core import Core, Settings
from ._generated.errors import CLASSES, CODES_BY_TEXT
from ._generated.resources import Resources


class CryptoPayments(Resources):
    """The API, by resource: `client.payments.create({"amount": 25})`. Safe to share between threads.

    `base_url`: where the API is, without a path. `api_key`: a secret key, on a server only. `max_retries`: how often a
    request is sent again after its first attempt. `timeout`: seconds that one attempt may take. `max_pause`: the
    longest pause that is waited for, `Retry-After` included. `http_client`: sends requests in place of one made here.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        max_retries: int = 3,
        timeout: float = 30.0,
        max_pause: float = 60.0,
        http_client: Optional[httpx.Client] = None,
    ) -> None:
        agent = f"crypto-payment-service-python/{__version__}"
        settings = Settings(base_url, api_key, max_retries, timeout, max_pause, agent)
        self._http = http_client or httpx.Client()
        self._is_own = http_client is None
        super().__init__(Core(settings, self._http, CODES_BY_TEXT, CLASSES))

    def close(self) -> None:
        """Ends the connections; not those of an `http_client` of yours."""
        if self._is_own:
            self._http.close()

    def __enter__(self) -> CryptoPayments:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
