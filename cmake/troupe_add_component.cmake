# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_add_component(name [DEPENDS component...] [LINK library...] [PARTS folder...] [PUBLIC_PARTS folder...]
#                      [APPLICATION source... [APPLICATION_DEPENDS component...]])
#   Builds troupe::<name> from the current folder: a static library from *.cpp (not *.test.cpp), or a header-only target
#   if there are none; one test program from *.test.cpp; and every header of the folder compiled alone. The folders
#   PARTS, PUBLIC_PARTS and internal/ belong to the component: they are compiled and tested like the rest, and headers of
#   PUBLIC_PARTS are compiled alone, too. cmake/troupe_install_headers.cmake determines which headers are installed.
#   APPLICATION names the sources that programs need and engines do not: these form troupe::<name>, and the others form
#   troupe::<name>_requests, which it links. If it is not set, troupe::<name> has all sources.
function(troupe_add_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK;PARTS;PUBLIC_PARTS;APPLICATION;APPLICATION_DEPENDS")
  set(folders . internal ${arg_PARTS} ${arg_PUBLIC_PARTS})
  list(TRANSFORM folders APPEND /*.cpp OUTPUT_VARIABLE sources)
  list(TRANSFORM folders APPEND /*.test.cpp OUTPUT_VARIABLE tests)
  file(GLOB sources CONFIGURE_DEPENDS ${sources})
  file(GLOB tests CONFIGURE_DEPENDS ${tests})
  list(TRANSFORM arg_PUBLIC_PARTS APPEND /*.hpp OUTPUT_VARIABLE headers)
  file(GLOB headers CONFIGURE_DEPENDS *.hpp ${headers})
  list(REMOVE_ITEM sources ${tests} "")
  list(TRANSFORM sources REPLACE "/\\./" "/")  # so that they equal the names of APPLICATION
  if(arg_APPLICATION)
    list(TRANSFORM arg_APPLICATION PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM sources ${arg_APPLICATION})
    troupe_add_component_library(${name}_requests SOURCES ${sources} DEPENDS ${arg_DEPENDS} LINK ${arg_LINK})
    troupe_add_component_library(${name} SOURCES ${arg_APPLICATION} DEPENDS ${name}_requests ${arg_APPLICATION_DEPENDS})
  else()
    troupe_add_component_library(${name} SOURCES ${sources} DEPENDS ${arg_DEPENDS} LINK ${arg_LINK})
  endif()
  if(TROUPE_TESTS)
    troupe_check_headers(${name} ${headers})
    if(tests)
      troupe_add_test(${name} SOURCES ${tests} LINK troupe::${name})
    endif()
  endif()
endfunction()

# troupe_add_component_library(name [SOURCES file...] [DEPENDS component...] [LINK library...]): builds and installs
# troupe::<name>.
function(troupe_add_component_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPENDS;LINK")
  set(scope PUBLIC)
  if(arg_SOURCES)
    add_library(troupe_${name} STATIC ${arg_SOURCES})
    set_property(GLOBAL APPEND PROPERTY TROUPE_ARCHIVES troupe_${name})  # for troupe.pc
  else()
    add_library(troupe_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(troupe::${name} ALIAS troupe_${name})
  set_target_properties(troupe_${name} PROPERTIES EXPORT_NAME ${name})
  troupe_find_include_root(root)
  target_include_directories(troupe_${name} ${scope} $<BUILD_INTERFACE:${root}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM arg_DEPENDS PREPEND troupe::)
  target_link_libraries(troupe_${name} ${scope} ${arg_DEPENDS} ${arg_LINK} troupe_settings)
  if(TROUPE_INSTALL)
    troupe_install_target(troupe_${name} ${CMAKE_INSTALL_LIBDIR} COMPONENT troupe_development EXPORT troupe_targets)
  endif()
endfunction()

# Sets `root` to the folder in which the include paths of the current component begin: runtime, backends or libraries.
function(troupe_find_include_root root)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "/.*" "" group ${folder})
  set(${root} ${PROJECT_SOURCE_DIR}/${group} PARENT_SCOPE)
endfunction()

# Every header must compile on its own.
function(troupe_check_headers name)
  set(checks)
  foreach(header ${ARGN})
    troupe_find_include_root(root)
    file(RELATIVE_PATH path ${root} ${header})
    string(MAKE_C_IDENTIFIER ${path} id)
    set(check ${CMAKE_CURRENT_BINARY_DIR}/header_checks/${id}.cpp)
    file(CONFIGURE OUTPUT ${check} CONTENT "#include <${path}>\n#include <${path}>\n")
    list(APPEND checks ${check})
  endforeach()
  if(checks)
    add_library(troupe_${name}_headers OBJECT ${checks})
    target_link_libraries(troupe_${name}_headers PRIVATE troupe_${name})
    target_compile_options(troupe_${name}_headers PRIVATE -O0 -g0)
    set_target_properties(troupe_${name}_headers PROPERTIES TROUPE_PLAIN ON)
  endif()
endfunction()

# The target's own code is compiled with -O0, which takes 60 % of the time of -O1; the code under test is optimized as
# usual. With sanitizers it is -O1, because the code that they insert is too slow at -O0.
function(troupe_compile_as_test target)
  set(level -O0)
  if(TROUPE_SANITIZE)
    set(level -O1)
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo,Release>:${level}>)
  set_target_properties(${target} PROPERTIES TROUPE_AS_TEST ON)
endfunction()

# troupe_add_test(name SOURCES file... [LINK library...] [OPTIMISED] [TIMEOUT seconds]): builds one GoogleTest program
# whose tests ctest runs one by one.
#   OPTIMISED also optimizes the program's own code, for tests that compute much.
#   TIMEOUT   limits the time of each test; 300 seconds by default.
function(troupe_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMISED" "TIMEOUT" "SOURCES;LINK")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(troupe_${name}_test ${arg_SOURCES})
  if(NOT arg_OPTIMISED)
    troupe_compile_as_test(troupe_${name}_test)
  endif()
  target_link_libraries(troupe_${name}_test PRIVATE ${arg_LINK} troupe_settings GTest::gtest_main)
  # <tests/...>, and the test helpers of other components
  target_include_directories(troupe_${name}_test PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/backends)
  gtest_discover_tests(troupe_${name}_test TEST_PREFIX "${name}: " DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS ${name}
    ENVIRONMENT TROUPE_ENGINE=host)  # also on a machine with a GPU
endfunction()

# troupe_add_fuzzer(name SOURCES file... [LINK library...] [ONLY_GUIDED]): builds one fuzz program. In the fuzz preset
# libFuzzer drives it, see scripts/fuzz; in others it is a test that runs random inputs.
#   ONLY_GUIDED builds nothing in other presets, if another test runs random inputs there.
function(troupe_add_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONLY_GUIDED" "" "SOURCES;LINK")
  if(NOT TROUPE_FUZZ AND (arg_ONLY_GUIDED OR NOT TROUPE_TESTS))
    return()
  endif()
  add_executable(troupe_${name}_fuzz ${arg_SOURCES})
  target_link_libraries(troupe_${name}_fuzz PRIVATE ${arg_LINK} troupe_settings)
  set_target_properties(troupe_${name}_fuzz PROPERTIES OUTPUT_NAME ${name}_fuzz RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  if(TROUPE_FUZZ)
    target_link_options(troupe_${name}_fuzz PRIVATE -fsanitize=fuzzer)
    set_property(GLOBAL APPEND PROPERTY TROUPE_FUZZERS troupe_${name}_fuzz)
    return()
  endif()
  target_sources(troupe_${name}_fuzz PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/random_inputs.cpp)
  add_test(NAME "fuzz: ${name}" COMMAND troupe_${name}_fuzz)
  set_tests_properties("fuzz: ${name}" PROPERTIES TIMEOUT 900 LABELS fuzz)
endfunction()
