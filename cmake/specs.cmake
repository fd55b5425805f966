# specs/*.toml become part of the program, byte for byte: the one copy stays in specs/. Adds the generated source to
# tlstrata_lab.
file(GLOB specs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/specs/*.toml)
set(TLSTRATA_SPEC_ENTRIES "")
foreach(spec IN LISTS specs)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${spec})
  get_filename_component(name ${spec} NAME_WE)
  file(READ ${spec} text)
  string(APPEND TLSTRATA_SPEC_ENTRIES "    BuiltinSpec{\"${name}\", R\"==spec==(${text})==spec==\"},\n")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/src/lab/builtin_specs.cpp.in ${PROJECT_BINARY_DIR}/generated/builtin_specs.cpp @ONLY)
target_sources(tlstrata_lab PRIVATE ${PROJECT_BINARY_DIR}/generated/builtin_specs.cpp)
