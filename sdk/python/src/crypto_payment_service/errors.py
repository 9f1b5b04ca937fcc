"""What can go wrong, as exceptions that tell whose turn it is. Each has the id of its request."""

from __future__ import annotations

from typing import Any, Dict, Optional, Type


class CryptoPaymentsError(Exception):
    """Everything that this package raises on purpose."""


class ApiConnectionError(CryptoPaymentsError):
    """No answer came: whether the request was carried out is unknown. A repeat with the same key is safe."""

    def __init__(self, message: str, *, request_id: str, idempotency_key: Optional[str]) -> None:
        super().__init__(f"{message} (request {request_id})")
        self.request_id = request_id
        #: The key under which the request was sent, to be sent again.
        self.idempotency_key = idempotency_key


class ApiError(CryptoPaymentsError):
    """The API refused."""

    #: What the refusal carries beside code and message: of RATE_DRIFT a new quote, of BATCH_INVALID the rows.
    data: Any

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        request_id: str,
        retry_after: Optional[float],
        data: Dict[str, Any],
    ) -> None:
        super().__init__(f"{message} ({code}, request {request_id})")
        self.status = status
        self.code = code
        #: Names the request in the logs of the service.
        self.request_id = request_id
        #: Seconds to wait.
        self.retry_after = retry_after
        self.data = data


class InvalidRequestError(ApiError):
    """400, 413, 415: the request must change."""


class AuthenticationError(ApiError):
    """401: the key is wrong, revoked or expired."""


class PermissionDeniedError(ApiError):
    """403: the key may not do this."""


class NotFoundError(ApiError):
    """404: there is no such thing, or it is somebody else's."""


class ConflictError(ApiError):
    """409: the state of the resource does not allow it."""


class RateLimitError(ApiError):
    """429: too many requests, retries included."""


class ServerError(ApiError):
    """5xx."""


class WebhookVerificationError(CryptoPaymentsError):
    """The webhook is not genuine, or not fresh: answer 400, and do nothing else."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        #: missing_header, bad_timestamp, too_old, too_new, bad_signature or bad_body.
        self.reason = reason


_by_status: Dict[int, Type[ApiError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def class_of(status: int) -> Type[ApiError]:
    return _by_status.get(status, ServerError if status >= 500 else InvalidRequestError)
