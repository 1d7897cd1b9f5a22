// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0

// nvJitLink leaks a few kilobytes for each link that fails.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libnvJitLink\n"; }
