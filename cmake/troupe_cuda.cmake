# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# TROUPE_HAS_CUDA: whether the CUDA engines are built. TROUPE_CUDA is AUTO (if the toolkit is installed), ON (fails
# without it) or OFF.
set(TROUPE_CUDA AUTO CACHE STRING "Build the CUDA engines: AUTO, ON or OFF")
set_property(CACHE TROUPE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TROUPE_HAS_CUDA OFF)
if(TROUPE_CUDA)
  find_package(CUDAToolkit 12.8 QUIET)
  if(CUDAToolkit_FOUND)
    set(TROUPE_HAS_CUDA ON)
    message(STATUS "troupe: the CUDA engines use the toolkit ${CUDAToolkit_VERSION}")
  elseif(TROUPE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TROUPE_CUDA=ON: the CUDA toolkit, 12.8 or newer, was not found. Install it, or name it with -DCUDAToolkit_ROOT=/usr/local/cuda; "
                        "or configure with -DTROUPE_CUDA=OFF for the host engine alone.")
  else()
    message(STATUS "troupe: the CUDA engines are left out, because the CUDA toolkit (12.8 or newer) was not found")
  endif()
endif()

# troupe_add_kernels(name SOURCE file.cu EMBEDDED_IN file.cpp [WITH_OUR_HEADERS])
#   Compiles our kernels into one image, which TROUPE_KERNELS names while file.cpp is compiled
#   (backends/troupe/cuda/embedded.hpp). WITH_OUR_HEADERS: the kernels include <troupe/...>, and call constexpr functions
#   of these headers.
#   The source's property COMPILE_OPTIONS may contain more options for nvcc. Makes the target troupe_<name>_kernels. The
#   global property TROUPE_BUILT_IN_KERNELS lists the sources that NVRTC can compile, too: those without our headers.
function(troupe_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WITH_OUR_HEADERS" "SOURCE;EMBEDDED_IN" "")
  set(with_headers)
  if(arg_WITH_OUR_HEADERS)
    set(with_headers --expt-relaxed-constexpr -I${PROJECT_SOURCE_DIR}/runtime -I${PROJECT_SOURCE_DIR}/libraries)
  endif()
  get_source_file_property(own_options ${arg_SOURCE} COMPILE_OPTIONS)
  if(NOT own_options)
    set(own_options)
  endif()
  cmake_path(ABSOLUTE_PATH arg_SOURCE)
  set(image ${CMAKE_CURRENT_BINARY_DIR}/${name}.fatbin)
  set(stamp ${image}.hpp)
  # Machine code for each generation, and PTX for later ones.
  set(smaller)
  if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 13.0)
    set(smaller --compress-mode=size)  # a sixth of the size
  endif()
  add_custom_command(
    OUTPUT ${image} ${stamp}
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++20 -O3 -Wno-deprecated-gpu-targets $<$<BOOL:${TROUPE_WERROR}>:-Werror=all-warnings> -fatbin ${smaller} ${own_options} ${with_headers}
            -gencode arch=compute_80,code=[sm_80,compute_80] -gencode arch=compute_90a,code=sm_90a
            -gencode arch=compute_100,code=sm_100 -gencode arch=compute_120,code=[sm_120,compute_120]
            -MD -MF ${image}.d -MT ${image} -o ${image} ${arg_SOURCE}
    COMMAND ${CMAKE_COMMAND} -D IMAGE=${image} -D STAMP=${stamp} -P ${PROJECT_SOURCE_DIR}/cmake/troupe_stamp.cmake
    DEPENDS ${arg_SOURCE} DEPFILE ${image}.d
    VERBATIM COMMAND_EXPAND_LISTS COMMENT "Compiling the kernels of ${name}")
  add_custom_target(troupe_${name}_kernels DEPENDS ${image})
  # ccache does not see that the image is part of the source, so the source includes the image's hash.
  set_source_files_properties(${arg_EMBEDDED_IN} PROPERTIES OBJECT_DEPENDS "${image};${stamp}" COMPILE_DEFINITIONS TROUPE_KERNELS="${image}"
    COMPILE_OPTIONS "-include;${stamp}")
  if(NOT arg_WITH_OUR_HEADERS)
    set_property(GLOBAL APPEND PROPERTY TROUPE_BUILT_IN_KERNELS ${arg_SOURCE})
  endif()
endfunction()
