// What is refused before the library sees it: requests and addresses that it would mishandle. Pure.
#pragma once

#include "base/result.h"
#include "net/tls.h"
#include "net/transport.h"

namespace muster::net::cpprest {

bool is_https(const Credentials& credentials);
// GET, HEAD, OPTIONS: may be repeated at will.
bool changes_nothing(const Request& request);

// kInvalid for a URL that is not http(s)://host[:port][/path], an IPv6 literal, https without CA, a certificate
// without its key, or secrets over plain HTTP to another machine.
Status check_credentials(const Credentials& credentials);
// kInvalid for a target or header that could change the message's meaning, or a header that is the backend's business.
Status check_request(const Request& request);

}  // namespace muster::net::cpprest
