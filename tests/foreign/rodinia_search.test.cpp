// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <map>
#include <queue>

#include "source.hpp"

namespace troupe::foreign {

FOREIGN_SOURCE(rodinia, bfs) {
  struct node {
    int first_edge, edge_count;
  };
  const int n = 300;
  std::vector<node> nodes;
  std::vector<int> edges;
  for (const int degree : integers(n, 0, 4)) {
    nodes.push_back({static_cast<int>(edges.size()), degree});
    for (const int to : integers(degree, 0, n - 1)) edges.push_back(to);
  }
  std::vector<int> expected(n, -1), level = expected;
  std::queue<int> open;
  expected[0] = level[0] = 0;
  for (open.push(0); !open.empty(); open.pop()) {
    const node& from = nodes[open.front()];
    for (int e = from.first_edge; e < from.first_edge + from.edge_count; ++e)
      if (expected[edges[e]] < 0) {
        expected[edges[e]] = expected[open.front()] + 1;
        open.push(edges[e]);
      }
  }
  flags front(n), next(n), seen(n), again(1);
  front[0] = seen[0] = 1;
  do {
    again[0] = 0;
    launch("expand", {blocks(n, 128), 128}, nodes, edges, front, next, seen, level, n);
    launch("advance", {blocks(n, 128), 128}, front, next, seen, again, n);
  } while (again[0] != 0);
  expect_equal("levels", level, expected);
}

FOREIGN_SOURCE(rodinia, btree) {
  constexpr int order = 16;
  struct node {
    int place, children[order + 1], keys[order + 1];
    bool is_leaf;
    int num_keys;
  };
  // Two levels: a root, and leaves of 12 keys each.
  const int leaves = 10, each = 12;
  std::map<int, int> known;
  std::vector<int> keys, values = integers(leaves * each, 0, 1'000'000);
  std::vector<node> tree(1 + leaves);
  for (node& t : tree) std::fill(std::begin(t.keys), std::end(t.keys), INT_MAX);
  int key = 0;
  for (int i = 0; i < leaves * each; ++i) {
    key += integers(1, 1, 5)[0];
    node& leaf = tree[1 + i / each];
    leaf.keys[i % each] = key;
    leaf.children[i % each] = i;
    known[key] = values[i];
    if (i % each == 0) {
      tree[0].keys[i / each] = i == 0 ? 0 : key;
      tree[0].children[i / each] = 1 + i / each;
    }
  }
  const auto wanted = integers(100, 1, key);
  std::vector<int> expected, answer(wanted.size(), -1);
  for (const int w : wanted) expected.push_back(known.contains(w) ? known[w] : -1);
  std::vector<std::int64_t> current(wanted.size()), chosen = current;
  launch("find_keys", {int(wanted.size()), order}, 1L, tree, long(tree.size()), values, current, chosen, wanted,
         answer);
  expect_equal("values", answer, expected);
}

FOREIGN_SOURCE(rodinia, kmeans, .globals = {"c_centres"}) {
  const int points = 300, features = 5, clusters = 4, threads = 64;
  const auto rows = floats(points * features), centres = floats(8 * 16);
  std::vector<float> columns(points * features);
  launch("invert_mapping", {blocks(points, threads), threads}, rows, columns, points, features);
  auto membership = integers(points, 0, clusters - 1);
  std::vector<int> expected, changed(blocks(points, threads)), expected_changed = changed;
  for (int p = 0; p < points; ++p) {
    std::array<double, clusters> squares{};
    for (int i = 0; i < clusters * features; ++i)
      squares[i / features] += std::pow(rows[p * features + i % features] - centres[i], 2);
    expected.push_back(int(std::min_element(squares.begin(), squares.end()) - squares.begin()));
    expected_changed[p / threads] += expected.back() != membership[p] ? 1 : 0;
  }
  write_global("c_centres", centres);
  launch("nearest_centre", {blocks(points, threads), threads}, columns, features, points, clusters, membership,
         changed);
  expect_equal("membership", membership, expected);
  expect_equal("changed", changed, expected_changed);
}

FOREIGN_SOURCE(rodinia, nn) {
  struct place {
    float lat, lng;
  };
  const int n = 500;
  const float lat = 30, lng = 90;
  const auto lats = floats(n, 0, 60), lngs = floats(n, 0, 180);
  std::vector<place> places(n);
  std::vector<double> expected;
  for (int i = 0; i < n; ++i) {
    places[i] = {lats[i], lngs[i]};
    expected.push_back(std::hypot(lats[i] - lat, lngs[i] - lng));
  }
  std::vector<float> distances(n);
  launch("euclid", {{2, 1}, 256}, places, distances, n, lat, lng);
  expect_near("distances", distances, expected, 1e-6);
}

}  // namespace troupe::foreign
