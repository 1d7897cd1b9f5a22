# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers and the places where built programs go. All of it holds for Troupe's folders alone, also where
# they are part of another project.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_UNITY_BUILD OFF)  # sources have names of their own in unnamed namespaces
# $<1:> keeps generators for several configurations from adding a folder of their own.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin$<1:>)
# The worker and its engines live together, in the build tree as in an install: see runtime/runtime.hpp.
set(TROUPE_RUNTIME_SUBDIR libexec/troupe)
set(TROUPE_RUNTIME_OUTPUT ${PROJECT_BINARY_DIR}/${TROUPE_RUNTIME_SUBDIR}$<1:>)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

add_library(troupe_settings INTERFACE)
add_library(troupe::settings ALIAS troupe_settings)
set_target_properties(troupe_settings PROPERTIES EXPORT_NAME settings)
target_compile_features(troupe_settings INTERFACE cxx_std_20)
# For our own targets only: users of the library bring their own.
add_compile_options(-Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers)
if(NOT PROJECT_IS_TOP_LEVEL)
  # And the warnings of the project around are for its own: not for our headers, as in an installation, nor for our sources.
  set_directory_properties(PROPERTIES SYSTEM ON)
  if(NOT TROUPE_WERROR)
    add_compile_options(-w)
  endif()
endif()
if(TROUPE_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ does not model atomic_thread_fence under -fsanitize=thread; we use none on paths it must understand.
  add_compile_options(-Wno-tsan)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Wrong about std::string at -O3 (GCC bug 105651).
    add_compile_options(-Wno-restrict)
  endif()
endif()
if(TROUPE_SANITIZE)
  add_compile_options(-fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TROUPE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)  # g++ 12 sees some in what the sanitizers insert
  endif()
endif()
# A program that links the driver's library but calls nothing of it starts where there is no driver. Some compilers do this by themselves.
add_link_options(LINKER:--as-needed)
if(TROUPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TROUPE_FUZZ=ON needs clang, whose libFuzzer drives the targets. Use the preset: cmake --preset fuzz.")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
find_package(Threads REQUIRED)
find_program(TROUPE_CCACHE ccache)
if(TROUPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What it may overlook so that it works with precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${TROUPE_CCACHE})
endif()
