"""Client of the crypto payment service: payments, refunds, conversions, balances and verified webhooks."""

__version__ = "0.1.0"

from . import types, webhooks
from ._client import CryptoPayments
from ._core import Listing
from ._generated import errors as _refusals
from ._generated.errors import *  # noqa: F403
from .errors import (
    ApiConnectionError,
    ApiError,
    AuthenticationError,
    ConflictError,
    CryptoPaymentsError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ServerError,
    WebhookVerificationError,
)

__all__ = [
    "ApiConnectionError",
    "ApiError",
    "AuthenticationError",
    "ConflictError",
    "CryptoPayments",
    "CryptoPaymentsError",
    "InvalidRequestError",
    "Listing",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "ServerError",
    "WebhookVerificationError",
    "types",
    "webhooks",
]
__all__ += _refusals.__all__
