// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#define fp float
#define NUMBER_THREADS 64

#ifdef __cplusplus
extern "C" {
#endif
void write_graphics(char* filename, fp* image, int rows, int cols);   /* of the host, and elsewhere */
#ifdef __cplusplus
}
#endif
