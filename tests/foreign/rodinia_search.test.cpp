// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <map>
#include <queue>
#include <string>

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

FOREIGN_SOURCE(rodinia, mummer) {
  union address {
    unsigned data;
    unsigned short half[2];
  };
  struct alignas(16) node {
    address child[4];
    int start, end, pad[2];
  };
  struct match {
    int node, length;
    bool operator==(const match&) const = default;
  };
  const std::string letters = "ACGT";
  std::string text;
  for (const int i : integers(120, 0, 3)) text += letters[i];
  std::vector<char> reference(text.begin(), text.end());
  // A tree of all suffixes, one letter per edge, no longer than the reads.
  const int longest = 24, shortest = 3;
  std::vector<node> tree(1);
  for (std::size_t from = 0; from < text.size(); ++from)
    for (std::size_t at = from, n = 0; at < std::min(text.size(), from + longest); ++at) {
      const auto code = letters.find(text[at]);
      if (tree[n].child[code].data == 0) {
        tree[n].child[code].data = static_cast<unsigned>(tree.size());
        tree.push_back({{}, static_cast<int>(at), static_cast<int>(at) + 1, {}});
      }
      n = tree[n].child[code].data;
    }
  std::string all;
  std::vector<int> addresses, lengths, expected;
  for (const int from : integers(40, 0, 90)) {
    std::string read = text.substr(from, 16);
    read[from % 16] = from % 5 == 0 ? 'N' : letters[from % 4];
    addresses.push_back(static_cast<int>(all.size()));
    lengths.push_back(static_cast<int>(read.size()));
    all += read;
    for (int start = 0; start < 16; ++start) {
      int length = 16 - start;
      while (length > 0 && text.find(read.substr(start, length)) == std::string::npos) --length;
      expected.push_back(start > 16 - shortest ? -7 : length < shortest ? 0 : length);
    }
  }
  const std::vector<char> queries(all.begin(), all.end());
  std::vector<match> matches(all.size(), {-7, -7});
  launch("match_kernel", {1, 64}, matches, queries, addresses, lengths, int(lengths.size()), shortest, tree, reference);
  std::vector<int> got;
  for (const match& m : matches) got.push_back(m.length);
  expect_equal("lengths", got, expected);
}

FOREIGN_SOURCE(rodinia, nw) {
  const int tiles = 4, n = tiles * 16, cols = n + 1, penalty = 10;
  const auto similarity = integers(cols * cols, -4, 11);
  std::vector<int> scores(cols * cols);
  for (int i = 0; i < cols; ++i) scores[i] = scores[i * cols] = -i * penalty;
  auto expected = scores;
  for (int i = 1; i < cols; ++i)
    for (int j = 1; j < cols; ++j)
      expected[i * cols + j] = std::max({expected[(i - 1) * cols + j - 1] + similarity[i * cols + j],
                                         expected[i * cols + j - 1] - penalty, expected[(i - 1) * cols + j] - penalty});
  for (int d = 1; d <= tiles; ++d) launch("upper_left", {d, 16}, similarity, scores, cols, penalty, d);
  for (int d = tiles - 1; d >= 1; --d) launch("lower_right", {d, 16}, similarity, scores, cols, penalty, d, tiles);
  expect_equal("scores", scores, expected);
}

FOREIGN_SOURCE(rodinia, pathfinder) {
  const int rows = 9, cols = 300, at_once = 4;
  const auto wall = integers(rows * cols, 0, 9);
  std::vector<int> now(wall.begin(), wall.begin() + cols), next(cols), expected = now;
  for (int r = 1; r < rows; ++r) {
    const auto before = expected;
    for (int c = 0; c < cols; ++c)
      expected[c] =
          wall[r * cols + c] + std::min({before[std::max(c - 1, 0)], before[c], before[std::min(c + 1, cols - 1)]});
  }
  for (int r = 1; r < rows; r += at_once) {
    launch("cheapest_kernel", {blocks(cols, 128 - 2 * at_once), 128}, at_once, wall, now, next, cols, r);
    now = next;
  }
  expect_equal("costs", now, expected);
}

FOREIGN_SOURCE(rodinia, streamcluster) {
  struct point {
    float weight;
    float* coord;
    long assign;
    float cost;
  };
  const int n = 300, dim = 6, centres = 4, stride = centres + 1;
  const long x = 17;
  const auto coordinates = floats(n * dim), weights = floats(n, 1, 2), costs = floats(n, 0, 4);
  const auto table = integers(n, 0, centres - 1);
  std::vector<point> points;
  std::vector<double> expected(n * stride);
  std::vector<char> expected_switch(n);
  for (int i = 0; i < n; ++i) {
    points.push_back({weights[i], nullptr, (i * 7L) % n, costs[i]});
    double cost = 0;
    for (int d = 0; d < dim; ++d) cost += weights[i] * std::pow(coordinates[d * n + i] - coordinates[d * n + x], 2);
    expected_switch[i] = cost < costs[i] ? 1 : 0;
    expected[i * stride + (cost < costs[i] ? centres : table[points[i].assign])] = -std::abs(cost - costs[i]);
  }
  std::vector<float> lower(n * stride);
  flags switched(n);
  launch("gain_of_opening", {blocks(n, 128), 128, dim * 4}, n, dim, x, points, centres, stride, coordinates, lower,
         table, switched);
  expect_near("savings", lower, expected, 1e-5);

  expect_equal("switched", std::vector<char>(switched.begin(), switched.end()), expected_switch);
}

}  // namespace troupe::foreign
