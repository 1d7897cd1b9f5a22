// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests the parts of graph that need no device: combined accesses, dependencies and recipes.
#include <gtest/gtest.h>

#include <troupe/graph/internal/accesses.hpp>
#include <troupe/graph/internal/recipe_writer.hpp>

namespace troupe::graph {
namespace {

struct touch {
  std::uint64_t a, b;
  TROUPE_REQUEST("testing.touch", a, b)
  void check(checker&) const {}
};

/// A step with given accesses, all of them to one block.
class touching final : public step {
 public:
  touching(block_ref owner, std::initializer_list<memory_access> all) {
    for (const memory_access& a : all) accesses_.push_back({{owner, a.begin, a.end - a.begin}, a.mode});
  }
  const request_info& info() const noexcept override { return troupe::detail::info_of<touch>; }
  std::size_t blob_bytes() const noexcept override { return 40; }
  void encode(std::byte* payload, blob_cursor blob) const noexcept override {
    std::memset(payload, 7, info().payload_bytes);
    std::memset(blob.host, 9, 40);
    std::memcpy(payload, &blob.address, 8);
  }
  std::string describe() const override { return "touching"; }
  std::string operand_at(const memory_range&) const override { return "bytes"; }
  result<std::shared_ptr<const step>> rebound(const device&, const rebinding&) const override {
    return std::shared_ptr<const step>();
  }
};

class graph_accesses : public testing::Test {
 protected:
  static constexpr access_mode r = access_mode::read, w = access_mode::write, rw = access_mode::read_write;

  tree_node request(std::initializer_list<memory_access> all) {
    tree_node n{.kind = node_kind::request, .number = next_++};
    n.what = std::make_shared<touching>(owner_, all);
    return n;
  }
  tree_node with_body(node_kind kind, tree_body body, memory_access flag = {}) {
    tree_node n{.kind = kind, .number = next_++, .label = kind == node_kind::child ? "inner" : ""};
    if (kind != node_kind::child)
      n.what = std::make_shared<touching>(owner_, std::initializer_list<memory_access>{flag});
    n.body = std::move(body);
    return n;
  }
  static std::string text(const std::vector<snapshot::use>& all) {
    const char* const modes[] = {"r", "w", "rw", "cw"};
    std::string out;
    for (const auto& u : all)
      out += std::to_string(u.where.address) + "-" + std::to_string(u.where.address + u.where.bytes) + " " +
             modes[static_cast<int>(u.mode)] + ", ";
    return out;
  }
  static std::string uses(const tree_body& all) {
    access_summary s;
    s.add(all);
    return text(s.uses());
  }

  std::uint32_t next_ = 0;
  block_ref owner_;
};

TEST_F(graph_accesses, read_what_a_node_reads_before_another_node_replaces_it) {
  EXPECT_EQ(uses({request({{0, 10, w}}), request({{0, 10, r}, {20, 30, w}})}), "0-10 w, 20-30 w, ");
  EXPECT_EQ(uses({request({{0, 10, r}, {20, 30, w}}), request({{0, 10, w}})}), "0-10 rw, 20-30 w, ");
  EXPECT_EQ(uses({request({{0, 10, rw}}), request({{0, 10, w}})}), "0-10 rw, ");
  EXPECT_EQ(uses({request({{0, 4, w}}), request({{0, 10, r}})}), "0-4 w, 4-10 r, ")
      << "only a part of the memory is replaced";
  EXPECT_EQ(uses({request({{2, 4, r}, {6, 8, r}}), request({{0, 10, w}})}), "0-2 w, 2-4 rw, 4-6 w, 6-8 rw, 8-10 w, ");
  EXPECT_EQ(uses({request({{0, 10, w}, {5, 15, r}})}), "0-5 w, 5-10 rw, 10-15 r, ") << "one node does both";
}

TEST_F(graph_accesses, merge_accesses_to_adjacent_memory) {
  tree_body all;
  for (std::uint64_t i = 0; i < 1000; ++i) all.push_back(request({{i * 8, i * 8 + 8, w}, {100000 + i, 100001 + i, r}}));
  EXPECT_EQ(uses(all), "0-8000 w, 100000-101000 r, ");
}

TEST_F(graph_accesses, do_not_count_conditional_writes_as_replacing_memory) {
  EXPECT_EQ(uses({with_body(node_kind::child, {request({{0, 10, w}})})}), "0-10 w, ");
  EXPECT_EQ(uses({with_body(node_kind::if_, {request({{0, 10, w}})}, {90, 94, r})}), "0-10 cw, 90-94 r, ");
  EXPECT_EQ(uses({with_body(node_kind::while_, {request({{0, 10, w}}), request({{90, 94, w}})}, {90, 94, r})}),
            "0-10 cw, 90-94 rw, ");
  EXPECT_EQ(uses({request({{0, 10, w}}), with_body(node_kind::if_, {request({{0, 10, w}})}, {90, 94, r})}),
            "0-10 w, 90-94 r, ");
}

TEST_F(graph_accesses, do_not_read_what_a_body_replaces_before_it_reads) {
  const memory_access flag{90, 94, r};
  const auto loop = [&](tree_body body) { return with_body(node_kind::while_, std::move(body), flag); };
  const auto either = [&](tree_body then, tree_body otherwise) {
    tree_node n = with_body(node_kind::if_, std::move(then), flag);
    n.otherwise = std::move(otherwise);
    return n;
  };
  EXPECT_EQ(uses({loop({request({{0, 10, w}}), request({{0, 10, r}, {20, 30, rw}})})}), "0-10 cw, 20-30 rw, 90-94 r, ");
  EXPECT_EQ(uses({loop({request({{0, 10, r}}), request({{0, 10, w}})})}), "0-10 rw, 90-94 r, ");
  EXPECT_EQ(uses({loop({request({{0, 5, w}}), request({{0, 10, r}})})}), "0-5 cw, 5-10 r, 90-94 r, ")
      << "only a part of the memory is replaced";
  EXPECT_EQ(uses({loop({request({{0, 10, w}})}), request({{0, 10, r}})}), "0-10 rw, 90-94 r, ")
      << "the loop may not run";
  EXPECT_EQ(uses({request({{0, 10, w}}), loop({request({{0, 10, w}})}), request({{0, 10, r}})}), "0-10 w, 90-94 r, ");
  EXPECT_EQ(uses({loop({request({{0, 10, w}})}), request({{0, 10, w}})}), "0-10 w, 90-94 r, ");

  EXPECT_EQ(uses({loop({loop({request({{0, 10, w}}), request({{0, 10, r}})})})}), "0-10 cw, 90-94 r, ");
  EXPECT_EQ(uses({loop({request({{0, 10, w}}), loop({request({{0, 10, r}})})})}), "0-10 cw, 90-94 r, ");
  EXPECT_EQ(uses({loop({loop({request({{0, 10, w}})}), request({{0, 10, r}})})}), "0-10 rw, 90-94 r, ")
      << "the inner loop may not run";

  EXPECT_EQ(uses({either({request({{0, 10, w}})}, {request({{0, 10, w}})}), request({{0, 10, r}})}),
            "0-10 w, 90-94 r, ")
      << "only one of the two bodies runs";
  EXPECT_EQ(uses({either({request({{0, 10, w}}), request({{0, 10, r}})}, {})}), "0-10 cw, 90-94 r, ");
  EXPECT_EQ(uses({either({request({{0, 10, w}})}, {request({{0, 10, r}})})}), "0-10 rw, 90-94 r, ");
  EXPECT_EQ(uses({either({}, {request({{0, 10, r}})})}), "0-10 r, 90-94 r, ");
  EXPECT_EQ(uses({either({request({{0, 10, w}})}, {loop({request({{0, 10, w}})})})}), "0-10 cw, 90-94 r, ");
  EXPECT_EQ(uses({either({request({{88, 92, w}})}, {})}), "88-90 cw, 90-92 rw, 92-94 r, ") << "the flag";
}

TEST_F(graph_accesses, name_the_node_that_reads_memory_from_outside) {
  tree_body all;
  all.push_back(request({{0, 5, w}}));
  tree_body inner;
  inner.push_back(request({{0, 10, w}, {20, 30, r}}));
  inner.push_back(request({{5, 10, r}}));
  all.push_back(with_body(node_kind::while_, std::move(inner), {90, 94, r}));
  all.push_back(request({{5, 10, r}}));
  access_summary s;
  s.add(all);
  const node_names names = names_of(all);
  std::string found;
  for (const node_access& a : s.accesses())
    if (a.reader != nullptr) found += std::to_string(a.where.address) + ": " + names.at(a.reader) + ", ";
  EXPECT_EQ(found, "5: node 4 (testing.touch), 20: node 1 (testing.touch), 90: node 3 (while), ");
}

TEST_F(graph_accesses, make_each_node_wait_for_exactly_the_nodes_it_needs) {
  using needs = std::vector<std::vector<std::uint32_t>>;
  EXPECT_EQ(dependencies({request({{0, 10, w}}), request({{0, 10, r}}), request({{0, 10, r}}), request({{0, 10, w}}),
                          request({{0, 10, r}})}),
            (needs{{}, {0}, {0}, {0, 1, 2}, {3}}));
  EXPECT_EQ(dependencies({request({{0, 10, w}}), request({{10, 20, w}}), request({{5, 15, rw}}), request({{0, 5, r}}),
                          request({{30, 40, r}})}),
            (needs{{}, {}, {0, 1}, {0}, {}}));
  EXPECT_EQ(dependencies({request({{90, 94, w}}), with_body(node_kind::if_, {request({{0, 10, w}})}, {90, 94, r}),
                          request({{5, 6, r}})}),
            (needs{{}, {0}, {1}}));
}

// The edges must order every pair of conflicting nodes, directly or through other nodes. No edge may connect two nodes
// that do not conflict.
TEST_F(graph_accesses, order_nodes_as_a_comparison_of_all_pairs_does) {
  std::uint64_t seed = 12345;
  const auto random = [&seed](std::uint64_t below) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
  };
  for (int round = 0; round < 200; ++round) {
    tree_body all;
    for (int i = 0; i < 12; ++i) {
      const auto some = [&] {
        const std::uint64_t begin = random(40);
        return memory_access{begin, begin + 1 + random(10), static_cast<access_mode>(random(3))};
      };
      all.push_back(request({some(), some()}));
    }
    const auto conflict = [](const tree_node& a, const tree_node& b) {
      for (const auto& x : a.what->accesses())
        for (const auto& y : b.what->accesses())
          if ((x.mode != r || y.mode != r) && x.where.address < y.where.address + y.where.bytes &&
              y.where.address < x.where.address + x.where.bytes)
            return true;
      return false;
    };
    const auto needs = dependencies(all);
    std::vector<std::vector<bool>> before(all.size(), std::vector<bool>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i)
      for (const std::uint32_t d : needs[i]) {
        EXPECT_TRUE(conflict(all[d], all[i])) << "round " << round << ": " << d << " -> " << i;
        before[i][d] = true;
        for (std::size_t k = 0; k < d; ++k) before[i][k] = before[i][k] || before[d][k];
      }
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (conflict(all[k], all[i])) {
          EXPECT_TRUE(before[i][k]) << "round " << round << ": " << k << " and " << i;
        }
  }
}

class graph_recipe : public graph_accesses {
 protected:
  graph_recipe() {
    tree_body inner;
    inner.push_back(request({{0, 10, w}}));
    inner.push_back(request({{0, 10, rw}}));
    all_.push_back(request({{90, 94, w}}));
    all_.push_back(with_body(node_kind::child, std::move(inner)));
    all_.back().branches = 2;
    all_.push_back(with_body(node_kind::if_, {request({{0, 10, rw}})}, {90, 94, r}));
    all_.back().otherwise.push_back(request({{20, 30, w}}));
    const recipe_writer writer(all_, "of a test", 17, 3);
    bytes_.resize((writer.bytes() + 15) / 16);
    writer.write(reinterpret_cast<std::byte*>(bytes_.data()), address());
  }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }
  struct alignas(16) sixteen {
    std::byte all[16];
  };
  tree_body all_;
  std::vector<sixteen> bytes_;
};

TEST_F(graph_recipe, reads_back_as_it_was_written) {
  const recipe_view view(address());
  ASSERT_TRUE(view.sound());
  EXPECT_EQ(view.head().version, 17u);
  EXPECT_EQ(view.head().branches, 3u);
  const auto nodes = view.nodes();
  ASSERT_EQ(nodes.size(), 7u);
  const char* const names[] = {"node 2 (testing.touch)",
                               "node 3 (graph \"inner\")",
                               "node 3.0 (testing.touch)",
                               "node 3.1 (testing.touch)",
                               "node 5 (if)",
                               "node 4 (testing.touch)",
                               "node 6 (testing.touch)"};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(view.name(nodes[i]), names[i]);
  EXPECT_EQ(nodes[1].end, 4u);
  EXPECT_EQ(nodes[1].branches, 2u);
  EXPECT_EQ(nodes[4].otherwise, 6u);
  EXPECT_EQ(nodes[4].end, 7u);
  EXPECT_EQ(nodes[4].flag, 90u);
  const auto needs = view.dependencies(nodes[4]);
  EXPECT_EQ(std::vector<std::uint32_t>(needs.begin(), needs.end()), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(view.dependencies(nodes[3]).front(), 2u) << "dependencies are indices into the list of all nodes";
  const std::byte* const payload = view.payload(nodes[3]);
  EXPECT_EQ(payload[8], std::byte{7});
  std::uint64_t blob;
  std::memcpy(&blob, payload, sizeof blob);
  EXPECT_EQ(*reinterpret_cast<const std::byte*>(blob + 39), std::byte{9});
  EXPECT_EQ(blob % 16, 0u);
}

TEST_F(graph_recipe, is_rejected_if_any_of_its_offsets_or_indices_is_invalid) {
  auto* const head = reinterpret_cast<recipe_head*>(bytes_.data());
  auto* const nodes = reinterpret_cast<recipe_node*>(head + 1);
  const auto refused = [&](auto& field, auto value) {
    const auto before = std::exchange(field, static_cast<std::remove_reference_t<decltype(field)>>(value));
    EXPECT_FALSE(recipe_view(address()).sound());
    field = before;
    EXPECT_TRUE(recipe_view(address()).sound());
  };
  refused(head->bytes, 100);
  refused(head->node_count, 100000);
  refused(head->dependency_count, 100000);
  refused(head->dependencies_at, head->dependencies_at + 1);
  refused(nodes[2].payload_at, head->bytes);
  refused(nodes[2].name_bytes, 1u << 30);
  refused(nodes[2].end, 8);
  refused(nodes[2].end, 2);
  refused(nodes[4].otherwise, 4);
  refused(nodes[4].first_dependency, 1000);
  auto* const dependency = reinterpret_cast<std::uint32_t*>(reinterpret_cast<std::byte*>(head) + head->dependencies_at);
  refused(*dependency, 6);
}

}  // namespace
}  // namespace troupe::graph
