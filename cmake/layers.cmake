# The walls: each folder of src/ is one step of the way that bytes take, one namespace, one static library.
#
# tlstrata_layer(NAME USES folders that its files may include and that it links
#                     LIBRARIES what it links from outside)
#
# This is the only copy of the table. tests/lint/includes.py reads it and fails on an include that it lacks; HACKING.md
# explains it. To add an edge, change this file and say why in an ADR.
tlstrata_layer(base      LIBRARIES fmt::fmt)
tlstrata_layer(ossl      USES base LIBRARIES OpenSSL::SSL OpenSSL::Crypto)
tlstrata_layer(io        USES base LIBRARIES Threads::Threads)
tlstrata_layer(capture   USES base io LIBRARIES pcap_header ZLIB::ZLIB PkgConfig::zstd Threads::Threads)
tlstrata_layer(tcp       USES base capture)
tlstrata_layer(tls       USES base ossl tcp)
tlstrata_layer(http      USES base tcp tls LIBRARIES PkgConfig::nghttp2)
tlstrata_layer(strata    USES base tcp tls http)
tlstrata_layer(analyze   USES base io capture tcp tls http strata LIBRARIES Threads::Threads)
tlstrata_layer(stats     USES base LIBRARIES Boost::headers)
tlstrata_layer(model     USES base)
tlstrata_layer(report    USES base io tcp strata stats LIBRARIES nlohmann_json::nlohmann_json)
tlstrata_layer(compare   USES base io strata stats report LIBRARIES nlohmann_json::nlohmann_json)
tlstrata_layer(load      USES base io capture ossl stats LIBRARIES PkgConfig::nghttp2)
tlstrata_layer(serve     USES base io ossl)
tlstrata_layer(handshake USES base ossl stats LIBRARIES Threads::Threads)
tlstrata_layer(probe     USES base io ossl LIBRARIES PkgConfig::cares Threads::Threads)
tlstrata_layer(testbed   USES base io)
tlstrata_layer(lab       USES base ossl io capture tcp tls http strata analyze stats report load serve testbed
                         LIBRARIES nlohmann_json::nlohmann_json tomlplusplus::tomlplusplus)
tlstrata_layer(manual    USES base io LIBRARIES CLI11::CLI11)
tlstrata_layer(cli       USES base ossl io capture tcp tls http strata analyze stats model report compare load serve handshake
                         probe testbed lab manual LIBRARIES CLI11::CLI11 nlohmann_json::nlohmann_json)

if(TLSTRATA_WITH_MPI)
  tlstrata_layer(mpi     USES base ossl io capture tcp tls http strata analyze stats report load manual cli
                         LIBRARIES CLI11::CLI11 nlohmann_json::nlohmann_json MPI::MPI_CXX)
endif()

target_compile_definitions(tlstrata_base PRIVATE TLSTRATA_VERSION="${PROJECT_VERSION}")

# With sanitizers optimising is most of the compiler's work. What is fuzzed stays fast; these are not fuzzed.
if(TLSTRATA_SANITIZERS)
  foreach(layer IN ITEMS lab manual cli mpi)
    if(TARGET tlstrata_${layer})
      target_compile_options(tlstrata_${layer} PRIVATE -O0)
    endif()
  endforeach()
endif()
