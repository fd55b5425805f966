# Packages, by `cpack` in the build folder (`./run package`): for Debian one a component, and one relocatable tarball of all.
# Why they are as they are: docs/adr/0023-package.md.
set(TLSTRATA_MAINTAINER "" CACHE STRING "Who answers for the package: NAME <ADDRESS> [DEBFULLNAME and DEBEMAIL]")
set(maintainer "${TLSTRATA_MAINTAINER}")
if(NOT maintainer AND DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
if(NOT maintainer)
  set(maintainer "tlstrata developers <tlstrata@invalid.invalid>")
endif()

# A build for Debian 12 is to be older than one of the same version for Debian 13.
set(release "1")
file(STRINGS /etc/os-release system REGEX "^(ID|VERSION_ID)=")
string(REPLACE "\"" "" system "${system}")
if(system MATCHES "ID=debian" AND system MATCHES "VERSION_ID=([0-9]+)")
  set(release "1~deb${CMAKE_MATCH_1}u1")
elseif(system MATCHES "ID=ubuntu" AND system MATCHES "VERSION_ID=([0-9.]+)")
  set(release "1~ubuntu${CMAKE_MATCH_1}.1")
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME tlstrata)
set(CPACK_PACKAGE_VENDOR "")
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
string(TOLOWER "${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" CPACK_PACKAGE_FILE_NAME)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/package_generator.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package_debian.cmake)
set(CPACK_TLSTRATA_SOURCE ${PROJECT_SOURCE_DIR})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release})
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What lies in the package itself is no dependency: for the program that is seen by its RUNPATH, for libssl, which has none, not.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS /usr/${TLSTRATA_LIBRARY_FOLDER})
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_TLSTRATA_PACKAGE_NAME tlstrata)
# libpcap is loaded when it is needed, which no tool sees; t64 is its name since Debian 13. `ip` is what the lab runs.
set(CPACK_DEBIAN_TLSTRATA_PACKAGE_DEPENDS "libpcap0.8t64 | libpcap0.8, iproute2")
set(CPACK_DEBIAN_TLSTRATA_PACKAGE_RECOMMENDS "ca-certificates")
# Not recommended: installing them would start services.
set(CPACK_DEBIAN_TLSTRATA_PACKAGE_SUGGESTS "nginx, haproxy, valgrind, wireshark")
# CPack puts the spaces and dots of a control file into them.
set(CPACK_COMPONENT_TLSTRATA_DESCRIPTION "what post-quantum key exchange costs TLS, layer by layer
tlstrata tells an engineer what a change of TLS 1.3 key exchange costs:
classical (X25519), hybrid (X25519MLKEM768) and pure post-quantum (ML-KEM).

It makes real load against a TLS-terminating proxy, captures the packets,
decrypts them, splits every transaction into five layers, measures CPU and
bytes on both sides, and says with statistics what changed, where and why.")

set(CPACK_DEBIAN_MPI_PACKAGE_NAME tlstrata-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "tlstrata (= ${PROJECT_VERSION}-${release})")
set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin")
set(CPACK_COMPONENT_MPI_DESCRIPTION "tlstrata over many machines, by MPI
tlstrata tells an engineer what a change of TLS 1.3 key exchange costs.

This package makes its load from many machines at once, and analyses many
captures at once, under Open MPI.")

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_TLSTRATA_COMPONENTS tlstrata)
if(TARGET tlstrata-mpi)
  list(APPEND CPACK_TLSTRATA_COMPONENTS mpi)
endif()
include(CPack)
