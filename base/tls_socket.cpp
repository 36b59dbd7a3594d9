#include "base/tls_socket.hpp"

#include "base/text.hpp"

#include <Poco/Net/IPAddress.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/StreamSocketImpl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>

namespace indx {
namespace {

struct SslDeleter {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
};
using SslContext = std::unique_ptr<SSL_CTX, SslDeleter>;
using SslSession = std::unique_ptr<SSL, SslDeleter>;

/// The first reason in the thread's queue, which is emptied.
std::string ssl_reason() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text == nullptr ? "the handshake failed" : text;
}

/// Calls again what a signal interrupted.
template <typename Io>
int retried(SSL* session, Io io) {
  while (true) {
    ERR_clear_error();
    const int done = io(session);
    const int error = done > 0 ? SSL_ERROR_NONE : SSL_get_error(session, done);
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return done;
  }
}

/// Null, with the reason in `why`, when the system cannot give one.
SSL_CTX* client_context(std::string& why) {
  struct Made {
    SslContext context;
    std::string why;
  };
  static const Made made = [] {  // reading the system's CA certificates takes milliseconds
    SslContext context(SSL_CTX_new(TLS_client_method()));
    if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_default_verify_paths(context.get()) != 1)
      return Made{nullptr, ssl_reason()};
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_mode(context.get(), SSL_MODE_AUTO_RETRY);
    return Made{std::move(context), {}};
  }();
  why = made.why;
  return made.context.get();
}

bool expect_host(SSL* session, const std::string& host) {
  Poco::Net::IPAddress literal;
  if (Poco::Net::IPAddress::tryParse(host, literal))
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), literal.toString().c_str()) == 1;
  SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(session, host.c_str()) == 1 &&
         SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(host.c_str())) == 1;
}

/// The bytes of a connected socket under TLS. As Poco's plain one it is used by one thread at a
/// time; the descriptor may be shut down by another.
class TlsSocketImpl : public Poco::Net::StreamSocketImpl {
 public:
  TlsSocketImpl(Poco::Net::StreamSocket socket, SslSession session)
      : StreamSocketImpl(socket.impl()->sockfd()),
        socket_(std::move(socket)),
        session_(std::move(session)) {}

  int sendBytes(const void* buffer, int length, int /*flags*/) override {
    const int sent =
        retried(session_.get(), [&](SSL* session) { return SSL_write(session, buffer, length); });
    if (sent > 0) return sent;
    throw failure(sent);
  }
  int receiveBytes(void* buffer, int length, int /*flags*/) override {
    const int got =
        retried(session_.get(), [&](SSL* session) { return SSL_read(session, buffer, length); });
    if (got > 0) return got;
    if (SSL_get_error(session_.get(), got) == SSL_ERROR_ZERO_RETURN) return 0;
    throw failure(got);
  }
  int available() override { return SSL_pending(session_.get()); }
  void close() override {
    SSL_shutdown(session_.get());  // tells the end; nobody waits for the answer
    reset();                       // the descriptor is the other socket's
    socket_.close();
  }

 protected:
  ~TlsSocketImpl() override { reset(); }

 private:
  Poco::Net::NetException failure(int result) const {
    if (SSL_get_error(session_.get(), result) == SSL_ERROR_SYSCALL)
      return Poco::Net::ConnectionResetException();
    return Poco::Net::NetException(cat("TLS: ", ssl_reason()));
  }

  Poco::Net::StreamSocket socket_;  // owns the descriptor
  const SslSession session_;        // after it, so that it ends first
};

}  // namespace

Poco::Net::StreamSocket attach_tls(const Poco::Net::StreamSocket& socket, const std::string& host) {
  ERR_clear_error();
  std::string why;
  SSL_CTX* context = client_context(why);
  if (context == nullptr) throw TlsFailure(why);
  SslSession session(SSL_new(context));
  if (!session || !expect_host(session.get(), host) ||
      SSL_set_fd(session.get(), socket.impl()->sockfd()) != 1)
    throw TlsFailure(ssl_reason());
  if (retried(session.get(), SSL_connect) != 1) {
    const auto verdict = SSL_get_verify_result(session.get());
    const auto reason = ssl_reason();
    throw TlsFailure(verdict == X509_V_OK ? reason : X509_verify_cert_error_string(verdict));
  }
  return Poco::Net::StreamSocket(new TlsSocketImpl(socket, std::move(session)));
}

}  // namespace indx
