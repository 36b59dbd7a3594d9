#pragma once
#include <Poco/Net/StreamSocket.h>

#include <stdexcept>
#include <string>

namespace indx {

/// A handshake that did not succeed; `what` says why.
struct TlsFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Speaks TLS 1.2 or newer as the client over a connected, blocking socket, which keeps its file
/// descriptor. The server's certificate must be valid for `host`, a name or an address, by the
/// system's authorities. Throws TlsFailure; the socket that is given back throws Poco's exceptions
/// as any other.
Poco::Net::StreamSocket attach_tls(const Poco::Net::StreamSocket& socket, const std::string& host);

}  // namespace indx
