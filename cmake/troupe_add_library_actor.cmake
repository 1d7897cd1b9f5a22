# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_add_library_actor(name [option...]): builds a library actor from the current folder. Place and name determine
# what a file is:
#   *.cpp, internal/*.cpp, *.hpp   requests and their checks: troupe::<name>, or troupe::<name>_requests where there is APPLICATION
#   *.test.cpp                     tests of the requests, for example of refusals: troupe_<name>_test
#   host/*.cpp, cuda/*.cpp         the engines <name>.host and <name>.cuda: targets troupe_engine_<name>_host, made of troupe_<name>_host_objects
#   cuda/X.cu                      kernels of our own, embedded in cuda/X.cpp as TROUPE_KERNELS; they may include cuda/*.cuh, *.inc, kernel_*.hpp
#   host/*.test.cpp                tests of the host engine, with the suites of numerics/: troupe_<name>_host_test
#   cuda/*.test.cpp                tests of the CUDA engine's sources without a GPU, on the fake driver and fakes of the vendor's library,
#                                  cuda/testing/*.cpp: troupe_<name>_cuda_fakes_test
#   numerics/*.test.cpp            what the requests compute, for both engines: in troupe_<name>_host_test, and in troupe_<name>_cuda_test, which
#                                  needs a GPU: scripts/gpu finds it
#   contract/*.contract.cpp        the library's part of tests/contract, built if the host engine is
#   host/CMakeLists.txt, cuda/CMakeLists.txt   what else an engine needs: read before the engine's target is made. Sources of the targets that
#                                  it makes are not sources of the engine.
# Options:
#   DEPENDS component...           components that the requests use, besides troupe::request
#   FOLDERS folder...              more folders with *.cpp, *.hpp and *.test.cpp of the requests
#   HOST_FOLDERS, CUDA_FOLDERS folder...  more folders with *.cpp and *.test.cpp of the engine, such as cuda/launches
#   APPLICATION source...          sources that send requests or otherwise use a device: troupe::<name>, which engines do not link
#   APPLICATION_DEPENDS component...  components that these sources use, besides the requests
#   HOST_LINK, CUDA_LINK target... the vendor's library. If it is missing, the engine is left out, and `troupe doctor` reports that.
#   HOST_PACKAGE, CUDA_PACKAGE     what a user must install if the vendor's library is missing at run time
#   HOST_BUILD_PACKAGE, CUDA_BUILD_PACKAGE   what to install to build the engine, if it is optional
#   HOST_PARTS, CUDA_PARTS target...  libraries of ours that are part of an engine; the tests of its sources link them, too
#   TESTS_LINK target...           what all tests of the library link besides it, such as a reference
#   GPU_PARTS number               in how many processes the suites run on a GPU at the same time (4)
#   CUDA_FAKES_COMPUTE             the fakes of the vendor's library compute results, so all suites run on them
#   CUDA_WITH_OUR_HEADERS          the CUDA engine's kernels include <troupe/...>: see troupe_add_kernels
function(troupe_add_library_actor name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CUDA_FAKES_COMPUTE;CUDA_WITH_OUR_HEADERS" "HOST_PACKAGE;CUDA_PACKAGE;HOST_BUILD_PACKAGE;CUDA_BUILD_PACKAGE;GPU_PARTS"
    "DEPENDS;FOLDERS;HOST_FOLDERS;CUDA_FOLDERS;APPLICATION;APPLICATION_DEPENDS;HOST_LINK;CUDA_LINK;HOST_PARTS;CUDA_PARTS;TESTS_LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "troupe_add_library_actor(${name}): unknown option ${arg_UNPARSED_ARGUMENTS}; cmake/troupe_add_library_actor.cmake lists the options")
  endif()
  troupe_add_component(${name} DEPENDS request ${arg_DEPENDS} PUBLIC_PARTS ${arg_FOLDERS} APPLICATION ${arg_APPLICATION} APPLICATION_DEPENDS ${arg_APPLICATION_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY TROUPE_LIBRARY_ACTORS ${name})
  # A program outside this project that links only this library can include <troupe/troupe.hpp>.
  target_link_libraries(troupe_${name} INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TROUPE_OWN_TARGET>>>:troupe::runtime>)
  set(requests troupe::${name})
  if(arg_APPLICATION)
    set(requests troupe::${name}_requests)
  endif()
  file(GLOB suites CONFIGURE_DEPENDS numerics/*.test.cpp)
  if(TROUPE_TESTS AND suites)
    find_package(GTest REQUIRED)
    add_library(troupe_${name}_numerics OBJECT ${suites})
    target_link_libraries(troupe_${name}_numerics PRIVATE ${requests} troupe_engine_tests GTest::gtest)
    target_compile_options(troupe_${name}_numerics PRIVATE $<$<CONFIG:RelWithDebInfo,Release>:-O1>)  # these tests compute much
  endif()
  troupe_add_host_engine_of(${name} ${requests})
  troupe_add_cuda_engine_of(${name} ${requests})
  foreach(tests test host_test cuda_test cuda_fakes_test)
    if(TARGET troupe_${name}_${tests})
      target_link_libraries(troupe_${name}_${tests} PRIVATE ${arg_TESTS_LINK})
    endif()
  endforeach()
  if(TROUPE_TESTS AND TARGET troupe_engine_${name}_host)
    file(GLOB cases CONFIGURE_DEPENDS contract/*.contract.cpp)
    set_property(GLOBAL APPEND PROPERTY TROUPE_CONTRACT_SOURCES ${cases})
  endif()
endfunction()

# The following functions and macros are parts of the function above, and use its arguments.

# Sets `sources` to the sources of the engine in the folder `backend`, and `tests` to their tests.
macro(troupe_sources_of_engine backend)
  string(TOUPPER ${backend} prefix)
  set(parts ${backend} ${arg_${prefix}_FOLDERS})
  list(TRANSFORM parts APPEND /*.cpp OUTPUT_VARIABLE sources)
  list(TRANSFORM parts APPEND /*.test.cpp OUTPUT_VARIABLE tests)
  file(GLOB sources CONFIGURE_DEPENDS ${sources})
  file(GLOB tests CONFIGURE_DEPENDS ${tests})
  list(REMOVE_ITEM sources ${tests} "")
  set(folders ${CMAKE_CURRENT_SOURCE_DIR})
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${backend}/CMakeLists.txt)
    add_subdirectory(${backend})
    list(APPEND folders ${CMAKE_CURRENT_SOURCE_DIR}/${backend})
  endif()
  foreach(folder ${folders})
    get_property(others DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(other ${others})
      get_target_property(taken ${other} SOURCES)
      if(taken)
        foreach(source ${taken})
          cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${folder} NORMALIZE)
          list(REMOVE_ITEM sources ${source})
        endforeach()
      endif()
    endforeach()
  endforeach()
endmacro()

# Sets `missing` to what an engine that links the targets cannot be built without; empty if nothing is missing.
macro(troupe_find_missing)
  set(missing)
  foreach(library ${ARGN})
    if(library MATCHES "::" AND NOT TARGET ${library})
      list(APPEND missing ${library})
    endif()
  endforeach()
  list(JOIN missing " and " missing)
endmacro()

# Adds the entry of `troupe doctor` for an optional engine.
function(troupe_add_optional_engine library backend package)
  set_property(GLOBAL APPEND PROPERTY TROUPE_OPTIONAL_ENGINES "{\"${library}\", \"${library}.${backend}\", \"${package}\"},\n")
endfunction()

macro(troupe_add_host_engine_of name requests)
  troupe_sources_of_engine(host)
  if(arg_HOST_BUILD_PACKAGE)
    troupe_add_optional_engine(${name} host "${arg_HOST_BUILD_PACKAGE}")
  endif()
  troupe_find_missing(${arg_HOST_LINK})
  if(missing)
    message(STATUS "troupe: ${name}.host is left out, because ${missing} was not found; to build it, install ${arg_HOST_BUILD_PACKAGE}")
  elseif(sources)
    add_library(troupe_${name}_host_objects OBJECT ${sources})
    target_link_libraries(troupe_${name}_host_objects PRIVATE troupe::engine_sdk ${requests} ${arg_HOST_LINK} ${arg_HOST_PARTS})
    troupe_add_engine(${name} host SOURCES $<TARGET_OBJECTS:troupe_${name}_host_objects> COMPONENT ${requests} LINK ${arg_HOST_LINK} ${arg_HOST_PARTS}
      PACKAGE "${arg_HOST_PACKAGE}")
    if(TROUPE_TESTS AND (tests OR TARGET troupe_${name}_numerics))
      troupe_add_test(${name}_host SOURCES ${tests} LINK troupe::${name} ${arg_HOST_PARTS} troupe_engine_tests)
      troupe_test_engine(troupe_${name}_host_test ${name} troupe_engine_${name}_host)
    endif()
  endif()
endmacro()

# Adds the suites of the library to the program, for the engine.
function(troupe_test_engine program name engine)
  target_compile_definitions(${program} PRIVATE TROUPE_ENGINE_UNDER_TEST="$<TARGET_FILE:${engine}>")
  add_dependencies(${program} ${engine})
  if(TARGET troupe_${name}_numerics)
    target_sources(${program} PRIVATE $<TARGET_OBJECTS:troupe_${name}_numerics>)
  endif()
  target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/tests/numerics/engine_of_program.cpp)
endfunction()

macro(troupe_add_cuda_engine_of name requests)
  file(GLOB kernels CONFIGURE_DEPENDS cuda/*.cu)
  set(packages ${arg_CUDA_BUILD_PACKAGE})
  if(kernels)
    list(APPEND packages nvcc)
  endif()
  if(packages)
    list(JOIN packages " and " packages)
    troupe_add_optional_engine(${name} cuda "${packages} of the CUDA toolkit")
  endif()
  if(TROUPE_HAS_CUDA)
    troupe_sources_of_engine(cuda)
    troupe_find_missing(${arg_CUDA_LINK})
    if(kernels AND NOT CUDAToolkit_NVCC_EXECUTABLE)
      string(APPEND missing "${missing:+ and }nvcc")
    endif()
    if(missing)
      message(STATUS "troupe: ${name}.cuda is left out, because the CUDA toolkit was found without ${missing}")
    elseif(sources)
      troupe_add_cuda_engine_from(${name} ${requests})
    endif()
  endif()
endmacro()

macro(troupe_add_cuda_engine_from name requests)
  set(package "an NVIDIA driver for CUDA 12.8 or newer")
  if(arg_CUDA_PACKAGE)
    set(package "${arg_CUDA_PACKAGE}")
  endif()
  add_library(troupe_${name}_cuda_objects OBJECT ${sources})
  target_link_libraries(troupe_${name}_cuda_objects PRIVATE troupe_cuda_kit ${requests} ${arg_CUDA_LINK} ${arg_CUDA_PARTS})
  foreach(kernel ${kernels})
    get_filename_component(stem ${kernel} NAME_WE)
    set(image ${name}_${stem})
    if(stem STREQUAL "kernels")
      set(image ${name})
    endif()
    set(with_headers)
    if(arg_CUDA_WITH_OUR_HEADERS)
      set(with_headers WITH_OUR_HEADERS)
    endif()
    troupe_add_kernels(${image} SOURCE ${kernel} EMBEDDED_IN ${CMAKE_CURRENT_SOURCE_DIR}/cuda/${stem}.cpp ${with_headers})
    add_dependencies(troupe_${name}_cuda_objects troupe_${image}_kernels)
  endforeach()
  troupe_add_engine(${name} cuda SOURCES $<TARGET_OBJECTS:troupe_${name}_cuda_objects> COMPONENT ${requests}
    LINK ${arg_CUDA_PARTS} troupe_cuda_kit ${arg_CUDA_LINK} CUDA::cuda_driver PACKAGE "${package}")
  if(TROUPE_TESTS)
    if(TARGET troupe_${name}_numerics)
      # Needs a GPU, and fails without one.
      add_executable(troupe_${name}_cuda_test ${PROJECT_SOURCE_DIR}/tests/numerics/cuda/gpu.cpp)
      target_link_libraries(troupe_${name}_cuda_test PRIVATE ${requests} troupe_engine_tests CUDA::cuda_driver GTest::gtest_main)
      troupe_compile_as_test(troupe_${name}_cuda_test)
      troupe_test_engine(troupe_${name}_cuda_test ${name} troupe_engine_${name}_cuda)
      troupe_add_gpu_suites(${name} "${arg_GPU_PARTS}" "${kernels}")
    endif()
    file(GLOB fakes CONFIGURE_DEPENDS cuda/testing/*.cpp)
    if(arg_CUDA_FAKES_COMPUTE)
      troupe_test_on_computing_fakes(${name} ${requests})
    elseif(tests)
      troupe_add_test(${name}_cuda_fakes SOURCES ${tests} ${fakes} $<TARGET_OBJECTS:troupe_${name}_cuda_objects>
        LINK troupe::${name} ${arg_CUDA_PARTS} troupe_cuda_fake_driver troupe_cuda_kit)
      target_include_directories(troupe_${name}_cuda_fakes_test SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    endif()
  endif()
endmacro()

# The lines of tests/gpu/programs for the suites of a library: as they are, and under the tools of compute-sanitizer.
# racecheck and synccheck check only our own kernels, troupe_<name>_*: vendors' kernels pass data in ways that racecheck
# does not recognize.
function(troupe_add_gpu_suites name parts kernels)
  if(NOT parts)
    set(parts 4)
  endif()
  set(engine "TROUPE_ENGINE_UNDER_TEST=$here/libexec/troupe/engines/${name}.cuda.so")
  set(program "$here/tests/troupe_${name}_cuda_test")
  set(lines "test ${name} ${parts} 550 ${engine} ${program}\nsanitize ${name}.memcheck 16 580 ${engine} $sanitizer --tool memcheck ${program}\n")
  if(kernels)
    foreach(tool racecheck synccheck)
      string(APPEND lines "sanitize ${name}.${tool} 16 580 ${engine} $sanitizer --tool ${tool} --kernel-name kns=troupe_${name}_ ${program}\n")
    endforeach()
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY TROUPE_GPU_PROGRAMS "${lines}")
  set_property(GLOBAL APPEND PROPERTY TROUPE_GPU_TARGETS troupe_${name}_cuda_test)
endfunction()

# Builds the engine on a fake driver and on fakes of its vendor's library that compute by definition on the processor.
# (The threads of its blocks are contexts of one thread, which sanitizers cannot follow.)
macro(troupe_test_on_computing_fakes name requests)
  if(NOT TROUPE_SANITIZE)
    set(engine troupe_${name}_cuda_on_fakes)
    add_library(${engine} MODULE $<TARGET_OBJECTS:troupe_${name}_cuda_objects> ${fakes})
    target_compile_options(${engine} PRIVATE -U_FORTIFY_SOURCE)  # it takes the change to another thread's stack for an error
    target_link_libraries(${engine} PRIVATE troupe_cuda_fake_driver troupe_cuda_kit ${requests} ${arg_CUDA_PARTS})
    target_link_options(${engine} PRIVATE LINKER:--exclude-libs,ALL LINKER:-Bsymbolic LINKER:--no-undefined)
    troupe_add_test(${name}_cuda_fakes SOURCES ${tests} LINK ${requests} troupe_cuda_fake_driver ${arg_CUDA_PARTS} troupe_engine_tests)
    add_dependencies(troupe_${name}_cuda_fakes_test ${engine})
    target_include_directories(troupe_${name}_cuda_fakes_test SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    target_compile_definitions(troupe_${name}_cuda_fakes_test PRIVATE TROUPE_ENGINE_UNDER_TEST="$<TARGET_FILE:${engine}>")
  endif()
endmacro()

# Runs the suites of the requests, which troupe_<name>_host_test has, on the engine that is made of fakes, in `parts`
# processes; without the tests of `elsewhere`.
function(troupe_test_suites_on_fakes name parts elsewhere)
  add_dependencies(troupe_${name}_host_test troupe_${name}_cuda_on_fakes)
  math(EXPR last "${parts} - 1")
  foreach(part RANGE ${last})
    add_test(NAME "${name}_cuda_fakes: the suites of ${name}, part ${part}" COMMAND troupe_${name}_host_test --gtest_brief=1 --gtest_filter=-${elsewhere})
    set_tests_properties("${name}_cuda_fakes: the suites of ${name}, part ${part}" PROPERTIES TIMEOUT 300 LABELS ${name}_cuda_fakes
      ENVIRONMENT "TROUPE_CACHE=off;TROUPE_ENGINE_UNDER_TEST=$<TARGET_FILE:troupe_${name}_cuda_on_fakes>;GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${part}")
  endforeach()
endfunction()
