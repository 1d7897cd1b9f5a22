// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
extern "C++" {  // whatever stands around the #include
#include "complex"
}
