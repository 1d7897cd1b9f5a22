// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/graph/cuda/capture.hpp>
#include <troupe/graph/internal/recipe_writer.hpp>
#include <troupe/graph/internal/tree.hpp>
#include <vector>

namespace troupe::graph {

using cuda::testing::fake_graph, cuda::testing::fake_node;
inline cuda::testing::fake_driver& driver = cuda::testing::driver();

struct numbered {
  std::uint64_t number;
  TROUPE_REQUEST("testing.numbered", number)
  void check(checker&) const {}
};

enum class kind : std::uint8_t {
  plain,
  in_two_steps,
  needs_scratch,
  fails,
  cannot_be_recorded,
  fails_while_invalid,
  loses_the_context
};

/// A step that enqueues a call with its number.
class touching final : public step {
 public:
  touching(std::uint64_t number, std::vector<memory_access> all) : number_(number) {
    for (const memory_access& a : all) accesses_.push_back({{{}, a.begin, a.end - a.begin}, a.mode});
  }
  const request_info& info() const noexcept override { return troupe::detail::info_of<numbered>; }
  std::size_t blob_bytes() const noexcept override { return 0; }
  void encode(std::byte* payload, blob_cursor) const noexcept override { std::memcpy(payload, &number_, 8); }
  std::string describe() const override { return "touching"; }
  std::string operand_at(const memory_range&) const override { return "bytes"; }
  result<std::shared_ptr<const step>> rebound(const device&, const rebinding&) const override {
    return std::shared_ptr<const step>();
  }

 private:
  std::uint64_t number_;
};

/// A fixture that writes recipes of such steps, which enqueue "step(NUMBER)".
class recorded_steps : public testing::Test {
 protected:
  static constexpr access_mode r = access_mode::read, w = access_mode::write, rw = access_mode::read_write;

  tree_node request(std::vector<memory_access> all, kind how = kind::plain) {
    tree_node n{.kind = node_kind::request, .number = next_++};
    n.what = std::make_shared<touching>(n.number, std::move(all));
    kinds_.resize(next_);
    kinds_[n.number] = how;
    return n;
  }
  tree_node with_body(node_kind kind, tree_body body, tree_body otherwise = {}) {
    tree_node n{.kind = kind, .number = next_++, .label = "inner"};
    if (kind != node_kind::child) n.what = std::make_shared<touching>(0, std::vector<memory_access>{{900, 904, r}});
    n.body = std::move(body);
    n.otherwise = std::move(otherwise);
    kinds_.resize(next_);
    return n;
  }
  recipe_view recipe_of(const tree_body& all, std::uint32_t branches = 4) {
    const recipe_writer writer(all, "recorded", 1, branches);
    bytes_.assign((writer.bytes() + 15) / 16, {});
    const auto address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    writer.write(reinterpret_cast<std::byte*>(bytes_.data()), address);
    const recipe_view recipe(address);
    EXPECT_TRUE(recipe.sound());
    return recipe;
  }
  operation_list operations_of(const recipe_view& recipe) {
    static troupe_engine_operation operation{};
    operation.run = &run;
    return operation_list(recipe.head().node_count, {&operation, this, 0});
  }

  std::uint64_t scratch_bytes_ = 1000;
  std::vector<void*> scratch_;  ///< every scratch address that `c.scratch` has returned

 private:
  static bool run(void* self, const void* payload, const troupe_engine_call* c, troupe_engine_failure* failure) {
    std::uint64_t number;
    std::memcpy(&number, payload, 8);
    EXPECT_NE(c->recording, nullptr);
    EXPECT_NE(c->reply, nullptr);
    auto& mine = *static_cast<recorded_steps*>(self);
    const kind how = mine.kinds_[number];
    if (how == kind::needs_scratch)
      for (const std::uint64_t bytes : {std::uint64_t{100}, mine.scratch_bytes_}) {
        mine.scratch_.push_back(c->recording->scratch(c->recording->state, bytes, failure));
        EXPECT_NE(mine.scratch_.back(), nullptr);
      }
    if (how == kind::fails) {
      troupe::detail::fill(failure, reaction::caller_bug, 7, "test", "it fails");
      return false;
    }
    if (how >= kind::cannot_be_recorded) driver.capture.status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    if (how > kind::cannot_be_recorded) {
      const CUresult what =
          how == kind::loses_the_context ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
      troupe::detail::fill(failure, reaction::context_lost, what, "test", "the stream is broken");
      failure->restart_library = 1;
      return false;
    }
    if (how == kind::in_two_steps) (void)driver.enqueue(nullptr, "before step", number);
    (void)driver.enqueue(nullptr, "step", number);
    return true;
  }
  struct alignas(16) sixteen {
    std::byte all[16];
  };
  std::uint32_t next_ = 0;
  std::vector<kind> kinds_;
  std::vector<sixteen> bytes_;
};

}  // namespace troupe::graph
