// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// All of graph: requests that are recorded once and launched as one. See docs/graphs.md.
#include <troupe/graph/recorder.hpp>
#include <troupe/graph/requests.hpp>
