// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0

// OpenBLAS is not built with the thread sanitizer, which therefore sees the copies that OpenBLAS makes, but not how it
// hands them to its threads.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:libopenblas\n"; }
