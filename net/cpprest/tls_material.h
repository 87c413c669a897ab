// TlsMaterial: what new TLS connections trust and present, re-read when the files change. Thread-safe; called by the
// library for every new connection.
#pragma once

#include "base/result.h"
#include "net/tls.h"

#include <boost/asio/ssl/context.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace muster::net::cpprest {

class TlsMaterial {
 public:
  // Reads everything once, so that a wrong file is an Error at start.
  static Result<std::shared_ptr<TlsMaterial>> create(const Credentials& credentials);

  // Sets the context up: our roots only, TLS 1.2 or later, the client certificate. Throws boost::system::system_error,
  // which the library turns into a failed request.
  void apply(boost::asio::ssl::context& context);

 private:
  struct Texts {
    std::string ca{};
    std::string certificate{};
    std::string key{};
  };

  explicit TlsMaterial(const Credentials& credentials) : credentials_(credentials) {}

  Result<Texts> read() const;
  // A change that does not parse, or is half done, keeps the former texts and is looked at again next time.
  std::shared_ptr<const Texts> current();

  const Credentials credentials_;
  std::mutex mutex_{};
  std::shared_ptr<const Texts> texts_{};  // guarded by mutex_
  std::uint64_t generation_ = 0;          // guarded by mutex_
};

}  // namespace muster::net::cpprest
