// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What kernels find in the headers of C. The same text is compiled as plain C++, whose standard library gives the expected results.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

struct fields {
  char a;
  double b;
  short c[3];
};
static_assert(offsetof(fields, b) == 8 && offsetof(fields, c) == 16, "a constant, as in C");
constexpr float infinities[2] = {INFINITY, -INFINITY};

// `k`: numbers that no compiler knows: k[i] is i.
template <class Put>
__device__ void values_of_math(Put& put, const int* k) {
  const int two = k[2], nine = k[9];
  const float half = k[1] / 2.0f;
  const double third = k[1] / 3.0;
  put("sqrt(int)", sqrt(nine));
  put("sqrt(unsigned char)", sqrt((unsigned char)nine));
  put("sqrt(double)", sqrt(third));
  put("pow(int, int)", pow(two, nine));
  put("pow(float, double)", pow(half, third));
  put("pow(double, int)", pow(third, two));
  put("fmax(float, double)", fmax(half, third));
  put("fmin(int, double)", fmin(two, third));
  put("fmod(int, double)", fmod(nine, third + 2));
  put("hypot(int, int)", hypot(k[3], k[4]));
  put("atan2(float, int)", atan2(half, two));
  put("copysign(int, double)", copysign(two, -third));
  put("log2(size_t)", log2((size_t)k[8]));
  put("floor(long)", floor((long)k[7]));
  put("lround", lround(half + k[3]));
  put("llround(int)", llround(two));
  put("ilogb", ilogb((double)k[9]));
  put("ldexp(int, int)", ldexp(two, nine));
  int exponent = 0;
  put("frexp", frexp(third, &exponent));
  put("frexp's exponent", exponent);
  float whole = 0;
  put("modff", modff(half + k[5], &whole));
  put("modff's whole", whole);
  put("fma(float, double, int)", fma(half, third, two));
  put("fma(double)", fma(third, third, third));
  put("abs(int)", abs(-nine));
  put("abs(long long)", (double)llabs(-(long long)nine));
  put("fabs(int)", fabs(-two));
  put("rint", rint(half + two));
  put("M_PI", M_PI * two);
  put("M_SQRT1_2", M_SQRT1_2 * two);
  put("M_E", M_E * two);
  put("M_LN2", M_LN2 * two);
  put("isnan(NAN)", isnan(NAN * two));
  put("isnan(int)", isnan(two));
  put("isinf(INFINITY)", isinf(INFINITY - two));
  put("isinf(float)", isinf(half));
  put("isfinite(-HUGE_VAL)", isfinite(-HUGE_VAL + two));
  put("isnormal(tiny)", isnormal(FLT_MIN * half));
  put("isnormal(double)", isnormal(third));
  put("signbit(-0.0)", signbit(-0.0 * two));
  put("signbit(int)", signbit(-two));
  put("fpclassify(0)", fpclassify(0.0f * two) == FP_ZERO);
  put("fpclassify(tiny)", fpclassify(FLT_MIN * half) == FP_SUBNORMAL);
  put("fpclassify(tiny double)", fpclassify(DBL_MIN * third) == FP_SUBNORMAL);
  put("fpclassify(INFINITY)", fpclassify(INFINITY * two) == FP_INFINITE);
  put("fpclassify(NAN)", fpclassify(NAN * two) == FP_NAN);
  put("isgreater", isgreater(third, half));
  put("islessequal(int, float)", islessequal(two, half));
  put("isunordered", isunordered(half, NAN));
  put("a constant infinity", infinities[k[1]] < -FLT_MAX);
  put("min(int, long)", (double)min(two, (long)nine));
  put("max(int, size_t)", (double)max(two, (size_t)nine));
  put("max(float, double)", max(half, third));
}

template <class Put>
__device__ void values_of_limits(Put& put, const int* k) {
  put("INT_MAX", (double)INT_MAX - k[1]);
  put("INT_MIN", (double)INT_MIN + k[1]);
  put("UINT_MAX", (double)UINT_MAX - k[1]);
  put("LONG_MAX", (double)(LONG_MAX / k[3]));
  put("LONG_MIN", (double)(LONG_MIN / k[3]));
  put("ULONG_MAX", (double)(ULONG_MAX / (unsigned long)k[3]));
  put("LLONG_MIN", (double)(LLONG_MIN / k[3]));
  put("ULLONG_MAX", (double)(ULLONG_MAX / (unsigned long long)k[3]));
  put("SHRT_MIN", SHRT_MIN + k[1]);
  put("USHRT_MAX", USHRT_MAX + k[1]);
  put("SCHAR_MIN", SCHAR_MIN + k[1]);
  put("CHAR_MAX", CHAR_MAX + k[1]);
  put("CHAR_BIT", CHAR_BIT * k[1]);
  put("FLT_MAX", FLT_MAX / k[2]);
  put("FLT_MIN", FLT_MIN * k[2]);
  put("FLT_EPSILON", FLT_EPSILON * k[2]);
  put("FLT_MANT_DIG", FLT_MANT_DIG * k[1]);
  put("FLT_DIG", FLT_DIG * k[1]);
  put("DBL_MAX", DBL_MAX / k[2]);
  put("DBL_MIN", DBL_MIN * k[2]);
  put("DBL_EPSILON", DBL_EPSILON * k[2]);
  put("DBL_MAX_EXP", DBL_MAX_EXP * k[1]);
  put("INT64_MAX", (double)(INT64_MAX / k[3]));
  put("UINT64_MAX", (double)(UINT64_MAX / (uint64_t)k[3]));
  put("UINT32_MAX", (double)UINT32_MAX - k[1]);
  put("INT8_MIN", INT8_MIN + k[1]);
  put("SIZE_MAX", (double)(SIZE_MAX / (size_t)k[3]));
  put("INT64_C", (double)(INT64_C(5000000000) + k[1]));
  put("UINT64_C", (double)(UINT64_C(5000000000) + (uint64_t)k[1]));
  int8_t a = (int8_t)k[7];
  uint16_t b = (uint16_t)-k[1];
  int64_t c = (int64_t)k[7] << 40;
  uintptr_t d = (uintptr_t)k;
  put("int8_t", a);
  put("uint16_t", b);
  put("int64_t", (double)c);
  put("uintptr_t", (const int*)d == k);
  put("sizes", sizeof(int_fast16_t) >= 2 && sizeof(intmax_t) == 8 && sizeof(ssize_t) == 8 && sizeof(time_t) == 8);
  uint u = (uint)k[3];
  ushort s = (ushort)k[4];
  ulong l = (ulong)k[5];
  put("uint", u + s + (double)l);
  bool t = k[3];
  put("bool", t);
  put("errno's numbers", EINVAL * k[1] + ERANGE);
}

template <class Put>
__device__ void values_of_strings(Put& put, const int* k) {
  char text[32] = "the quick brown fox", other[32];
  put("strlen", (double)strlen(text + k[4]));
  put("strcmp", strcmp(text, "the quick") > 0);
  put("strncmp", strncmp(text, "the quack", (size_t)k[6]));
  put("strcasecmp", strcasecmp("HELLO", k[1] ? "hello" : ""));
  put("strchr", (double)(strchr(text, 'q') - text));
  put("strrchr", (double)(strrchr(text, 'o') - text));
  put("strstr", (double)(strstr(text, "brown") - text));
  put("strstr of what is not there", strstr(text, "red") == NULL);
  put("strspn", (double)strspn(text, "eht "));
  put("strcspn", (double)strcspn(text, "w"));
  put("strcpy", (double)strlen(strcpy(other, text + k[4])));
  strncpy(other, "ab", (size_t)k[5]);
  put("strncpy fills", other[3] == 0 && other[5] != 0);
  other[2] = 0;
  put("strcat", strcmp(strcat(other, "cd"), "abcd"));
  put("strncat", strcmp(strncat(other, "efgh", (size_t)k[2]), "abcdef"));
  put("memcmp", memcmp(text, "thf", (size_t)k[3]) < 0);
  put("memchr", (double)((const char*)memchr(text, 'b', (size_t)k[15]) - text));
  memmove(text + k[2], text, 8);
  put("memmove forward", strncmp(text, "ththe qui", 9));
  memmove(text, text + k[2], 8);
  put("memmove back", strncmp(text, "the quic", 7));
  memset(other, k[5], 4);
  memcpy(other + 4, other, 4);
  put("memset, memcpy", other[7]);
  int letters = 0;
  for (int i = 0; i < 128; ++i)
    letters += (isalpha(i) != 0) + 2 * (isdigit(i) != 0) + 3 * (isspace(i) != 0) + 5 * (ispunct(i) != 0) +
               7 * (isxdigit(i) != 0) + 11 * (iscntrl(i) != 0) + 13 * (isprint(i) != 0) + toupper(i) - tolower(i);
  put("ctype.h", letters);
  put("atoi", atoi(" -1234x") * k[1]);
  put("atol", (double)atol("+5000000000"));
  put("div", div(k[17], k[5]).quot * 100 + div(k[17], k[5]).rem);
  put("lldiv", (double)lldiv(-k[17], k[5]).rem);
  int* zeros = (int*)calloc((size_t)k[4], sizeof(int));
  put("calloc", zeros[0] + zeros[k[3]]);
  free(zeros);
  put("difftime", difftime((time_t)k[9], (time_t)k[4]));
  put("clock", clock() != (clock_t)-1);
  struct timeval when = {k[3], k[4]};
  put("timeval", (double)when.tv_sec + when.tv_usec);
  assert(k[3] == 3);
}

#ifdef __CUDACC__
struct to_memory {
  double* out;
  int n;
  __device__ void operator()(const char*, double value) { out[n++] = value; }
};
__global__ void k(double* out, const int* k) {
  to_memory put{out + 1, 0};
  values_of_math(put, k);
  values_of_limits(put, k);
  values_of_strings(put, k);
  out[0] = put.n;
}
#endif
