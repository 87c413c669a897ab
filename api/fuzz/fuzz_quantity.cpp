// Any text as quantity, time and duration; what is read must print and read back to the same value.
#include "base/check.h"
#include "base/quantity.h"
#include "base/time.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;  // NOLINT(google-build-using-namespace)
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* resource : {"cpu", "memory", "pods"}) {
    const auto amount = parse_amount(resource, text);
    if (amount.ok() && *amount != kUnlimited) {
      MUSTER_CHECK(parse_amount(resource, format_amount(resource, *amount)).value() == *amount) << text;
    }
  }
  if (const auto time = parse_rfc3339(text); time.ok()) {
    MUSTER_CHECK(format_rfc3339(*time).size() == 20) << text;
  }
  if (const auto duration = parse_duration(text); duration.ok()) {
    const auto again = parse_duration(format_duration(*duration));
    MUSTER_CHECK(!again.ok() || *again == *duration) << text;
  }
  return 0;
}
