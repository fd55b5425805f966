#include "mpi/commands.h"

int main(int argc, char** argv) {
  return tlstrata::mpi::run(argc, argv);
}
