# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# find_package(troupe) for other projects.
include(CMakePackageConfigHelpers)
set(dir ${CMAKE_INSTALL_LIBDIR}/cmake/troupe)
install(TARGETS troupe_settings EXPORT troupe_targets)
install(EXPORT troupe_targets NAMESPACE troupe:: DESTINATION ${dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/troupe-config.cmake.in ${PROJECT_BINARY_DIR}/troupe-config.cmake INSTALL_DESTINATION ${dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/troupe-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/troupe-config.cmake ${PROJECT_BINARY_DIR}/troupe-config-version.cmake DESTINATION ${dir})
