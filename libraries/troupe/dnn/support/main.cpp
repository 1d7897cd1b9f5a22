// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/dnn.md, which tests/docs/compare_support compares with the page.
#include <cstdio>
#include <set>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/dnn/support/table.hpp>

namespace troupe::dnn::support {
namespace {

constexpr int skipped = 77;  // exit code for ctest

constexpr dtype types[] = {dtype::f32,    dtype::f64,      dtype::f16, dtype::bf16, dtype::f8e4m3,  dtype::f8e5m2,
                           dtype::f4e2m1, dtype::i8,       dtype::u8,  dtype::i16,  dtype::u16,     dtype::i32,
                           dtype::u32,    dtype::f8e8m0,   dtype::i64, dtype::u64,  dtype::boolean, dtype::c64,
                           dtype::c128,   dtype::f4e2m1x2, dtype::c32, dtype::cbf16};
static_assert(std::size(types) + 1 == std::size(dtype_table));

std::vector<support_case> all_cases() {
  std::vector<support_case> out;
  for (auto cases : {cases_of_images(), cases_of_sequences(), cases_of_sets(), cases_of_elements()})
    out.insert(out.end(), cases.begin(), cases.end());
  return out;
}

struct engines {
  host_engine host;
  cuda_engine cuda;
};

void ask(const engines& e, const support_case& c, dtype type, table& to) {
  tensors memory(type);
  const results r = c.make(memory);
  std::vector<written> all;
  for (const value& v : r.stored) all.push_back(memory.to_memory(v, true, r.channels_last));
  for (const value& v : r.others) all.push_back(memory.to_memory(v, false));
  const graph g{std::span<const written>(all)};
  if (const auto& why = g.refused()) {
    const node_support refused{"refused", cat(why->what, "; expected ", why->expected)};
    return to.add(c, type, refused, refused);
  }
  std::vector<std::uint64_t> encoded(g.encoded_bytes() / sizeof(std::uint64_t));
  g.encode(reinterpret_cast<std::byte*>(encoded.data()));
  const encoded_graph decoded(reinterpret_cast<const std::byte*>(encoded.data()), g.encoded_bytes());
  to.add(c, type, e.host.ask({decoded, c.what, type}), e.cuda.ask({decoded, c.what, type}));
}

// Returns the operations that no case uses.
std::string missing(const std::vector<support_case>& cases) {
  std::set<op> used;
  for (const support_case& c : cases) used.insert(c.what);
  std::string out;
  for (int i = 1; is_known(static_cast<op>(i)); ++i)
    if (!used.contains(static_cast<op>(i))) out += cat(" ", to_string(static_cast<op>(i)));
  return out;
}

int run() {
  auto host = host_engine::make();
  auto cuda = cuda_engine::make();
  for (const std::string& why : {host ? "" : host.error().text(), cuda ? "" : cuda.error().text()})
    if (!why.empty()) {
      std::fprintf(stderr, "the table cannot be printed: %s\n", why.c_str());
      return skipped;
    }
  const engines both{std::move(*host), std::move(*cuda)};
  const auto cases = all_cases();
  if (const std::string names = missing(cases); !names.empty()) {
    std::fprintf(stderr, "operations without a case:%s; add one in libraries/troupe/dnn/support\n", names.c_str());
    return 1;
  }
  table out;
  for (const support_case& c : cases)
    for (const dtype t : types) ask(both, c, t, out);
  std::fputs(out.text().c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace troupe::dnn::support

int main() { return troupe::dnn::support::run(); }
