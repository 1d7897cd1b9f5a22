# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# cmake -P scripts/fetch.cmake: fetches sources from PyPI to .deps if they are missing, by name, version and hash. Fails
# if they are unavailable; the build then leaves out what needs them.
set(deps ${CMAKE_CURRENT_LIST_DIR}/../.deps)

# The FFT of ducc0; the files in use are BSD-3-Clause: see docs/dependencies.md.
set(name ducc0-0.42.0)
set(hash 4e11c59b53a43355b053aebb2a62ee16eebeed026575f7d216cf09d437ce52ef)
set(url https://files.pythonhosted.org/packages/d0/28/e2b293b1744a63dd61465fdefe1b15d1d9bdbf6ff72fca4cb2f629084a14/${name}.tar.gz)
if(NOT EXISTS ${deps}/${name}/src/ducc0/fft/fft.h)
  file(DOWNLOAD ${url} ${deps}/${name}.tar.gz STATUS status INACTIVITY_TIMEOUT 30 TLS_VERIFY ON)
  list(GET status 0 code)
  if(NOT code EQUAL 0)
    file(REMOVE ${deps}/${name}.tar.gz)
    message(FATAL_ERROR "${name} could not be fetched from PyPI: ${status}. Check the connection, or build without fft.host.")
  endif()
  file(SHA256 ${deps}/${name}.tar.gz got)
  if(NOT got STREQUAL hash)
    file(REMOVE ${deps}/${name}.tar.gz)
    message(FATAL_ERROR "${name} from PyPI was not accepted: its SHA-256 is ${got}; expected ${hash}")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${deps}/${name}.tar.gz DESTINATION ${deps})
  file(REMOVE ${deps}/${name}.tar.gz)
endif()
