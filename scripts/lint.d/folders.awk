# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# awk -v most=N -f folders.awk: reads paths of files; prints each folder with more than N, except those below, and each
# of those that no longer needs to be one.
BEGIN {
  exceptions["docs"] = "a page is known by its address: other pages, installations and links from elsewhere have it"
  exceptions["examples"] = "each file is a program of its own, which pages quote by its name"
  exceptions["libraries/troupe/jit/cuda/headers"] = "the names are those by which CUDA C++ includes them"
}
{ sub(/\/[^\/]*$/, ""); ++files[$0] }
END {
  for (folder in files) if (files[folder] > most && !(folder in exceptions)) print folder ": " files[folder] " files; expected at most " most
  for (folder in exceptions) if (files[folder] <= most) print folder ": " files[folder] + 0 " files, which need no exception"
}
