// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include "compiled.hpp"
#include "kernel_steps.hpp"

namespace troupe::cuda_on_host::testing {

class kernel_writer {
 public:
  kernel_writer(random_source& random, style s) : random_(random), style_(s) {}

  std::string write(int number) {
    out_ = "extern \"C\" __global__ void k" + std::to_string(number) +
           "(unsigned* out, unsigned p, const unsigned q, bag a) {\n";
    p_ = place(1);
    bag_ = place(3);
    values_ = {constant("t", [](view v) { return v.own.t; }), constant("q", [](view) { return q; }),
               constant("blockIdx.x", [](view v) { return v.block.index; })};
    uniform_ = {values_[1], values_[2], literal(3)};
    if (chance(2)) variables_.push_back({"p", p_});
    line("const unsigned t = threadIdx.x;");
    program_ = std::make_shared<std::vector<step>>();
    now_ = program_;
    if (style_ == style::loop) {
      for (int n = 0; n < 12; ++n) plain();
    } else {
      line("__shared__ unsigned s[48], b0[48], b1[48];");
      line("s[t] = t * 7 + q;");
      line("b0[t] = b1[t] = 0;");  // other threads read even the elements of threads that return below
      each([](view v) { v.block.shared[v.own.t] = v.own.t * 7 + q; });
      leave();
      line("__syncthreads();");
      statements(3, 2);
    }
    const expression last = sum_of_all();
    const std::string own = style_ == style::loop ? "" : " + s[t]";
    line("out[blockIdx.x * blockDim.x + t] = " + last.text + own + ";");
    each(
        [this, last](view v) { result_[v.block.index * threads + v.own.t] = last.value(v) + v.block.shared[v.own.t]; });
    return out_ + "}\n";
  }

  // The expected content of `out`.
  std::vector<unsigned> result() {
    result_.assign(blocks * threads, untouched);
    for (unsigned index = 0; index < blocks; ++index) {
      own_block b;
      b.index = index;
      b.shared.assign(threads, 0);
      for (auto& buffer : b.buffers) buffer.assign(threads, 0);
      for (unsigned t = 0; t < threads; ++t) {
        b.all.push_back({std::vector<unsigned>(places_, 0), t, true});
        b.all.back().memory[p_] = p;
        for (unsigned i = 0; i < 3; ++i) b.all.back().memory[bag_ + i] = bag[i];
      }
      run_all(program_, b);
    }
    return result_;
  }

  static constexpr unsigned p = 11, q = 5, bag[3] = {21, 22, 23}, untouched = 0xabcdef;

 private:
  struct variable {
    std::string name;
    std::size_t at;
  };

  bool chance(int one_in) { return random_.between(1, one_in) == 1; }
  unsigned number(unsigned low, unsigned high) { return static_cast<unsigned>(random_.between(low, high)); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(from.size()) - 1))];
  }
  std::size_t place(std::size_t count) {
    places_ += count;
    return places_ - count;
  }
  void line(const std::string& text) {
    out_ += std::string(2 * static_cast<std::size_t>(depth_ + 1), ' ') + text + "\n";
  }
  std::string fresh() { return "v" + std::to_string(next_++); }
  bool is_odd() const { return style_ != style::simple; }

  static expression constant(const std::string& text, std::function<unsigned(view)> value) {
    return {text, std::move(value)};
  }
  static expression literal(unsigned n) {
    return {std::to_string(n) + "u", [n](view) { return n; }};
  }
  static expression read(const variable& v) {
    return {v.name, [at = v.at](view w) { return w.own.memory[at]; }};
  }

  // A statement without a barrier runs in each thread: at once, or when the statement that contains it does.
  void each(action a) {
    if (inner_) return inner_->push_back(std::move(a));
    now_->push_back([a = std::move(a)](own_block& b) {
      for (own_thread& t : b.all)
        if (t.is_alive) a({b, t});
    });
  }

  expression value(int size = 2) {
    if (size == 0 || chance(5)) return leaf();
    const expression l = value(size - 1), r = value(size - 1);
    const auto joined = [&](const char* text, auto f) {
      return expression{"(" + l.text + text + r.text + ")", [l, r, f](view v) { return f(l.value(v), r.value(v)); }};
    };
    switch (number(0, is_odd() ? 9 : 6)) {
      case 0:
        return joined(" + ", [](unsigned x, unsigned y) { return x + y; });
      case 1:
        return joined(" * ", [](unsigned x, unsigned y) { return x * y; });
      case 2:
        return joined(" ^ ", [](unsigned x, unsigned y) { return x ^ y; });
      case 3:
        return joined(" - ", [](unsigned x, unsigned y) { return x - y; });
      case 4:
        return joined(" & ", [](unsigned x, unsigned y) { return x & y; });
      case 5:
        return {"(" + l.text + " / ((" + r.text + ") | 1u))",
                [l, r](view v) { return l.value(v) / (r.value(v) | 1u); }};
      case 6: {
        const expression c = leaf();
        return {"(" + c.text + " > 4u ? " + l.text + " : " + r.text + ")",
                [c, l, r](view v) { return c.value(v) > 4u ? l.value(v) : r.value(v); }};
      }
      case 7:
        return {"(unsigned)(unsigned char)(" + l.text + ")", [l](view v) { return l.value(v) & 255u; }};
      case 8:
        return {"mix(" + l.text + ", " + r.text + ")", [l, r](view v) { return l.value(v) * 3 + r.value(v); }};
      default:
        return {"a.v[" + l.text + " % 2u]", [l, at = bag_](view v) { return v.own.memory[at + l.value(v) % 2u]; }};
    }
  }
  expression leaf() {
    const unsigned kind = number(0, 9);
    if (kind < 2) return literal(number(0, 9));
    if (kind < 6 && !variables_.empty()) return read(pick(variables_));
    if (kind == 6 && !arrays_.empty()) {
      const variable array = pick(arrays_);
      if (chance(2)) {
        const unsigned i = number(0, 2);
        return read({array.name + "[" + std::to_string(i) + "]", array.at + i});
      }
      const expression i = pick(values_);
      return {array.name + "[" + i.text + " % 3u]",
              [i, at = array.at](view v) { return v.own.memory[at + i.value(v) % 3u]; }};
    }
    if (kind == 7 && !pointers_.empty()) {
      const variable pointer = pick(pointers_);
      if (chance(2))
        return {"(unsigned)*" + pointer.name, [at = pointer.at](view v) { return v.own.memory[v.own.memory[at]]; }};
      const expression i = pick(values_);
      return {pointer.name + "[" + i.text + " % 3u]",
              [i, at = pointer.at](view v) { return v.own.memory[v.own.memory[at] + i.value(v) % 3u]; }};
    }
    if (kind == 8) return read({"a.w", bag_ + 2});
    return pick(values_);
  }
  expression uniform() {
    const expression u = pick(uniform_);
    const unsigned n = number(0, 5);
    if (chance(3)) return {"(64u / (" + u.text + " + 1u))", [u](view v) { return 64u / (u.value(v) + 1u); }};
    return {"(" + u.text + " + " + std::to_string(n) + ")", [u, n](view v) { return u.value(v) + n; }};
  }
  expression sum_of_all() {
    expression all = value();
    const auto add = [&](const expression& e) {
      all = {"(" + all.text + ") * 3u + " + e.text, [all, e](view v) { return all.value(v) * 3u + e.value(v); }};
    };
    for (const variable& v : variables_) add(read(v));
    for (const variable& v : arrays_)
      for (unsigned i = 0; i < 3; ++i) add(read({v.name + "[" + std::to_string(i) + "]", v.at + i}));
    return all;
  }

  void assign(const std::string& target, std::function<unsigned&(view)> where) {
    static const char* const forms[] = {" = ", " += ", " ^= "};
    const unsigned form = number(0, 2);
    const expression e = value();
    line(target + forms[form] + e.text + ";");
    each([where = std::move(where), e, form](view v) {
      const unsigned x = e.value(v);
      unsigned& to = where(v);
      to = form == 0 ? x : form == 1 ? to + x : to ^ x;
    });
  }
  void assignment() {
    const auto in = [](std::size_t at) { return [at](view v) -> unsigned& { return v.own.memory[at]; }; };
    const auto at_index = [](std::size_t at, const expression& i) {
      return [at, i](view v) -> unsigned& { return v.own.memory[at + i.value(v) % 3u]; };
    };
    const unsigned kind = number(0, is_odd() ? 9 : 3);
    if (kind == 3 && !arrays_.empty()) {
      const variable array = pick(arrays_);
      const expression i = pick(values_);
      return assign(array.name + "[" + i.text + " % 3u]", at_index(array.at, i));
    }
    if (kind == 4 && !pointers_.empty()) {
      const variable pointer = pick(pointers_);
      const expression i = pick(values_);
      if (chance(2))
        return assign("*" + pointer.name,
                      [at = pointer.at](view v) -> unsigned& { return v.own.memory[v.own.memory[at]]; });
      return assign(pointer.name + "[" + i.text + " % 3u]", [at = pointer.at, i](view v) -> unsigned& {
        return v.own.memory[v.own.memory[at] + i.value(v) % 3u];
      });
    }
    if (kind == 5) return assign("a.w", in(bag_ + 2));
    if (kind == 6) {
      const expression i = pick(values_);
      return assign("a.v[" + i.text + " % 2u]",
                    [at = bag_, i](view v) -> unsigned& { return v.own.memory[at + i.value(v) % 2u]; });
    }
    if (variables_.empty()) return;
    const variable one = pick(variables_), other = pick(variables_);
    if (kind == 7) return assign("*(unsigned*)&" + one.name, in(one.at));
    if (kind == 8) {
      const expression c = pick(values_);
      return assign(
          "(" + c.text + " % 2u ? " + one.name + " : " + other.name + ")",
          [c, x = one.at, y = other.at](view v) -> unsigned& { return v.own.memory[c.value(v) % 2u ? x : y]; });
    }
    if (kind == 9) {
      const expression e = value();
      line("grow(" + one.name + ", " + e.text + ");");
      return each([at = one.at, e](view v) {
        const unsigned by = e.value(v);
        v.own.memory[at] += by;
      });
    }
    assign(one.name, in(one.at));
  }

  void declare(const std::string& type, const std::string& name, const expression& e, bool is_writable) {
    const std::size_t at = place(1);
    line(type + " " + name + " = " + e.text + ";");
    each([at, e](view v) { v.own.memory[at] = e.value(v); });
    if (is_writable)
      variables_.push_back({name, at});
    else
      values_.push_back(read({name, at}));
  }

  // Statements that run for one thread, as often as `times` says.
  void nested(const std::function<unsigned(view)>& times, const std::function<void()>& write) {
    const auto outer = inner_;
    const auto mine = std::make_shared<std::vector<action>>();
    inner_ = mine;
    ++depth_;
    write();
    --depth_;
    inner_ = outer;
    each([mine, times](view v) {
      for (unsigned n = times(v); n > 0; --n)
        for (const action& a : *mine) a(v);
    });
  }

  void plain() {
    switch (number(0, is_odd() ? 10 : 8)) {
      case 0:
        return declare("unsigned", fresh(), value(), true);
      case 1:
        return declare("const unsigned", fresh(), value(3), false);
      case 2: {
        const variable v{fresh(), place(3)};
        const expression e[3] = {value(), value(1), leaf()};
        line("unsigned " + v.name + "[3] = {" + e[0].text + ", " + e[1].text + ", " + e[2].text + "};");
        each([at = v.at, x = e[0], y = e[1], z = e[2]](view w) {
          const unsigned values[3] = {x.value(w), y.value(w), z.value(w)};
          for (unsigned i = 0; i < 3; ++i) w.own.memory[at + i] = values[i];
        });
        arrays_.push_back(v);
        return;
      }
      case 3: {
        const expression e = value();
        line("if (" + e.text + " % 3u == 1u) {");
        nested([e](view v) { return e.value(v) % 3u == 1u ? 1u : 0u; }, [&] { assignment(); });
        line("}");
        return;
      }
      case 4: {
        const expression e = value(1);
        const std::size_t count = place(1);
        // The count is computed once: its operands may change inside.
        each([e, count](view v) { v.own.memory[count] = e.value(v) % 5u; });
        line("for (unsigned i = 0, n = " + e.text + " % 5u; i < n; ++i) {");
        nested([count](view v) { return v.own.memory[count]; },
               [&] {
                 assignment();
                 if (chance(2)) assignment();
               });
        line("}");
        return;
      }
      case 5: {
        const expression e = uniform();
        return declare(chance(2) ? "unsigned" : "auto", fresh(), {"0u + " + e.text, e.value}, true);
      }
      case 9: {
        if (arrays_.empty()) return;
        const variable array = pick(arrays_), pointer{fresh(), place(1)};
        line("unsigned* " + pointer.name + " = " + array.name + ";");
        each([at = pointer.at, to = array.at](view v) { v.own.memory[at] = static_cast<unsigned>(to); });
        pointers_.push_back(pointer);
        return;
      }
      case 10: {
        if (pointers_.empty()) return;
        const variable one = pick(pointers_), other = pick(pointers_);
        const std::string between = fresh();
        line("{ unsigned* " + between + " = " + one.name + "; " + one.name + " = " + other.name + "; " + other.name +
             " = " + between + "; }");
        each([x = one.at, y = other.at](view v) { std::swap(v.own.memory[x], v.own.memory[y]); });
        return;
      }
      default:
        return assignment();
    }
  }

  void leave() {
    if (!chance(3)) return;
    const unsigned from = number(20, 47);
    line("if (t >= " + std::to_string(from) + ") return;");
    each([from](view v) { v.own.is_alive = v.own.t < from; });
  }

  // Threads write, a barrier, then they read, a barrier.
  void exchange() {
    const expression e = value();
    line("s[t] = " + e.text + ";");
    each([e](view v) { v.block.shared[v.own.t] = e.value(v); });
    line("__syncthreads();");
    const unsigned shift = number(1, threads - 1);
    declare("unsigned", fresh(),
            {"s[(t + " + std::to_string(shift) + ") % 48u]",
             [shift](view v) { return v.block.shared[(v.own.t + shift) % threads]; }},
            true);
    if (chance(2)) plain();
    line("__syncthreads();");
  }

  // Two shared buffers that are exchanged.
  void buffers() {
    const std::string from = fresh(), to = fresh(), i = fresh();
    const expression first = value(), rounds = uniform(), more = pick(values_);
    const unsigned shift = number(1, threads - 1);
    line("unsigned *" + from + " = b0, *" + to + " = b1;");
    line(from + "[t] = " + first.text + ";");
    line(to + "[t] = 0;");
    line("__syncthreads();");
    line("for (unsigned " + i + " = 0; " + i + " < " + rounds.text + " % 4u; ++" + i + ") {");
    line("  " + to + "[t] = " + from + "[(t + " + std::to_string(shift) + ") % 48u] * 5u + " + more.text + ";");
    line("  __syncthreads();");
    line("  unsigned* other = " + from + "; " + from + " = " + to + "; " + to + " = other;");
    line("}");
    const variable v{fresh(), place(1)};
    line("unsigned " + v.name + " = " + from + "[(t + 1u) % 48u];");
    line("__syncthreads();");
    now_->push_back([first, rounds, more, shift, at = v.at](own_block& b) {
      const auto all = [&](auto f) {
        for (own_thread& t : b.all)
          if (t.is_alive) f(view{b, t});
      };
      unsigned count = 0;
      all([&](view w) { count = rounds.value(w) % 4u; });
      all([&](view w) {
        b.buffers[0][w.own.t] = first.value(w);
        b.buffers[1][w.own.t] = 0;
      });
      std::vector<unsigned>*x = &b.buffers[0], *y = &b.buffers[1];
      for (unsigned n = 0; n < count; ++n) {
        all([&](view w) { (*y)[w.own.t] = (*x)[(w.own.t + shift) % threads] * 5u + more.value(w); });
        std::swap(x, y);
      }
      all([&](view w) { w.own.memory[at] = (*x)[(w.own.t + 1u) % threads]; });
    });
    variables_.push_back(v);
  }

  // A separate scope; what is declared in it ends with it.
  steps block(int count, int nesting, const expression* more = nullptr) {
    const auto variables = variables_, arrays = arrays_, pointers = pointers_;
    const auto values = values_, uniforms = uniform_;
    const steps outer = now_, mine = std::make_shared<std::vector<step>>();
    now_ = mine;
    ++depth_;
    if (more) {
      values_.push_back(*more);
      uniform_.push_back(*more);
    }
    // A pointer of an outer scope must not point to an array of this one.
    pointers_.clear();
    statements(count, nesting);
    --depth_;
    now_ = outer;
    variables_ = variables;
    arrays_ = arrays;
    pointers_ = pointers;
    values_ = values;
    uniform_ = uniforms;
    return mine;
  }

  void counted_loop(const std::string& i, std::size_t at, int nesting) {
    const expression counter = read({i, at}), end = uniform();
    const unsigned begin = number(0, 2);
    line("for (unsigned " + i + " = " + std::to_string(begin) + "; " + i + " < " + end.text + " % 4u; " +
         (chance(2) ? "++" + i : i + " += 1") + ") {");
    const steps body = block(2, nesting - 1, &counter);
    line("}");
    now_->push_back([=](own_block& b) {
      for (unsigned n = begin;; ++n) {
        for (own_thread& t : b.all) t.memory[at] = n;
        const expression condition{"", [&](view v) { return n < end.value(v) % 4u ? 1u : 0u; }};
        if (!holds(condition, b)) return;
        run_all(body, b);
      }
    });
  }

  void statements(int count, int nesting) {
    for (int n = 0; n < count; ++n) {
      plain();
      const unsigned kind = number(0, nesting > 0 ? 8 : 2);
      if (kind <= 1) {
        exchange();
      } else if (kind == 2) {
        buffers();
      } else if (kind == 3) {
        counted_loop(fresh(), place(1), nesting);
      } else if (kind == 4) {
        // A loop whose count is in a variable of each thread, though all are equal.
        const variable i{fresh(), place(1)};
        const expression u = uniform();
        line("unsigned " + i.name + " = s[t] * 0u + " + u.text + " % 4u;");
        each([at = i.at, u](view v) { v.own.memory[at] = u.value(v) % 4u; });
        line("while (" + i.name + " > 0) {");
        line("  " + i.name + "--;");
        const steps body = block(2, nesting - 1);
        line("}");
        now_->push_back([body, i](own_block& b) {
          while (holds(read(i), b)) {
            for (own_thread& t : b.all) --t.memory[i.at];
            run_all(body, b);
          }
        });
        values_.push_back(read(i));
      } else if (kind == 5) {
        const expression u = uniform();
        line("if (" + u.text + " % 2u == 0) {");
        const steps yes = block(2, nesting - 1);
        line("} else {");
        const steps no = block(1, nesting - 1);
        line("}");
        now_->push_back([=](own_block& b) {
          const bool left = std::any_of(b.all.begin(), b.all.end(), [](const own_thread& t) { return t.is_alive; });
          if (left) run_all(holds({"", [&](view v) { return u.value(v) % 2u == 0 ? 1u : 0u; }}, b) ? yes : no, b);
        });
      } else if (kind == 6) {
        const std::string i = fresh();
        line("int " + i + " = 0;");
        line("do {");
        const steps body = block(2, nesting - 1);
        line("} while (++" + i + " < 2);");
        now_->push_back([body](own_block& b) {
          for (int round = 0; round < 2; ++round) run_all(body, b);
        });
      } else if (kind == 7) {
        leave();
      } else {
        line("{");
        const steps body = block(2, nesting - 1);
        line("}");
        now_->push_back([body](own_block& b) { run_all(body, b); });
      }
    }
  }

  random_source& random_;
  const style style_;
  std::string out_;
  steps program_, now_;
  std::shared_ptr<std::vector<action>> inner_;
  std::vector<variable> variables_, arrays_, pointers_;
  std::vector<expression> values_, uniform_;  // read-only; the same for all threads
  std::vector<unsigned> result_;
  std::size_t places_ = 0, p_ = 0, bag_ = 0;
  int next_ = 0, depth_ = 0;
};

}  // namespace troupe::cuda_on_host::testing
