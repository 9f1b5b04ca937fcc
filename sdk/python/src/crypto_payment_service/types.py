"""What is sent and answered, as the API reference names it."""

from ._generated.types import *  # noqa: F403
