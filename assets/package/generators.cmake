# The archive holds all components and stands in a folder of its own; the Debian packages are one a component.
if(CPACK_GENERATOR STREQUAL TGZ)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
  set(CPACK_PACKAGE_FILE_NAME accelscope-linux-${CPACK_SYSTEM_PROCESSOR})
  set(CPACK_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(CPACK_PACKAGING_INSTALL_PREFIX "")
endif()
