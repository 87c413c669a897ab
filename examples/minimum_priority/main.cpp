#include "cmd/muster.h"
#include "minimum_priority.h"

int main(int argc, char** argv) {
  return muster::run(argc, argv, {muster::with_plugin<minimum_priority::MinimumPriority>()});
}
