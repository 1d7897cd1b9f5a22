# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# Installs troupe.pc, for projects without CMake: g++ -std=c++20 program.cpp $(pkg-config --cflags --libs troupe)
#
# The archives refer to each other, so they are one group. All paths are relative to the file, so that the installation
# can be moved.
get_property(archives GLOBAL PROPERTY TROUPE_ARCHIVES)
list(SORT archives)
list(TRANSFORM archives PREPEND -l)
list(JOIN archives " " archives)
file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/troupe.pc @ONLY CONTENT [=[
prefix=${pcfiledir}/@up@
Name: Troupe
Description: a GPU, or the host engine, behind supervised actors
Version: @PROJECT_VERSION@
Cflags: -I${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
Libs: -L${prefix}/@CMAKE_INSTALL_LIBDIR@ -Wl,--start-group @archives@ -Wl,--end-group -pthread -ldl
]=])
install(FILES ${PROJECT_BINARY_DIR}/troupe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT troupe_development)
