# provider/: a module that OpenSSL loads. It is built beside the program, which looks for it there (and in
# ../lib/tlstrata of an installation).
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/provider/*.cpp ${PROJECT_SOURCE_DIR}/provider/*.h)
add_library(tlstrata_provider MODULE ${sources})
tlstrata_apply_options(tlstrata_provider)
target_include_directories(tlstrata_provider PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(tlstrata_provider PRIVATE OpenSSL::Crypto)
target_compile_definitions(tlstrata_provider PRIVATE TLSTRATA_VERSION="${PROJECT_VERSION}")
# Its callers are C: nothing may be thrown across, so nothing can be thrown.
target_compile_options(tlstrata_provider PRIVATE -fno-exceptions -fno-rtti)
target_link_options(tlstrata_provider PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/provider/exports.map)
set_target_properties(tlstrata_provider PROPERTIES
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/provider/exports.map
  OUTPUT_NAME tlstrata-provider PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
