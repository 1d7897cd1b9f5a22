# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers and the output folders of programs. All of it applies only to Troupe's folders,
# even if they are part of another project.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_UNITY_BUILD OFF)  # only where troupe_unity_builds says so
# $<1:> keeps multi-configuration generators from adding a folder for each configuration.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin$<1:>)
# The worker and its engines are in one folder, in the build tree as in an installation: see runtime/runtime.hpp.
set(TROUPE_RUNTIME_SUBDIR libexec/troupe)
set(TROUPE_RUNTIME_OUTPUT ${PROJECT_BINARY_DIR}/${TROUPE_RUNTIME_SUBDIR}$<1:>)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

add_library(troupe_settings INTERFACE)
add_library(troupe::settings ALIAS troupe_settings)
set_target_properties(troupe_settings PROPERTIES EXPORT_NAME settings)
target_compile_features(troupe_settings INTERFACE cxx_std_20)
# Only for our own targets: users of the library choose their own.
add_compile_options(-Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers)
if(NOT PROJECT_IS_TOP_LEVEL)
  # The warnings of an enclosing project apply neither to our headers, as in an installation, nor to our sources.
  set_directory_properties(PROPERTIES SYSTEM ON)
  if(NOT TROUPE_WERROR)
    add_compile_options(-w)
  endif()
endif()
if(TROUPE_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ does not model atomic_thread_fence under -fsanitize=thread; we use none on paths that it must understand.
  add_compile_options(-Wno-tsan)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # A false positive about std::string at -O3 (GCC bug 105651).
    add_compile_options(-Wno-restrict)
  endif()
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of libstdc++ 12 uses what that library declares deprecated. g++ still reports what we use ourselves.
  add_compile_options(-Wno-deprecated-declarations)
  # epilogue/host marks loops over all functions as independent; the f64 form of some calls libm and stays scalar.
  add_compile_options(-Wno-pass-failed)
endif()
if(TROUPE_SANITIZE)
  add_compile_options(-fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TROUPE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized -Wno-array-bounds)  # false positives of g++ 12 in code that the sanitizers insert
  endif()
endif()
# A program that links the driver's library but calls none of its functions then starts without a driver. Some compilers
# do this by default.
add_link_options(LINKER:--as-needed)
if(TROUPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TROUPE_FUZZ=ON needs clang, whose libFuzzer drives the targets. Use the preset: cmake --preset fuzz.")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(PROJECT_IS_TOP_LEVEL)
  # lld takes a fifth of the time of the default linker, and a change of one source relinks a hundred programs.
  find_program(TROUPE_LLD ld.lld)
  mark_as_advanced(TROUPE_LLD)
  if(TROUPE_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
find_package(Threads REQUIRED)
find_program(TROUPE_CCACHE ccache)
if(TROUPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It may overlook the times of files, so that it works with precompiled headers, and reads what a source depends on from the compiler's
  # list instead of preprocessing it once more.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 ${TROUPE_CCACHE})
endif()
