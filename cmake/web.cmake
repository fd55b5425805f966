# web/ becomes part of the program: one HTML page, its script and style inside, as a constant of tlstrata_report. What npm
# brings lies in web/node_modules, once for all build folders; nothing is made again while nothing changed.
file(GLOB web_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*.js ${PROJECT_SOURCE_DIR}/web/src/*.css
     ${PROJECT_SOURCE_DIR}/web/src/*.html)
set(page ${PROJECT_BINARY_DIR}/generated/report_page.cpp)
add_custom_command(
  OUTPUT ${page}
  COMMAND ${PROJECT_SOURCE_DIR}/tools/web.sh ${page}
  DEPENDS ${web_sources} ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/package.json
          ${PROJECT_SOURCE_DIR}/web/package-lock.json ${PROJECT_SOURCE_DIR}/tools/web.sh
  COMMENT "Making the report's page"
  VERBATIM)
target_sources(tlstrata_report PRIVATE ${page})
# One string literal is all of it.
set_source_files_properties(${page} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
