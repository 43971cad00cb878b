"""Names and limits of the Tutti integration."""

from typing import Final

DOMAIN: Final = "tutti"
DEFAULT_PORT: Final = 8770
# The key that the household has given to this Home Assistant, as a cookie's value.
CONF_KEY: Final = "key"
# What one answer of the household may take, in bytes: a library's longest lists stay far below.
BODY_LIMIT: Final = 16 << 20
# Seconds.
REQUEST_TIMEOUT: Final = 10
# The household sends a comment every ten seconds, so that a connection that is quiet for longer is dead.
SILENCE_LIMIT: Final = 25
LONGEST_RETRY: Final = 8
