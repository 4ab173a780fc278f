# Run by cpack before it builds the packages: puts the licence where Debian expects it in each package.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(documents "${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share/doc/${package}")
  configure_file("${CPACK_RESOURCE_FILE_LICENSE}" "${documents}/copyright" COPYONLY)
endforeach()
