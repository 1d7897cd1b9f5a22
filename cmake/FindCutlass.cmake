# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# find_package(Cutlass MODULE): finds the headers of NVIDIA's CUTLASS: in the tree that CUTLASS_DIR names (a variable of CMake or
# of the environment), or in .deps, where scripts/setup cutlass puts them.
#   TROUPE_CUTLASS_INCLUDE      their folder; TROUPE_CUTLASS_VERSION
set(CUTLASS_DIR "" CACHE PATH "A tree of CUTLASS; empty: what scripts/setup cutlass has fetched")
find_path(TROUPE_CUTLASS_INCLUDE cutlass/cutlass.h NO_DEFAULT_PATH
  HINTS ${CUTLASS_DIR}/include ${CUTLASS_DIR} $ENV{CUTLASS_DIR}/include $ENV{CUTLASS_DIR} ${PROJECT_SOURCE_DIR}/.deps/cutlass-4.2.0/include)
mark_as_advanced(TROUPE_CUTLASS_INCLUDE)
if(TROUPE_CUTLASS_INCLUDE)
  file(STRINGS ${TROUPE_CUTLASS_INCLUDE}/cutlass/version.h numbers REGEX "#define CUTLASS_(MAJOR|MINOR|PATCH) +[0-9]+")
  list(TRANSFORM numbers REPLACE ".* ([0-9]+).*" "\\1")
  list(JOIN numbers . TROUPE_CUTLASS_VERSION)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cutlass REQUIRED_VARS TROUPE_CUTLASS_INCLUDE VERSION_VAR TROUPE_CUTLASS_VERSION)
