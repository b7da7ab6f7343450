"""Ends with status 0 if the service on a port of this machine answers, by HTTP or by HTTPS; the container
asks this of it."""

import http.client
import ssl
import sys

_SECONDS = 2.0


def answers(connection: http.client.HTTPConnection) -> bool:
    """Return whether the service says that it is well."""
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main() -> int:
    """Ask both ways: the settings say which one is served, and are not read here."""
    port = int(sys.argv[1])
    # The certificate names the service as clients call it, and never this machine itself; nothing is sent to
    # whoever answers.
    unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
    ways = (
        http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS),
        http.client.HTTPSConnection("127.0.0.1", port, timeout=_SECONDS, context=unchecked),
    )
    return 0 if any(answers(way) for way in ways) else 1


if __name__ == "__main__":
    sys.exit(main())
