// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace troupe::cuda_on_host {

// Processor features have the names that __builtin_cpu_supports takes.

// Returns the first of `features`, a list separated by spaces, that the processor lacks, or an empty text.
std::string missing_in_processor(std::string_view features);

// Returns a source text: preprocessed with the options of a compilation, it lists the features that the code may use.
const std::string& feature_query();
// Moves this list from a preprocessed text to `features`. Returns false if the text contains no list.
bool extract_features(std::string& preprocessed, std::string& features);

}  // namespace troupe::cuda_on_host
