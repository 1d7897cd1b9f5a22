# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_add_vendor_part(target INCLUDE folder ELSE text LINK arguments...)
#   A part of an engine that computes with a vendor library, which is loaded at run time: only its headers are wanted
#   when the part is built. It has all sources of the calling folder but absent.cpp and tests. If INCLUDE, the folder of the
#   headers, is empty or not found, it has absent.cpp alone, and ELSE says so to those who configure.
#   LINK is for target_link_libraries.
function(troupe_add_vendor_part target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INCLUDE;ELSE" "LINK")
  set(sources absent.cpp)
  if(arg_INCLUDE)
    file(GLOB sources CONFIGURE_DEPENDS *.cpp)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/absent.cpp)
    list(FILTER sources EXCLUDE REGEX "\\.test\\.cpp$")
  else()
    message(STATUS "troupe: ${arg_ELSE}")
  endif()
  add_library(${target} STATIC ${sources})
  target_link_libraries(${target} ${arg_LINK} PRIVATE ${CMAKE_DL_LIBS})
  if(arg_INCLUDE)
    target_include_directories(${target} SYSTEM PRIVATE ${arg_INCLUDE})
  endif()
endfunction()
