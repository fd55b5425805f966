# Runs at installation: copies the shared libraries `tlstrata_names` (a regular expression, without "lib") of
# `tlstrata_program` to `tlstrata_destination` below the prefix, stripped.
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${tlstrata_program}
     RESOLVED_DEPENDENCIES_VAR found
     PRE_INCLUDE_REGEXES "^lib(${tlstrata_names})\\.so"
     PRE_EXCLUDE_REGEXES ".")
set(folder "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${tlstrata_destination}")
file(MAKE_DIRECTORY "${folder}")
foreach(library IN LISTS found)
  get_filename_component(name "${library}" NAME)
  file(REAL_PATH "${library}" whole)
  message(STATUS "Installing: ${folder}/${name}")
  file(COPY_FILE "${whole}" "${folder}/${name}")
  file(CHMOD "${folder}/${name}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  execute_process(COMMAND "${tlstrata_strip}" --strip-unneeded "${folder}/${name}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
