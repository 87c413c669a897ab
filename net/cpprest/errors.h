// Mapping of the library's failures to Errors. Pure.
#pragma once

#include "base/result.h"
#include "net/cpprest/exchange.h"

#include <string>

namespace muster::net::cpprest {

// `where` names the request in the message: "GET https://host/path".
Error to_error(const Failure& failure, const std::string& where);
// The pooled connection turned out to be closed while the request was being written: the peer cannot have read all.
bool is_stale_connection(const Failure& failure);

}  // namespace muster::net::cpprest
