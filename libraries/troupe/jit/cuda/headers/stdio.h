// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// printf is built into NVRTC. Output to stdout and stderr goes through it; files are host-only.
#pragma once
#include "stdarg.h"
#include "troupe_device/host_only.h"

struct FILE;
#define stdin reinterpret_cast<FILE*>(size_t{1})
#define stdout reinterpret_cast<FILE*>(size_t{2})
#define stderr reinterpret_cast<FILE*>(size_t{3})

#define EOF (-1)
#define BUFSIZ 8192
#define FILENAME_MAX 4096
#define FOPEN_MAX 16
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2

extern "C++" {  // the #include may be inside extern "C"

template <class... T>
int fprintf(FILE* to, const char* format, T... values) {
  if (to != stdout && to != stderr) ::troupe_device::end_as_host_only("fprintf to a file", __FILE__, __LINE__);
  return printf(format, values...);
}
template <class Anything = void>
int puts(const char* text) {
  return printf("%s\n", text);
}
template <class Anything = void>
int putchar(int c) {
  printf("%c", c);
  return c;
}
template <class Anything = void>
int fputs(const char* text, FILE* to) {
  return fprintf(to, "%s", text);
}
template <class Anything = void>
int fputc(int c, FILE* to) {
  fprintf(to, "%c", c);
  return c;
}
template <class Anything = void>
int putc(int c, FILE* to) {
  return fputc(c, to);
}
template <class Anything = void>
int fflush(FILE*) {
  return 0;
}

template <class... T>
int sprintf(char*, const char*, T...) {
  ::troupe_device::end_as_host_only("sprintf", __FILE__, __LINE__);
}
template <class... T>
int snprintf(char*, size_t, const char*, T...) {
  ::troupe_device::end_as_host_only("snprintf", __FILE__, __LINE__);
}
template <class... T>
int scanf(const char*, T...) {
  ::troupe_device::end_as_host_only("scanf", __FILE__, __LINE__);
}
template <class... T>
int fscanf(FILE*, const char*, T...) {
  ::troupe_device::end_as_host_only("fscanf", __FILE__, __LINE__);
}
template <class... T>
int sscanf(const char*, const char*, T...) {
  ::troupe_device::end_as_host_only("sscanf", __FILE__, __LINE__);
}
TROUPE_HOST_FUNCTION(FILE*, fopen, const char*, const char*)
TROUPE_HOST_FUNCTION(int, fclose, FILE*)
TROUPE_HOST_FUNCTION(size_t, fread, void*, size_t, size_t, FILE*)
TROUPE_HOST_FUNCTION(size_t, fwrite, const void*, size_t, size_t, FILE*)
TROUPE_HOST_FUNCTION(int, fseek, FILE*, long, int)
TROUPE_HOST_FUNCTION(long, ftell, FILE*)
TROUPE_HOST_FUNCTION(void, rewind, FILE*)
TROUPE_HOST_FUNCTION(int, feof, FILE*)
TROUPE_HOST_FUNCTION(int, ferror, FILE*)
TROUPE_HOST_FUNCTION(int, fgetc, FILE*)
TROUPE_HOST_FUNCTION(int, getc, FILE*)
TROUPE_HOST_FUNCTION_0(int, getchar)
TROUPE_HOST_FUNCTION(char*, fgets, char*, int, FILE*)
TROUPE_HOST_FUNCTION(void, perror, const char*)
TROUPE_HOST_FUNCTION(int, remove, const char*)

}  // extern "C++"
