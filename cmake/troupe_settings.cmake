# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers and the places where built programs go.
include(GNUInstallDirs)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
# The worker and its engines live together, in the build tree as in an install: see system/system.hpp.
set(TROUPE_RUNTIME_SUBDIR libexec/troupe)
set(TROUPE_RUNTIME_OUTPUT ${PROJECT_BINARY_DIR}/${TROUPE_RUNTIME_SUBDIR})

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

add_library(troupe_settings INTERFACE)
target_compile_features(troupe_settings INTERFACE cxx_std_20)
target_compile_options(troupe_settings INTERFACE
  $<BUILD_INTERFACE:-Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers>
  $<BUILD_INTERFACE:$<$<BOOL:${TROUPE_WERROR}>:-Werror>>
  # g++ does not model atomic_thread_fence under -fsanitize=thread; we use none on paths it must understand.
  $<BUILD_INTERFACE:$<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>>)
if(TROUPE_SANITIZE)
  add_compile_options(-fsanitize=${TROUPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TROUPE_SANITIZE})
endif()
find_package(Threads REQUIRED)
find_program(TROUPE_CCACHE ccache)
if(TROUPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TROUPE_CCACHE})
endif()
