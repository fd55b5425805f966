# tlstrata_apply_options(TARGET): our warnings, sanitizers and include root, for a target of ours.
function(tlstrata_apply_options target)
  target_link_libraries(${target} PRIVATE tlstrata_options)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()

# tlstrata_layer(NAME [USES layer...] [LIBRARIES target...]): the static library of src/NAME. See layers.cmake.
set_property(GLOBAL PROPERTY TLSTRATA_LAYERS "")
function(tlstrata_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "USES;LIBRARIES")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp ${PROJECT_SOURCE_DIR}/src/${name}/*.h)
  list(FILTER sources EXCLUDE REGEX "/main[.]cpp$")  # an executable's own
  if(NOT sources)
    add_library(tlstrata_${name} INTERFACE)
    return()
  endif()
  add_library(tlstrata_${name} STATIC ${sources})
  set_target_properties(tlstrata_${name} PROPERTIES LINKER_LANGUAGE CXX)
  tlstrata_apply_options(tlstrata_${name})
  list(TRANSFORM layer_USES PREPEND tlstrata_ OUTPUT_VARIABLE used)
  target_link_libraries(tlstrata_${name} PUBLIC ${used} ${layer_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY TLSTRATA_LAYERS ${name})
endfunction()
