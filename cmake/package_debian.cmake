# Runs in cpack when everything is installed into its staging folder and nothing is packed yet: what Debian's policy wants of
# files that `cmake --install` leaves plain.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
find_program(GZIP gzip REQUIRED)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_TLSTRATA_COMPONENTS)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(usr ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr)
  if(NOT IS_DIRECTORY ${usr}/bin)
    message(FATAL_ERROR "nothing was staged for ${package} in ${usr}")
  endif()
  set(doc ${usr}/share/doc/${package})
  file(MAKE_DIRECTORY ${doc})
  file(COPY ${CPACK_TLSTRATA_SOURCE}/packaging/copyright DESTINATION ${doc})
  file(WRITE ${doc}/changelog.Debian
       "${package} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
       "  * Built from the sources; what changed stands in the changelog of tlstrata.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
  file(GLOB plain ${usr}/share/man/man1/*.1 ${doc}/changelog ${doc}/changelog.Debian)
  execute_process(COMMAND ${GZIP} -9nf ${plain} COMMAND_ERROR_IS_FATAL ANY)
  if(EXISTS ${CPACK_TLSTRATA_SOURCE}/packaging/${package}.lintian-overrides)
    file(MAKE_DIRECTORY ${usr}/share/lintian/overrides)
    configure_file(${CPACK_TLSTRATA_SOURCE}/packaging/${package}.lintian-overrides ${usr}/share/lintian/overrides/${package}
                   COPYONLY)
  endif()
endforeach()
# Private libraries come with the package tlstrata; dpkg-shlibdeps would look for those of the system. cpack lets it run in the
# component's folder and then removes debian/ there.
file(GLOB private RELATIVE ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/tlstrata/usr/lib/tlstrata
     ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/tlstrata/usr/lib/tlstrata/lib*.so.*)
foreach(component IN LISTS CPACK_TLSTRATA_COMPONENTS)
  if(NOT component STREQUAL "tlstrata")
    set(local ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/debian/shlibs.local)
    # Debian 12 and 13 have the same libmpi.so.40 in packages of different names.
    file(WRITE ${local} "libmpi 40 libopenmpi40 | libopenmpi3\n")
    foreach(library IN LISTS private)
      string(REGEX REPLACE "^(.*)\\.so\\.(.*)$" "\\1 \\2 tlstrata\n" line ${library})
      file(APPEND ${local} "${line}")
    endforeach()
  endif()
endforeach()
