// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <troupe/base/result.hpp>

namespace troupe::bench {

/// The head of the table, which says on what machine.
void print_head();
/// One measure's line, and what it has to say below it.
void print_row(const measure& m, const result<figures>& found);
/// {"name","ours","raw","unit","ratio","goal","ok"} on one line. What was not measured is null, and not ok.
void print_json(const measure& m, const result<figures>& found);

}  // namespace troupe::bench
