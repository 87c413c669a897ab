// Between Beast's messages and ours. Pure.
#pragma once

#include "net/server.h"

#include <boost/asio/ip/address.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>

#include <string>

namespace muster::net::beast {

enum class Ending { kKeepAlive, kClose };
enum class Body { kSent, kOmitted };  // omitted: the answer to a HEAD

// An IPv4 address that arrived at a dual-stack socket is printed as IPv4.
std::string printed_address(const boost::asio::ip::address& address);

// Fills all but the peer. False: the target is not a path.
bool to_server_request(boost::beast::http::request<boost::beast::http::string_body> message, ServerRequest& request);

// True if status and headers can be sent as they are.
bool is_sendable(const Response& response);
Response plain_answer(int status, std::string text);
boost::beast::http::response<boost::beast::http::string_body> to_message(Response response, Ending ending, Body body);

// The status that answers a request that failed to parse; 0: nobody is there to read an answer.
int status_of(const boost::system::error_code& error);

}  // namespace muster::net::beast
