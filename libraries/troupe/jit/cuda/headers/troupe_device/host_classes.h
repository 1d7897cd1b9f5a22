// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Names that only a host has. Including them is allowed; using one fails to compile, with an explanation.
#pragma once
#include "../limits"  // as the headers of a host bring it, and sources rely on it
#include "../stddef.h"

namespace troupe_device {

template <class...>
inline constexpr bool never = false;

}  // namespace troupe_device

#define TROUPE_IS_THE_HOSTS(name) \
  "std::" #name " is host-only; leave code that uses it out of the source, or between #ifndef __CUDACC_RTC__ and #endif"
#define TROUPE_HOST_CLASS(name)                                             \
  template <class... T>                                                     \
  class name {                                                              \
    static_assert(::troupe_device::never<T...>, TROUPE_IS_THE_HOSTS(name)); \
  };
#define TROUPE_HOST_NAME(name)                                              \
  template <class... T, class... A>                                         \
  int name(const A&...) {                                                   \
    static_assert(::troupe_device::never<A...>, TROUPE_IS_THE_HOSTS(name)); \
    return 0;                                                               \
  }

namespace std {

TROUPE_HOST_CLASS(basic_string)
TROUPE_HOST_CLASS(basic_string_view)
TROUPE_HOST_CLASS(vector)
TROUPE_HOST_CLASS(deque)
TROUPE_HOST_CLASS(list)
TROUPE_HOST_CLASS(forward_list)
TROUPE_HOST_CLASS(map)
TROUPE_HOST_CLASS(multimap)
TROUPE_HOST_CLASS(set)
TROUPE_HOST_CLASS(multiset)
TROUPE_HOST_CLASS(unordered_map)
TROUPE_HOST_CLASS(unordered_multimap)
TROUPE_HOST_CLASS(unordered_set)
TROUPE_HOST_CLASS(unordered_multiset)
TROUPE_HOST_CLASS(queue)
TROUPE_HOST_CLASS(priority_queue)
TROUPE_HOST_CLASS(stack)
TROUPE_HOST_CLASS(valarray)

TROUPE_HOST_CLASS(any)
TROUPE_HOST_CLASS(function)
TROUPE_HOST_CLASS(allocator)
TROUPE_HOST_CLASS(unique_ptr)
TROUPE_HOST_CLASS(shared_ptr)
TROUPE_HOST_CLASS(weak_ptr)
TROUPE_HOST_NAME(make_unique)
TROUPE_HOST_NAME(make_shared)
TROUPE_HOST_NAME(to_string)
TROUPE_HOST_NAME(stoi)
TROUPE_HOST_NAME(stol)
TROUPE_HOST_NAME(stoll)
TROUPE_HOST_NAME(stof)
TROUPE_HOST_NAME(stod)
TROUPE_HOST_NAME(getline)
using string = basic_string<char>;
using string_view = basic_string_view<char>;

TROUPE_HOST_CLASS(basic_istream)
TROUPE_HOST_CLASS(basic_ostream)
TROUPE_HOST_CLASS(basic_iostream)
TROUPE_HOST_CLASS(basic_ifstream)
TROUPE_HOST_CLASS(basic_ofstream)
TROUPE_HOST_CLASS(basic_fstream)
TROUPE_HOST_CLASS(basic_stringstream)
TROUPE_HOST_CLASS(basic_istringstream)
TROUPE_HOST_CLASS(basic_ostringstream)
using istream = basic_istream<char>;
using ostream = basic_ostream<char>;
using iostream = basic_iostream<char>;
using ifstream = basic_ifstream<char>;
using ofstream = basic_ofstream<char>;
using fstream = basic_fstream<char>;
using stringstream = basic_stringstream<char>;
using istringstream = basic_istringstream<char>;
using ostringstream = basic_ostringstream<char>;

}  // namespace std

namespace troupe_device {

// std::cout and the other streams are enumerators, because NVRTC would put objects into each program.
enum stream { cin, cout, cerr, clog };
template <class T>
stream operator<<(stream s, const T&) {
  static_assert(never<T>, "streams are host-only; a kernel has printf");
  return s;
}
template <class T>
stream operator>>(stream s, const T&) {
  static_assert(never<T>, "streams are host-only");
  return s;
}
// A class that is not a template: its constructor is a template instead.
struct host_only_class {
  template <class... T>
  host_only_class(const T&...) {
    static_assert(never<T...>, "threads, locks and random devices are host-only");
  }
};
// For exceptions, which the compiler itself refuses to throw.
struct host_only_error {
  template <class... T>
  host_only_error(const T&...) {}
  const char* what() const noexcept { return ""; }
};

}  // namespace troupe_device

namespace std {

using ::troupe_device::cerr;
using ::troupe_device::cin;
using ::troupe_device::clog;
using ::troupe_device::cout;
enum host_only_format { fixed, scientific, boolalpha, hex, dec, left, right, endl, flush };
constexpr int setw(int n) { return n; }
constexpr int setprecision(int n) { return n; }
constexpr char setfill(char c) { return c; }

struct exception : ::troupe_device::host_only_error {
  using host_only_error::host_only_error;
};
struct runtime_error : exception {
  using exception::exception;
};
struct logic_error : exception {
  using exception::exception;
};
struct invalid_argument : exception {
  using exception::exception;
};
struct out_of_range : exception {
  using exception::exception;
};
struct bad_alloc : exception {
  using exception::exception;
};
struct thread : ::troupe_device::host_only_class {
  using host_only_class::host_only_class;
};
struct mutex : ::troupe_device::host_only_class {
  using host_only_class::host_only_class;
};
struct recursive_mutex : ::troupe_device::host_only_class {
  using host_only_class::host_only_class;
};
struct shared_mutex : ::troupe_device::host_only_class {
  using host_only_class::host_only_class;
};
struct condition_variable : ::troupe_device::host_only_class {
  using host_only_class::host_only_class;
};
struct random_device : ::troupe_device::host_only_class {
  using host_only_class::host_only_class;
};
TROUPE_HOST_CLASS(lock_guard)
TROUPE_HOST_CLASS(unique_lock)
TROUPE_HOST_CLASS(scoped_lock)
TROUPE_HOST_CLASS(future)
TROUPE_HOST_CLASS(promise)
TROUPE_HOST_CLASS(packaged_task)
TROUPE_HOST_CLASS(uniform_int_distribution)
TROUPE_HOST_CLASS(uniform_real_distribution)
TROUPE_HOST_CLASS(normal_distribution)
TROUPE_HOST_CLASS(bernoulli_distribution)
TROUPE_HOST_CLASS(discrete_distribution)
TROUPE_HOST_CLASS(linear_congruential_engine)
TROUPE_HOST_CLASS(mersenne_twister_engine)
TROUPE_HOST_NAME(async)
using mt19937 = mersenne_twister_engine<unsigned>;
using mt19937_64 = mersenne_twister_engine<unsigned long>;
using default_random_engine = linear_congruential_engine<unsigned>;
using minstd_rand = linear_congruential_engine<unsigned>;

namespace chrono {

TROUPE_HOST_CLASS(duration)
TROUPE_HOST_CLASS(time_point)
TROUPE_HOST_NAME(duration_cast)
struct system_clock {
  template <class T = void>
  static int now() {
    static_assert(::troupe_device::never<T>, "std::chrono is host-only; a kernel has clock64()");
    return 0;
  }
};
using steady_clock = system_clock;
using high_resolution_clock = system_clock;
using nanoseconds = duration<long>;
using microseconds = duration<long>;
using milliseconds = duration<long>;
using seconds = duration<long>;

}  // namespace chrono

}  // namespace std
#undef TROUPE_HOST_CLASS
#undef TROUPE_HOST_NAME
