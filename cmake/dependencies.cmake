# What the layers link from outside; why each is there: docs/adr/0007-dependencies.md.
#
# TLSTRATA_OPENSSL is the prefix that tools/openssl.sh printed, or "system". The binary gets a RUNPATH to it.
set(TLSTRATA_OPENSSL "system" CACHE STRING "OpenSSL >= 3.5: a prefix, or \"system\"")
if(NOT TLSTRATA_OPENSSL STREQUAL "system")
  set(OPENSSL_ROOT_DIR ${TLSTRATA_OPENSSL})
  set(CMAKE_BUILD_RPATH ${TLSTRATA_OPENSSL}/lib)
endif()
find_package(OpenSSL 3.5 REQUIRED)

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
# Its header only: the library is loaded when it is needed (src/capture/pcap_library.h).
pkg_check_modules(pcap REQUIRED libpcap)
add_library(pcap_header INTERFACE)
target_include_directories(pcap_header SYSTEM INTERFACE ${pcap_INCLUDE_DIRS})
target_link_libraries(pcap_header INTERFACE ${CMAKE_DL_LIBS})
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(cares REQUIRED IMPORTED_TARGET libcares)
pkg_check_modules(nghttp2 REQUIRED IMPORTED_TARGET libnghttp2)

# tlstrata-mpi alone uses it. TLSTRATA_MPI: AUTO (where it is found), ON (must be) or OFF.
set(TLSTRATA_MPI AUTO CACHE STRING "Build tlstrata-mpi: AUTO, ON or OFF")
set(TLSTRATA_WITH_MPI OFF)
if(TLSTRATA_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  if(TLSTRATA_MPI STREQUAL "AUTO" AND NOT "$ENV{CI}" STREQUAL "true")  # where nothing may be left out
    find_package(MPI QUIET COMPONENTS CXX)
  else()
    find_package(MPI REQUIRED COMPONENTS CXX)
  endif()
  set(TLSTRATA_WITH_MPI ${MPI_CXX_FOUND})
endif()
