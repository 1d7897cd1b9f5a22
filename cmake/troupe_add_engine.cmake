# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_add_engine(library backend SOURCES file... [LINK target...] [PACKAGE text] [COMPONENT troupe::component] [DESTINATION folder])
#   Builds the plug-in <library>.<backend>.so, in this tree and in projects that use Troupe, and
#   <library>.<backend>.needs beside it.
#   PACKAGE is what a user must install if the vendor library is missing; the error shows it.
#   DESTINATION is the folder below the prefix in which both are installed.
function(troupe_add_engine library backend)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PACKAGE;COMPONENT;DESTINATION" "SOURCES;LINK")
  set(target troupe_engine_${library}_${backend})
  add_library(${target} MODULE ${arg_SOURCES})
  if(TROUPE_RUNTIME_OUTPUT)
    set(directory ${TROUPE_RUNTIME_OUTPUT}/engines)
  else()
    set(directory ${CMAKE_CURRENT_BINARY_DIR}/engines$<1:>)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${library}.${backend} SUFFIX .so LIBRARY_OUTPUT_DIRECTORY ${directory})
  target_link_libraries(${target} PRIVATE troupe::engine_sdk ${arg_COMPONENT} ${arg_LINK})
  # The worker loads many engines: each keeps its copy of our static libraries private.
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:-Bsymbolic)
  if(TROUPE_RUNTIME_SUBDIR AND NOT TROUPE_SANITIZE)  # whose functions come from the program
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
  set(needs ${directory}/${library}.${backend}.needs)
  file(GENERATE OUTPUT ${needs} CONTENT "${arg_PACKAGE}\n")
  if(TROUPE_RUNTIME_SUBDIR)
    add_dependencies(troupe_engines ${target})
    troupe_install_run_time(${target} engines)
    install(FILES ${needs} DESTINATION ${TROUPE_RUNTIME_SUBDIR}/engines COMPONENT troupe_runtime)
  elseif(arg_DESTINATION)
    install(TARGETS ${target} LIBRARY DESTINATION ${arg_DESTINATION})
    install(FILES ${needs} DESTINATION ${arg_DESTINATION})
  endif()
endfunction()
