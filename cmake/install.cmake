# What `cmake --install` puts where; every path is relative to the prefix, and the programs find all by $ORIGIN, so that an
# installation can be moved. What is in which package: cmake/package.cmake.
#
#   bin/tlstrata                      RUNPATH to the next line
#   lib/tlstrata/                     the provider; libraries that the target's system may lack (private OpenSSL; in the tarball more)
#   share/man/man1, share/bash-completion/completions, share/zsh/vendor-completions, share/doc/tlstrata
#
# tlstrata_install_program(TARGET COMPONENT): a program of ours with its man pages and completions. Another program
# (tlstrata-mpi) becomes a package of its own by a component of its own.
include(GNUInstallDirs)
set(TLSTRATA_LIBRARY_FOLDER lib/tlstrata)
set(TLSTRATA_PROGRAMS "")
# What is built for a package says which targets it needs; installing must not build the tests.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)

# tlstrata_runpath(TARGET INSTALLED), tlstrata_install_runpath(FOLDER FILE INSTALLED COMPONENT): what CMake does by itself, but
# for one thing: it keeps room for the installed RUNPATH with a colon at the end, and an empty element is the folder that
# one happens to be in. Whoever reads a stranger's captures must not load libraries that lie beside them.
function(tlstrata_runpath target installed)
  set(runpath "${installed}")
  if(NOT TLSTRATA_OPENSSL STREQUAL "system")
    set(runpath "${TLSTRATA_OPENSSL}/lib")
    string(LENGTH "${installed}" needed)
    string(LENGTH "${runpath}" length)
    while(length LESS needed)
      string(APPEND runpath "/.")
      string(LENGTH "${runpath}" length)
    endwhile()
  endif()
  set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${runpath}")
endfunction()

function(tlstrata_install_runpath folder file installed component)
  string(REPLACE "$" "\\\$" installed "${installed}")
  install(CODE "file(RPATH_SET FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/${file}\" NEW_RPATH \"${installed}\")"
          COMPONENT ${component})
endfunction()

function(tlstrata_install_program target component)
  set(manual ${PROJECT_BINARY_DIR}/manual/${target})
  add_custom_command(
    OUTPUT ${manual}/.made
    COMMAND $<TARGET_FILE:${target}> --write-manual ${manual}
    COMMAND ${CMAKE_COMMAND} -E touch ${manual}/.made
    DEPENDS ${target}
    COMMENT "Writing man pages and completions of ${target}"
    VERBATIM)
  add_custom_target(${target}_pages ALL DEPENDS ${manual}/.made)
  add_dependencies(tlstrata_installed ${target} ${target}_pages)
  set_property(GLOBAL APPEND PROPERTY TLSTRATA_INSTALLED $<TARGET_FILE:${target}>)
  tlstrata_runpath(${target} "$ORIGIN/../${TLSTRATA_LIBRARY_FOLDER}")
  install(TARGETS ${target} RUNTIME DESTINATION bin COMPONENT ${component})
  tlstrata_install_runpath(bin $<TARGET_FILE_NAME:${target}> "$ORIGIN/../${TLSTRATA_LIBRARY_FOLDER}" ${component})
  install(DIRECTORY ${manual}/man/ DESTINATION share/man/man1 COMPONENT ${component})
  install(DIRECTORY ${manual}/bash/ DESTINATION share/bash-completion/completions COMPONENT ${component})
  install(DIRECTORY ${manual}/zsh/ DESTINATION share/zsh/vendor-completions COMPONENT ${component})
endfunction()

add_custom_target(tlstrata_installed)
add_dependencies(tlstrata_installed tlstrata_provider)
tlstrata_install_program(tlstrata tlstrata)
if(TARGET tlstrata-mpi)
  tlstrata_install_program(tlstrata-mpi mpi)
endif()

tlstrata_runpath(tlstrata_provider "$ORIGIN")
install(TARGETS tlstrata_provider LIBRARY DESTINATION ${TLSTRATA_LIBRARY_FOLDER} COMPONENT tlstrata)
tlstrata_install_runpath(${TLSTRATA_LIBRARY_FOLDER} $<TARGET_FILE_NAME:tlstrata_provider> "$ORIGIN" tlstrata)

# tlstrata_install_libraries(COMPONENT NAME...): of the libraries that the program is linked to, those of these names, from
# where they are found now and under their soname. Further words for install() stand in TLSTRATA_INSTALL_WORDS.
function(tlstrata_install_libraries component)
  list(JOIN ARGN "|" names)
  install(CODE "set(tlstrata_program \"$<TARGET_FILE:tlstrata>\")
set(tlstrata_names \"${names}\")
set(tlstrata_destination \"${TLSTRATA_LIBRARY_FOLDER}\")
set(tlstrata_strip \"${CMAKE_STRIP}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/install_libraries.cmake\")" COMPONENT ${component} ${TLSTRATA_INSTALL_WORDS})
endfunction()
# A private OpenSSL says that the package goes to systems without one, of several releases: fmt has another soname in each,
# toml++ another package name. The tarball has in any case what a system may lack where nothing can be installed; C and
# C++ libraries, zlib and zstd are everywhere.
set(own ssl crypto fmt tomlplusplus)
set(carried nghttp2 cares)
if(NOT TLSTRATA_OPENSSL STREQUAL "system")
  tlstrata_install_libraries(tlstrata ${own})
else()
  list(APPEND carried ${own})
endif()
set(TLSTRATA_INSTALL_WORDS EXCLUDE_FROM_ALL)
tlstrata_install_libraries(carried ${carried})
# The licence of some of them, which Debian's systems have elsewhere.
install(FILES packaging/Apache-2.0 DESTINATION share/doc/tlstrata COMPONENT carried EXCLUDE_FROM_ALL)

install(FILES CHANGELOG.md RENAME changelog DESTINATION share/doc/tlstrata COMPONENT tlstrata)
install(FILES README.md docs/measurement.md docs/handshake.md docs/provider.md docs/tshark.md
        DESTINATION share/doc/tlstrata COMPONENT tlstrata)
install(FILES packaging/copyright DESTINATION share/doc/tlstrata COMPONENT tlstrata)
