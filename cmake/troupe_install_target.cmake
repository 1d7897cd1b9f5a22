# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_install_target(target folder COMPONENT component [option of install(TARGETS)...])
#   Installs the file of a target to the folder below the prefix, without debug information if TROUPE_STRIP is set:
#   archives and programs keep the names of their functions, plug-ins those that they export. The target troupe_installed
#   builds all such targets.
function(troupe_install_target target folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "COMPONENT" "")
  install(TARGETS ${target} ${arg_UNPARSED_ARGUMENTS} DESTINATION ${folder} COMPONENT ${arg_COMPONENT})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  add_dependencies(troupe_installed ${target})
  if(TROUPE_STRIP)
    set(what --strip-debug)
    if(type STREQUAL "MODULE_LIBRARY")
      set(what --strip-unneeded)
    endif()
    install(CODE "
      set(file \"${folder}/$<TARGET_FILE_NAME:${target}>\")
      cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
      execute_process(COMMAND \"${CMAKE_STRIP}\" ${what} \"\$ENV{DESTDIR}\${file}\" COMMAND_ERROR_IS_FATAL ANY)"
      COMPONENT ${arg_COMPONENT})
  endif()
endfunction()

# troupe_install_run_time(target [folder]): installs what programs start at run time, below libexec/troupe.
function(troupe_install_run_time target)
  troupe_install_target(${target} ${TROUPE_RUNTIME_SUBDIR}/${ARGN} COMPONENT troupe_runtime)
endfunction()
