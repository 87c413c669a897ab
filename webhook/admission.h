// The admission endpoint without its socket: which path does what, from the body of an AdmissionReview to the body of
// the answer. Pure. Any thread.
#pragma once

#include "base/result.h"
#include "webhook/options.h"
#include "webhook/view.h"

#include <string>
#include <string_view>

namespace muster::webhook {

// kNotFound: no such path. kInvalid, kTooLarge: no review, with the field's path. kUnavailable: the view does not know
// enough yet, ask again soon. A review that can be read always gets an answer, be it a refusal.
Result<std::string> review(std::string_view path, std::string_view body, const View& view, const Options& options);

// Is there an endpoint of that path?
bool is_endpoint(std::string_view path);

}  // namespace muster::webhook
