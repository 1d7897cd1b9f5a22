// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// va_list, va_start, va_arg and va_end are built into NVRTC.
#pragma once
