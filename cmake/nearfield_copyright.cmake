# Run by cpack over what it has collected: each Debian package has its licence where Debian looks for it.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(documents "${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share/doc/${package}")
  configure_file("${CPACK_RESOURCE_FILE_LICENSE}" "${documents}/copyright" COPYONLY)
endforeach()
