// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of graphs beyond the contract suite. They run on a GPU with TROUPE_TEST_ENGINE=cuda.
#include <troupe/device/sealing.hpp>

#include <tests/contract/kernels/graph_programs.hpp>

namespace troupe::whole {
namespace {

class a_graph : public testing::Test {
 protected:
  std::vector<float> content(const buffer<float>& b) const {
    const auto got = gpu_.download(b).get();
    EXPECT_OK(got);
    return got ? *got : std::vector<float>();
  }
  void launch(const graph::graph& g) const { EXPECT_OK(gpu_.ask(graph::launch{.graph = g}).get()); }
  buffer<float> numbers(float first = 0) const { return uploaded(gpu_, counting(64, first)); }
  buffer<std::uint32_t> flag(std::uint32_t value) const { return uploaded<std::uint32_t>(gpu_, {value}); }
  void set_flag(const buffer<std::uint32_t>& f, std::uint32_t value) const { gpu_.fill(f, value); }

  runtime runtime_;
  device gpu_ = runtime_.open_device(with_test_engines());
  graph_kernels k_{gpu_};
};

TEST_F(a_graph, computes_the_same_as_its_requests_in_a_hundred_launches) {
  const auto x = numbers(1), y = numbers(), z = gpu_.alloc<float>(64), x1 = numbers(1), y1 = numbers(),
             z1 = gpu_.alloc<float>(64);
  graph::recorder rec(gpu_);
  rec.copy(z, x);
  rec.add(k_.scale(0.5f, z));
  rec.add(k_.add(z, y));
  rec.add(k_.scale(1.01f, x), "grow");
  const graph::graph g = rec.finish();
  EXPECT_EQ(g.size(), 4u);
  for (int i = 0; i < 100; ++i) {
    gpu_.tell(graph::launch{.graph = g});
    gpu_.copy(z1, x1);
    gpu_.tell(k_.scale(0.5f, z1));
    gpu_.tell(k_.add(z1, y1));
    gpu_.tell(k_.scale(1.01f, x1));
  }
  EXPECT_EQ(content(y), content(y1));
  EXPECT_EQ(content(x), content(x1));
  EXPECT_GT(content(y)[63], 3200);
}

TEST_F(a_graph, applies_changed_requests_from_the_next_launch_on) {
  const auto x = numbers(), other = numbers(100);
  graph::recorder rec(gpu_);
  const graph::node n = rec.add(k_.scale(2, x));
  const graph::graph g = rec.finish();
  launch(g);
  EXPECT_OK(g.set(n, k_.scale(5, x)));
  launch(g);
  EXPECT_EQ(content(x), times(counting(64), 10));
  EXPECT_OK(g.set(n, k_.scale(3, other)));
  launch(g);
  EXPECT_EQ(content(x), times(counting(64), 10));
  EXPECT_EQ(content(other), times(counting(64, 100), 3));
}

TEST_F(a_graph, does_not_change_launches_that_are_already_queued) {
  const auto x = numbers(1), y = numbers(1);
  graph::recorder rec(gpu_);
  const graph::node n = rec.add(k_.scale(2, x));
  const graph::graph g = rec.finish();
  const graph::launch before{.graph = g};
  ASSERT_OK(g.set(n, k_.scale(3, y)));
  gpu_.tell(graph::launch{.graph = g});
  gpu_.tell(before);
  gpu_.tell(graph::launch{.graph = g});
  EXPECT_EQ(content(x), times(counting(64, 1), 2));
  EXPECT_EQ(content(y), times(counting(64, 1), 9));
}

TEST_F(a_graph, uses_another_buffer_and_its_slices_after_rebind) {
  const auto x = numbers(1), y = numbers(), to = numbers(1000);
  const auto f = flag(1), other = flag(0);
  graph::recorder rec(gpu_);
  rec.copy(y.slice(0, 32), x.slice(32, 32));
  rec.if_(f, [&](graph::recorder& then) { then.add(k_.scale(2, x)); });
  graph::recorder outer(gpu_);
  outer.add(rec.finish());
  const graph::graph g = outer.finish();
  EXPECT_OK(g.rebind(x, to));
  launch(g);
  EXPECT_EQ(content(x), counting(64, 1));
  EXPECT_EQ(content(to), times(counting(64, 1000), 2));
  EXPECT_EQ(content(y.slice(0, 32)), counting(32, 1032));
  EXPECT_OK(g.rebind(f, other));
  launch(g);
  EXPECT_EQ(content(to), times(counting(64, 1000), 2)) << "the replaced flag is used, too";
  set_flag(other, 1);
  launch(g);
  EXPECT_EQ(content(to), times(counting(64, 1000), 4)) << "the flag that was set is used";
}

TEST_F(a_graph, evaluates_the_flag_at_each_launch_after_its_body_changed) {
  const auto x = numbers(1);
  const auto f = flag(0);
  std::optional<graph::node> then_scales, else_scales;
  graph::recorder rec(gpu_);
  rec.if_(
      f, [&](graph::recorder& then) { then_scales = then.add(k_.scale(2, x)); },
      [&](graph::recorder& otherwise) { else_scales = otherwise.add(k_.scale(3, x)); });
  const graph::graph g = rec.finish();
  launch(g);
  EXPECT_EQ(content(x), times(counting(64, 1), 3));
  EXPECT_OK(g.set(*then_scales, k_.scale(5, x)));
  EXPECT_OK(g.set(*else_scales, k_.scale(7, x)));
  float factor = 3;
  for (const std::uint32_t value : {0u, 1u, 0u, 1u, 1u}) {
    set_flag(f, value);
    launch(g);
    factor *= value == 0 ? 7 : 5;
    EXPECT_EQ(content(x), times(counting(64, 1), factor)) << "flag " << value;
  }
}

TEST_F(a_graph, repeats_a_changed_body_while_its_new_flag_is_set) {
  const auto x = uploaded<float>(gpu_, {0}), y = uploaded<float>(gpu_, {0});
  const auto f = flag(3), other = flag(0);
  std::optional<graph::node> counts;
  graph::recorder rec(gpu_);
  rec.while_(f, [&](graph::recorder& body) { counts = body.add(k_.down(f, x)); });
  const graph::graph g = rec.finish();
  launch(g);
  EXPECT_EQ(content(x)[0], 3);
  EXPECT_OK(g.set(*counts, k_.down(f, y)));
  set_flag(f, 4);
  launch(g);
  EXPECT_EQ(content(y)[0], 4);
  EXPECT_OK(g.rebind(f, other));
  for (const std::uint32_t times : {0u, 2u, 5u}) {
    set_flag(other, times);
    launch(g);
  }
  EXPECT_EQ(content(x)[0], 3);
  EXPECT_EQ(content(y)[0], 11);
}

TEST_F(a_graph, is_unchanged_by_a_refused_change) {
  const auto x = numbers(1), y = numbers(), z = gpu_.alloc<float>(64), shorter = gpu_.alloc<float>(32);
  graph::recorder rec(gpu_), another(gpu_);
  const graph::node fills = rec.fill(z, 1), copies = rec.copy(y, x);
  const graph::node foreign = another.fill(z, 1);
  const graph::graph g = rec.finish();
  EXPECT_TRUE(is_error(error_of(g.rebind(x, shorter)), reaction::caller_bug, {"128 bytes", "expected", "256"}));
  EXPECT_TRUE(
      is_error(error_of(g.rebind(x, y)), reaction::caller_bug, {"node 1 (memory.copy)", "target overlaps source"}));
  EXPECT_TRUE(is_error(error_of(g.rebind(shorter, shorter)), reaction::caller_bug, {"no node uses"}));
  EXPECT_TRUE(
      is_error(error_of(g.rebind(x.slice(0, 8), y.slice(0, 8))), reaction::caller_bug, {"source lies only partly"}));
  EXPECT_TRUE(is_error(error_of(g.rebind(x, buffer<float>())), reaction::caller_bug, {"empty"}));
  EXPECT_TRUE(is_error(error_of(g.set(fills, k_.scale(2, x))), reaction::caller_bug,
                       {"node 0 (memory.fill) is a node of another kind", "jit.launch"}));
  EXPECT_TRUE(is_error(error_of(g.set(copies, g)), reaction::caller_bug, {"expected a child graph"}));
  EXPECT_TRUE(is_error(error_of(g.set(foreign, k_.scale(2, x))), reaction::caller_bug, {"to another one"}));
  EXPECT_TRUE(is_error(
      error_of(g.set(copies, memory::copy{.source = x.as<std::byte>(), .target = y.as<std::byte>(), .bytes = 257})),
      reaction::caller_bug, {"memory.copy", "source holds 256"}));
  EXPECT_TRUE(is_error(error_of(graph::graph().rebind(x, y)), reaction::caller_bug, {"is empty"}));
  launch(g);
  EXPECT_EQ(content(y), counting(64, 1));
}

TEST_F(a_graph, contains_copies_of_the_graphs_added_to_it) {
  const auto x = numbers(1);
  graph::recorder inner(gpu_, {.name = "inner"});
  const graph::node n = inner.add(k_.scale(2, x));
  const graph::graph child = inner.finish();
  graph::recorder rec(gpu_);
  const graph::node first = rec.add(child);
  rec.add(child);
  const graph::graph g = rec.finish();
  EXPECT_EQ(g.size(), 4u);
  EXPECT_OK(child.set(n, k_.scale(7, x)));
  launch(g);
  EXPECT_EQ(content(x), times(counting(64, 1), 4));
  EXPECT_OK(g.set(first, child));
  launch(g);
  EXPECT_EQ(content(x), times(counting(64, 1), 4 * 14));
}

TEST_F(a_graph, names_a_replaced_child_graph_unless_it_has_a_label) {
  const auto x = numbers();
  const auto of_name = [&](const char* name) {
    graph::recorder rec(gpu_, {.name = name});
    rec.fill(x, 1);
    return rec.finish();
  };
  graph::recorder rec(gpu_);
  const graph::node named = rec.add(of_name("first")), labelled = rec.add(of_name("first"), "mine");
  const graph::graph g = rec.finish();
  for (const graph::node& n : {named, labelled}) EXPECT_OK(g.set(n, of_name("second")));
  const std::string dot = g.dot();
  EXPECT_NE(dot.find("node 0 (graph \\\"second\\\")"), std::string::npos) << dot;
  EXPECT_NE(dot.find("node 1 (graph \\\"mine\\\")"), std::string::npos) << dot;
}

TEST_F(a_graph, decides_on_the_device_whether_a_body_runs) {
  const auto x = numbers(1);
  const auto f = flag(0);
  graph::recorder rec(gpu_);
  rec.if_(
      f, [&](graph::recorder& then) { then.add(k_.scale(2, x)); },
      [&](graph::recorder& otherwise) { otherwise.add(k_.scale(3, x)); });
  rec.if_(f, [&](graph::recorder& then) { then.add(k_.scale(5, x)); });
  const graph::graph g = rec.finish();
  launch(g);
  EXPECT_EQ(content(x), times(counting(64, 1), 3));
  set_flag(f, 7);
  launch(g);
  EXPECT_EQ(content(x), times(counting(64, 1), 30));
}

TEST_F(a_graph, decides_by_a_flag_that_its_own_nodes_write) {
  const auto x = numbers(1);
  const auto f = flag(0), one = flag(1);
  graph::recorder rec(gpu_);
  rec.copy(f, one);
  rec.if_(f, [&](graph::recorder& then) {
    then.add(k_.scale(2, x));
    then.fill(f, 0);
  });
  rec.if_(f, [&](graph::recorder& then) { then.add(k_.scale(100, x)); });
  launch(rec.finish());
  EXPECT_EQ(content(x), times(counting(64, 1), 2));
}

TEST_F(a_graph, repeats_a_body_until_the_device_clears_the_flag) {
  const auto x = uploaded<float>(gpu_, {0});
  const auto f = flag(10);
  graph::recorder rec(gpu_);
  rec.while_(f, [&](graph::recorder& body) { body.add(k_.down(f, x)); });
  const graph::graph g = rec.finish();
  launch(g);
  EXPECT_EQ(content(x)[0], 10);
  launch(g);
  EXPECT_EQ(content(x)[0], 10) << "the flag is 0, so the body does not run again";
  set_flag(f, 3);
  launch(g);
  EXPECT_EQ(content(x)[0], 13);
}

TEST_F(a_graph, repeats_nested_loops) {
  const auto x = uploaded<float>(gpu_, {0}), ignored = uploaded<float>(gpu_, {0});
  const auto outer = flag(3), inner = flag(0), four = flag(4);
  graph::recorder rec(gpu_);
  rec.while_(outer, [&](graph::recorder& body) {
    body.copy(inner, four);
    body.while_(inner, [&](graph::recorder& deeper) { deeper.add(k_.down(inner, x)); });
    body.add(k_.down(outer, ignored));
  });
  launch(rec.finish());
  EXPECT_EQ(content(x)[0], 12);
}

TEST_F(a_graph, keeps_buffers_and_programs_alive) {
  const auto result = numbers();
  graph::graph g;
  {
    const auto x = numbers(5), between = gpu_.alloc<float>(64);
    const graph_kernels own(gpu_);
    graph::recorder rec(gpu_);
    rec.copy(between, x);
    rec.add(own.scale(2, between));
    rec.copy(result, between);
    g = rec.finish();
  }
  for (int i = 0; i < 10; ++i) {
    const auto filler = gpu_.alloc<float>(64);
    gpu_.fill(filler, -1);
    launch(g);
  }
  EXPECT_EQ(content(result), times(counting(64, 5), 2));
  const std::uint64_t used = gpu_.statistics().memory.used_bytes;
  g = {};
  ASSERT_OK(gpu_.sync().get());
  EXPECT_LT(gpu_.statistics().memory.used_bytes, used);
}

TEST_F(a_graph, may_be_destroyed_while_it_runs) {
  const auto x = numbers(1);
  for (int i = 0; i < 20; ++i) {
    graph::recorder rec(gpu_);
    rec.add(k_.scale(2, x));
    rec.add(k_.scale(0.5f, x));
    gpu_.tell(graph::launch{.graph = rec.finish()});
  }
  EXPECT_EQ(content(x), counting(64, 1));
}

TEST_F(a_graph, refuses_stale_inputs_at_launch_and_replaces_stale_outputs) {
  const auto x = numbers(1), y = gpu_.alloc<float>(64);
  graph::recorder rec(gpu_);
  rec.copy(y, x);
  rec.add(k_.scale(2, y));
  const graph::graph g = rec.finish();
  const auto spoil = [&](const buffer<float>& b) {
    gpu_.tell(memory::fill{.target = b.as<std::byte>(), .bytes = -1, .pattern = {}, .pattern_bytes = 1});
  };
  spoil(y);
  EXPECT_FALSE(y.readable());
  launch(g);
  EXPECT_EQ(content(y), times(counting(64, 1), 2));
  spoil(x);
  EXPECT_TRUE(
      is_error(error_of(gpu_.ask(graph::launch{.graph = g})), reaction::caller_bug, {"memory.fill", "graph.launch"}));
  EXPECT_TRUE(is_error(error_of(gpu_.download(y)), reaction::caller_bug, {"graph.launch"}));
  gpu_.upload(x, counting(64, 1));
  launch(g);
  EXPECT_EQ(content(y), times(counting(64, 1), 2));
}

TEST_F(a_graph, counts_a_write_in_a_conditional_body_as_a_conditional_write) {
  const auto x = gpu_.alloc<float>(64);
  const auto f = flag(1);
  graph::recorder rec(gpu_);
  rec.if_(f, [&](graph::recorder& then) { then.fill(x, 1); });
  const graph::launch l{.graph = rec.finish()};
  bool found = false;
  for (const auto& u : l.graph.uses())
    if (u.where.address == x.memory().address) found = u.mode == access_mode::conditional_write;
  EXPECT_TRUE(found);
}

TEST_F(a_graph, that_would_write_a_sealed_buffer_is_refused_naming_the_node) {
  const auto x = gpu_.alloc<float>(64, {.sealable = true});
  gpu_.upload(x, counting(64));
  graph::recorder rec(gpu_);
  const auto y = gpu_.alloc<float>(64);
  rec.fill(y, 1);
  rec.add(k_.scale(2, x), "last");
  const graph::graph g = rec.finish();
  ASSERT_OK(seal(gpu_, x).get());
  EXPECT_TRUE(is_error(error_of(gpu_.ask(graph::launch{.graph = g})), reaction::caller_bug,
                       {"graph: what node 1 \"last\" (jit.launch scale (graphs.cu)) writes is sealed"}));
  ASSERT_OK(unseal(gpu_, x).get());
  launch(g);
  EXPECT_EQ(content(x), times(counting(64), 2));
}

TEST_F(a_graph, refuses_to_record_requests_that_involve_the_application) {
  const auto x = numbers();
  graph::recorder rec(gpu_);
  const auto host = gpu_.alloc_host<float>(64);
  const auto refused = [&](const auto& r, const char* name, const char* why) {
    const graph::node n = rec.add(r);
    EXPECT_FALSE(n);
    EXPECT_TRUE(is_error(n.error(), reaction::unsupported, {name, "cannot be part of a graph", why}));
  };
  refused(memory::upload{.source = host.memory().owner ? in<std::byte>(host.memory()) : in<std::byte>(x.memory()),
                         .target = x.as<std::byte>(),
                         .bytes = 256},
          "memory.upload", "application");
  refused(memory::ping{.value = 1}, "memory.ping", "returns a value");
  refused(memory::fence{}, "memory.sync", "whole device");
  graph::recorder other(gpu_);
  other.fill(x, 1);
  refused(graph::launch{.graph = other.finish()}, "graph.launch", "recorder::add(graph)");
  const graph::graph g = rec.finish();
  EXPECT_TRUE(is_error(error_of(gpu_.ask(graph::launch{.graph = g})), reaction::unsupported, {"memory.upload"}))
      << "the error is that of the first refused node";
}

TEST_F(a_graph, refuses_invalid_requests_as_ask_does) {
  const auto x = numbers();
  const device other = runtime_.open_device(with_test_engines());
  const auto foreign = other.alloc<float>(64);
  graph::recorder rec(gpu_);
  EXPECT_TRUE(is_error(rec.copy(x, foreign).error(), reaction::caller_bug, {"source belongs to another device"}));
  EXPECT_TRUE(is_error(rec.copy(x, buffer<float>()).error(), reaction::caller_bug, {"source is an empty buffer"}));
  EXPECT_TRUE(is_error(rec.copy(x, x).error(), reaction::caller_bug, {"target overlaps source"}));
  EXPECT_TRUE(is_error(rec.if_(buffer<std::uint32_t>(), [](graph::recorder&) {}).error(), reaction::caller_bug,
                       {"flag is an empty buffer"}));
  graph::recorder of_other(other);
  of_other.fill(foreign, 1);
  EXPECT_TRUE(is_error(rec.add(of_other.finish()).error(), reaction::caller_bug, {"belongs to another device"}));
  EXPECT_TRUE(is_error(rec.add(graph::graph()).error(), reaction::caller_bug, {"is empty"}));
  graph::recorder nothing(gpu_);
  EXPECT_TRUE(is_error(error_of(gpu_.ask(graph::launch{.graph = nothing.finish()})), reaction::caller_bug,
                       {"nothing was recorded"}));
  EXPECT_TRUE(is_error(nothing.fill(x, 1).error(), reaction::caller_bug, {"finish() was called"}));
}

TEST_F(a_graph, can_be_recorded_only_by_the_recorder_of_the_current_body) {
  const auto x = numbers(), y = numbers();
  const auto f = flag(1);
  const auto refused = [](const auto& why) {
    return is_error(why, reaction::caller_bug,
                    {"this recorder does not record the current body", "the recorder that is passed"});
  };
  const auto recorded = [&](auto&& wrongly) {
    graph::recorder rec(gpu_);
    rec.while_(f, [&](graph::recorder& body) {
      body.fill(f, 0);
      wrongly(rec, body);
    });
    EXPECT_TRUE(rec.fill(x, 1)) << "requests after the body are accepted";
    return error_of(gpu_.ask(graph::launch{.graph = rec.finish()}));
  };
  EXPECT_TRUE(refused(recorded([&](auto& rec, auto&) { EXPECT_TRUE(refused(rec.fill(x, 1).error())); })));
  EXPECT_TRUE(refused(recorded([&](auto& rec, auto&) { EXPECT_FALSE(rec.if_(f, [](graph::recorder&) {})); })));
  EXPECT_TRUE(refused(recorded([&](auto& rec, auto&) { EXPECT_FALSE(rec.finish()); })));
  EXPECT_TRUE(refused(recorded([&](auto&, auto& body) {
    body.if_(f, [&](graph::recorder&) { EXPECT_FALSE(body.fill(y, 1)); });
    EXPECT_TRUE(body.fill(y, 1));
  })));
  graph::recorder rec(gpu_);
  EXPECT_THROW(rec.if_(f, [](graph::recorder&) { throw 1; }), int);
  rec.fill(x, 3);
  launch(rec.finish());
  EXPECT_EQ(content(x)[0], 3) << "as if the condition had not been recorded";
}

TEST_F(a_graph, is_refused_after_its_program_is_unloaded_until_its_node_is_replaced) {
  const auto x = numbers(1);
  const graph_kernels own(gpu_);
  graph::recorder rec(gpu_);
  const graph::node n = rec.add(own.scale(2, x));
  const graph::graph g = rec.finish();
  launch(g);
  ASSERT_OK(own.program.unload().get());
  EXPECT_TRUE(is_error(error_of(gpu_.ask(graph::launch{.graph = g})), reaction::caller_bug,
                       {"node 0 (jit.launch scale (graphs.cu)) uses graphs.cu, which was unloaded"}));
  gpu_.upload(x, counting(64, 1));  // the refused launch should have written it, so it is stale
  ASSERT_OK(g.set(n, k_.scale(3, x)));
  launch(g);
  EXPECT_EQ(content(x), times(counting(64, 1), 3));
}

TEST_F(a_graph, fails_with_the_name_of_the_failed_node_and_leaves_its_outputs_stale) {
  const auto x = numbers(1), y = numbers();
  graph::recorder inner(gpu_, {.name = "inner"});
  inner.add(k_.scale(2, x));
  jit::launch wrong = k_.scale(2, x);
  wrong.kernel = k_.program.kernel("nothing");
  inner.add(wrong, "wrong");
  graph::recorder rec(gpu_);
  rec.copy(y, x);
  rec.add(inner.finish());
  EXPECT_TRUE(
      is_error(error_of(gpu_.ask(graph::launch{.graph = rec.finish()})), reaction::caller_bug,
               {"graph.launch", "node 1.1 \"wrong\" (jit.launch nothing (graphs.cu)): ", "has no kernel \"nothing\""}));
  EXPECT_FALSE(x.readable());
  EXPECT_TRUE(is_error(error_of(gpu_.download(y)), reaction::caller_bug, {"node 1.1"}));
}

TEST_F(a_graph, fails_with_the_name_of_the_node_whose_library_is_missing) {
  graph::recorder rec(gpu_);
  rec.fill(numbers(), 1);
  rec.add(nowhere::thing{});
  EXPECT_TRUE(is_error(error_of(gpu_.ask(graph::launch{.graph = rec.finish()})), reaction::unsupported,
                       {"node 1 (nowhere.thing): ", "no engine"}));
}

TEST_F(a_graph, exports_itself_for_graphviz) {
  const auto x = numbers(), y = numbers();
  const auto f = flag(1);
  graph::recorder rec(gpu_, {.name = "two \"steps\""});
  rec.copy(y, x);
  rec.add(k_.scale(2, y), "double");
  rec.if_(f, [&](graph::recorder& then) { then.fill(x, 0); });
  const std::string dot = rec.finish().dot();
  for (const char* const part : {"digraph \"two \\\"steps\\\"\" {", "\"0\" [label=\"node 0 (memory.copy)\"",
                                 "\"1\" [label=\"node 1 \\\"double\\\" (jit.launch scale (graphs.cu))\"",
                                 "\"0\" -> \"1\";", "\"2\" [label=\"node 2 (if)\", shape=diamond];", "label=\"then\"",
                                 "\"2.3\" [label=\"node 3 (memory.fill)\"", "\"0\" -> \"2\";"})
    EXPECT_NE(dot.find(part), std::string::npos) << part << "\nis not in\n" << dot;
  EXPECT_EQ(dot.find("\"1\" -> \"2\""), std::string::npos) << dot;
}

TEST_F(a_graph, is_one_small_request_even_with_thousands_of_nodes) {
  const auto x = numbers(1), y = numbers(1);
  graph::recorder rec(gpu_);
  for (int i = 0; i < 1000; ++i) {
    rec.add(k_.scale(2, x));
    rec.add(k_.add(x, y));
    rec.add(k_.scale(0.5f, x));
    rec.add(k_.scale(0.5f, y));
  }
  const graph::launch l{.graph = rec.finish()};
  EXPECT_EQ(l.graph.uses().size(), 5u) << "x, y, the program, and the graph twice";
  for (int i = 0; i < 3; ++i) EXPECT_OK(gpu_.ask(l).get());
  EXPECT_EQ(content(x), counting(64, 1));
  EXPECT_EQ(content(y), times(counting(64, 1), 2)) << "y = (y + 2 x) / 2 converges to 2 x";
}

}  // namespace
}  // namespace troupe::whole
