// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All of faults: deliberate failures, for tests. See docs/faults.md.
#include <troupe/faults/injector.hpp>
#include <troupe/faults/requests.hpp>
#include <troupe/faults/storm.hpp>
