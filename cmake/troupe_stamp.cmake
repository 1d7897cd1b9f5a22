# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# cmake -D IMAGE=file -D STAMP=header -P troupe_stamp.cmake: writes a header that differs whenever the file does.
file(SHA256 ${IMAGE} hash)
file(WRITE ${STAMP} "// ${hash}\n")
