#include "cli/cli.h"

int main(int argc, char** argv) {
  return tlstrata::cli::run(argc, argv);
}
