// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
extern "C++" {  // the #include may be inside extern "C"
#include "complex"
}
