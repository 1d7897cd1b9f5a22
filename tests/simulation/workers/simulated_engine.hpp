// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/worker/engine.hpp>

namespace troupe::simulation {

class simulated_worker;

/// Makes an engine for this worker that serves all requests of the simulation. The caller deletes it by its `close`.
const troupe_engine& make_engine(simulated_worker& w);

}  // namespace troupe::simulation
