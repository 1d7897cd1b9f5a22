// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// A shared object that is not a host image.
extern "C" __attribute__((visibility("default"))) int answer() { return 42; }
