# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_add_engine(library backend SOURCES file... [LINK target...] [PACKAGE text] [COMPONENT troupe::component])
#   Builds the plug-in <library>.<backend>.so, in this tree and in projects that use find_package(troupe).
#   PACKAGE is what a user must install when the vendor library is missing; it is shown in the error.
function(troupe_add_engine library backend)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PACKAGE;COMPONENT" "SOURCES;LINK")
  set(target troupe_engine_${library}_${backend})
  add_library(${target} MODULE ${arg_SOURCES})
  if(TROUPE_RUNTIME_OUTPUT)
    set(directory ${TROUPE_RUNTIME_OUTPUT}/engines)
  else()
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/engines$<1:>)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${library}.${backend} SUFFIX .so LIBRARY_OUTPUT_DIRECTORY ${directory})
  target_link_libraries(${target} PRIVATE troupe::worker ${arg_COMPONENT} ${arg_LINK})
  # The worker loads many engines: each keeps its own copy of our static libraries to itself.
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:-Bsymbolic)
  set(needs ${directory}/${library}.${backend}.needs)
  file(GENERATE OUTPUT ${needs} CONTENT "${arg_PACKAGE}\n")
  if(TROUPE_RUNTIME_SUBDIR)
    add_dependencies(troupe_engines ${target})
    install(TARGETS ${target} LIBRARY DESTINATION ${TROUPE_RUNTIME_SUBDIR}/engines)
    install(FILES ${needs} DESTINATION ${TROUPE_RUNTIME_SUBDIR}/engines)
  endif()
endfunction()
