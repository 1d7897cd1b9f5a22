# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# TROUPE_HAS_CUDA: whether the CUDA engines are built. TROUPE_CUDA says AUTO (where the toolkit is), ON (must be there) or OFF.
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
