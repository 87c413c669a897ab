#include "cmd/muster.h"

int main(int argc, char** argv) {
  return muster::run(argc, argv);
}
