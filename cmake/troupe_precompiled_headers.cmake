# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_use_precompiled_headers()
#   Precompiles the headers that nearly every source includes: those of the standard library, and for tests GoogleTest's.
#   Must be called last, in the project's folder, because it changes all targets. (The component `device` and its tests
#   then take 138 s of processor time instead of 234 s.) Sources must still include all that they use: the presets clang
#   and fuzz build without precompiled headers (TROUPE_PRECOMPILED_HEADERS=OFF), and so are headers checked.
#   Targets with the property TROUPE_PLAIN, and sources with their own options, are not changed.
option(TROUPE_PRECOMPILED_HEADERS "Compile the headers of the standard library once for all sources" OFF)

function(troupe_use_precompiled_headers)
  if(NOT TROUPE_PRECOMPILED_HEADERS OR NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  set(standard <algorithm> <array> <atomic> <chrono> <condition_variable> <cstring> <functional> <map> <memory> <mutex> <optional> <span> <sstream>
    <stop_token> <string> <string_view> <thread> <unordered_map> <variant> <vector>)
  # Headers must be compiled with the options of the sources, so the targets of troupe_compile_as_test have separate ones.
  troupe_add_precompiled_headers(troupe_standard_headers troupe_settings ${standard})
  if(TROUPE_EXAMPLES OR TROUPE_TESTS)
    troupe_add_precompiled_headers(troupe_example_headers troupe_settings ${standard})
    troupe_compile_as_test(troupe_example_headers)
  endif()
  if(TROUPE_TESTS)
    find_package(GTest REQUIRED)
    troupe_add_precompiled_headers(troupe_test_headers GTest::gtest ${standard} <gtest/gtest.h>)
    troupe_compile_as_test(troupe_test_headers)
  endif()
  troupe_find_targets(targets ${PROJECT_SOURCE_DIR})
  foreach(target ${targets})
    get_target_property(plain ${target} TROUPE_PLAIN)
    get_target_property(type ${target} TYPE)
    if(plain OR NOT type MATCHES "^(STATIC|OBJECT|MODULE|SHARED)_LIBRARY$|^EXECUTABLE$" OR target MATCHES "^troupe_(standard|example|test)_headers$")
      continue()
    endif()
    troupe_leave_sources_with_options(${target})
    if(type STREQUAL "EXECUTABLE")
      target_compile_options(${target} PRIVATE -fPIC)  # as the headers are compiled, not -fPIE
    endif()
    get_target_property(as_test ${target} TROUPE_AS_TEST)
    get_target_property(linked ${target} LINK_LIBRARIES)
    if(as_test AND linked MATCHES "GTest::")
      target_precompile_headers(${target} REUSE_FROM troupe_test_headers)
    elseif(as_test)
      target_precompile_headers(${target} REUSE_FROM troupe_example_headers)
    else()
      target_precompile_headers(${target} REUSE_FROM troupe_standard_headers)
    endif()
    if(linked MATCHES "GTest::" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # False positives about std::string in headers that are precompiled (GCC bug 105651).
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
  endforeach()
endfunction()

function(troupe_add_precompiled_headers name linked)
  set(source ${PROJECT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE troupe_settings ${linked})
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()

# Sets the variable to the targets of the folder and of all folders below it.
function(troupe_find_targets variable folder)
  get_property(all DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(sub ${below})
    troupe_find_targets(more ${sub})
    list(APPEND all ${more})
  endforeach()
  set(${variable} ${all} PARENT_SCOPE)
endfunction()

function(troupe_leave_sources_with_options target)
  get_target_property(folder ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    if(source MATCHES "\\$<")
      continue()
    endif()
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
    get_source_file_property(options ${source} TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()
