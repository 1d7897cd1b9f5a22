# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_find_installed_headers(variable source)
#   Sets the variable to the public headers: those listed below, which the pages name, the header of each library actor,
#   and everything that these include. Each is named as in an #include. `source` is the project's folder. cmake -P
#   prints them.
cmake_minimum_required(VERSION 3.25)
set(TROUPE_ENTRY_HEADERS
  troupe/troupe.hpp troupe/async/executor.hpp troupe/async/promise.hpp troupe/async/thread_pool.hpp troupe/async/when.hpp
  troupe/async_asio/adapter.hpp
  troupe/actor/alarm_clock.hpp troupe/actor/child.hpp troupe/actor/manual_clock.hpp troupe/actor/spawn.hpp troupe/actor/stage.hpp
  troupe/actor/supervisor.hpp troupe/runtime/device_child.hpp
  troupe/device/keep_content.hpp troupe/device/managed.hpp troupe/device/matrix_copy.hpp troupe/device/peers.hpp troupe/device/sealing.hpp
  troupe/device/sharing.hpp
  troupe/base/bfloat16.hpp troupe/base/complex.hpp troupe/base/float4.hpp troupe/base/float8.hpp troupe/base/float8_e8m0.hpp
  troupe/base/half.hpp troupe/cutlass/weights.hpp
  troupe/request/checker.hpp troupe/request/request.hpp troupe/worker/engine.hpp  # for users' own libraries
  troupe/interop/dlpack.hpp troupe/cuda_on_host/host_block.h troupe/cuda_on_host/image.h)

function(troupe_find_installed_headers variable source)
  set(roots ${source}/runtime ${source}/backends ${source}/libraries)
  file(GLOB libraries RELATIVE ${source}/libraries ${source}/libraries/troupe/*)
  set(todo ${TROUPE_ENTRY_HEADERS})
  foreach(library ${libraries})
    get_filename_component(name ${library} NAME)
    if(EXISTS ${source}/libraries/${library}/${name}.hpp)
      list(APPEND todo ${library}/${name}.hpp)
    endif()
  endforeach()
  set(found)
  while(todo)
    list(POP_FRONT todo header)
    if(header IN_LIST found)
      continue()
    endif()
    set(file)
    foreach(root ${roots})
      if(EXISTS ${root}/${header})
        set(file ${root}/${header})
      endif()
    endforeach()
    if(NOT file)
      message(FATAL_ERROR "No source folder has <${header}>, which is a public header or included by one; correct the list in cmake/troupe_install_headers.cmake or the #include")
    endif()
    list(APPEND found ${header})
    set(${variable}_FILES ${${variable}_FILES} ${file})
    file(STRINGS ${file} includes REGEX "^#include <troupe/.*\\.(hpp|h)>")
    list(TRANSFORM includes REPLACE "^#include <([^>]*)>.*" "\\1")
    list(APPEND todo ${includes})
  endwhile()
  set(${variable} ${found} PARENT_SCOPE)
  set(${variable}_FILES ${${variable}_FILES} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source)
  troupe_find_installed_headers(headers ${source})
  list(JOIN headers_FILES "\n" text)
  file(WRITE /dev/stdout "${text}\n")
endif()
