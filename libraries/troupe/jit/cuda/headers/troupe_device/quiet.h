// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// The headers of CUDA define macros of the C library for themselves, without asking whether there are any. The values
// are the same, the spellings are not, and that is no news for a user of either.
#pragma once
#pragma nv_diag_suppress 47
