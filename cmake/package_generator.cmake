# Read by cpack once for each kind of package: which components, and where they go.
if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_COMPONENTS_ALL ${CPACK_TLSTRATA_COMPONENTS})
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  # Else it is put before each component's own.
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
else()
  set(CPACK_COMPONENTS_ALL ${CPACK_TLSTRATA_COMPONENTS} carried)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
