// Mapping of the library's failures to Errors. Pure.
#pragma once

#include "base/result.h"
#include "net/cpprest/exchange.h"

#include <string>

namespace muster::net::cpprest {

// `where` names the request in the message: "GET https://host/path".
Error to_error(const Failure& failure, const std::string& where);

// Counts the dead pooled connections that one request meets. A request that could not be written completely has not
// been executed, so that it may be sent over another connection whatever its method. The library's pool holds two
// kinds: connections that the peer has closed, where a second failure means that something else is wrong; and ones
// that were never opened, which it leaves behind for each unrepeatable request that failed (they fail with EBADF).
class DeadConnections {
 public:
  // True: another connection is worth a try.
  bool was_one(const Failure& failure);

 private:
  int closed_ = 0;
  int never_opened_ = 0;
};

}  // namespace muster::net::cpprest
