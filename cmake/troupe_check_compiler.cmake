# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_check_compiler(variable who clang)
#   Sets the variable to the reason why `who` cannot use the C++ compiler of this project, or to an empty text. `clang`
#   is the oldest sufficient version. For programs that do not use CMake, the headers check the same:
#   runtime/troupe/base/compiler/compiler.hpp.
function(troupe_check_compiler variable who clang)
  set(oldest_GNU 12)
  set(oldest_Clang ${clang})
  set(${variable} "" PARENT_SCOPE)
  if(DEFINED oldest_${CMAKE_CXX_COMPILER_ID} AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS oldest_${CMAKE_CXX_COMPILER_ID})
    set(${variable} "${who} needs g++ ${oldest_GNU} or clang ${clang}, or a later one; ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} \
${CMAKE_CXX_COMPILER_VERSION}. Name another one, in a fresh build folder: cmake -B build -DCMAKE_CXX_COMPILER=g++-12" PARENT_SCOPE)
  endif()
endfunction()
