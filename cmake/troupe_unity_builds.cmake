# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# troupe_use_unity_builds()
#   Compiles the sources of each library and test program eight at a time, because most of the time goes to the headers
#   that they share.
#   Must be called after all targets are made. Sources must still include all that they use, and must not rely on each
#   other: the presets clang, debug and fuzz compile them one by one (TROUPE_UNITY_BUILDS=OFF).
#   Left as they are: libraries for tests; engine.cpp, which some tests leave out; and the targets named below.
option(TROUPE_UNITY_BUILDS "Compile several sources of a library at once" OFF)

function(troupe_use_unity_builds)
  if(NOT TROUPE_UNITY_BUILDS)
    return()
  endif()
  # Engines link some sources of memory; the others need the application's side, which engines must not contain.
  set(one_by_one memory)
  # Sources of these have the same names in their unnamed namespaces, and so have those of *_numerics. Foreign sources
  # stay as they are.
  list(APPEND one_by_one bench_parts bench_raw_cuda blas_host_objects chaos_parts cutlass_variants dnn dnn_cudnn dnn_onednn jit_nvrtc
    actor_test async_test channel_test dnn_test jit_cuda_fakes_test kernels_test memory_test worker_test)
  list(TRANSFORM one_by_one PREPEND troupe_)
  troupe_find_targets(targets ${PROJECT_SOURCE_DIR})
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "^(STATIC|OBJECT|MODULE|SHARED)_LIBRARY$|^EXECUTABLE$")
      continue()
    endif()
    get_target_property(plain ${target} TROUPE_PLAIN)
    get_target_property(folder ${target} SOURCE_DIR)
    get_target_property(linked ${target} LINK_LIBRARIES)
    if(plain OR target IN_LIST one_by_one OR NOT linked MATCHES "GTest::" AND "${folder}/${target}" MATCHES "/tests/|/testing/|/examples/|_on_fakes$"
      OR target MATCHES "_numerics$|^troupe_foreign_")
      continue()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    if(count EQUAL 1)
      continue()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    list(FILTER sources INCLUDE REGEX "(^|/)engine\\.cpp$")
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # about types of unnamed namespaces in included sources
    endif()
  endforeach()
endfunction()
