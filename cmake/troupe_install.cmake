# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
get_property(fuzzers GLOBAL PROPERTY TROUPE_FUZZERS)
if(fuzzers)
  add_custom_target(troupe_fuzzers DEPENDS ${fuzzers})
endif()

# find_package(troupe) for other projects. Components, the worker and engines install themselves.
if(NOT TROUPE_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(dir ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
install(CODE "
  include(\"${PROJECT_SOURCE_DIR}/cmake/troupe_install_headers.cmake\")
  troupe_find_installed_headers(headers \"${PROJECT_SOURCE_DIR}\")
  foreach(header file IN ZIP_LISTS headers headers_FILES)
    cmake_path(GET header PARENT_PATH folder)
    cmake_path(APPEND CMAKE_INSTALL_PREFIX \"${CMAKE_INSTALL_INCLUDEDIR}\" OUTPUT_VARIABLE include)
    file(INSTALL DESTINATION \"\${include}/\${folder}\" TYPE FILE FILES \"\${file}\")
  endforeach()"
  COMPONENT troupe_development)
install(TARGETS troupe_settings EXPORT troupe_targets COMPONENT troupe_development)
install(EXPORT troupe_targets NAMESPACE troupe:: DESTINATION ${dir} COMPONENT troupe_development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/troupe-config.cmake.in ${PROJECT_BINARY_DIR}/troupe-config.cmake
  INSTALL_DESTINATION ${dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/troupe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/troupe-config.cmake ${PROJECT_BINARY_DIR}/troupe-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/troupe_add_engine.cmake ${PROJECT_SOURCE_DIR}/cmake/troupe_check_compiler.cmake
  DESTINATION ${dir} COMPONENT troupe_development)
include(troupe_pkg_config)
# The files that the pages link to are installed beside them as in this tree.
install(FILES LICENSE README.md CONTRIBUTING.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT troupe_development)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT troupe_development FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT troupe_development FILES_MATCHING PATTERN "*.cpp" PATTERN "*.hpp" PATTERN "*.cu" PATTERN "own_actor/CMakeLists.txt")
install(DIRECTORY tests/programs DESTINATION ${CMAKE_INSTALL_DOCDIR}/tests COMPONENT troupe_development FILES_MATCHING PATTERN "*.cpp")
install(DIRECTORY tests/install/project DESTINATION ${CMAKE_INSTALL_DOCDIR}/tests/install COMPONENT troupe_development)
install(DIRECTORY runtime/troupe/actor/example DESTINATION ${CMAKE_INSTALL_DOCDIR}/runtime/troupe/actor COMPONENT troupe_development FILES_MATCHING PATTERN "*.cpp")
