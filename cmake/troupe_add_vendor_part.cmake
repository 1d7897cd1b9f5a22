# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_add_vendor_part(target INCLUDE folder ELSE text [FOLDERS folders...] LINK arguments...)
#   Builds a part of an engine that computes with a vendor library. The library is loaded at run time, so that building
#   the part needs only its headers, in the folder INCLUDE. The part consists of all sources of the calling folder and
#   of FOLDERS in it, except absent.cpp and tests; or, if INCLUDE is empty or not found, of absent.cpp alone, and CMake
#   prints the text ELSE. LINK is for target_link_libraries.
function(troupe_add_vendor_part target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "INCLUDE;ELSE" "FOLDERS;LINK")
  set(sources absent.cpp)
  if(arg_INCLUDE)
    list(TRANSFORM arg_FOLDERS APPEND /*.cpp)
    file(GLOB sources CONFIGURE_DEPENDS *.cpp ${arg_FOLDERS})
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
