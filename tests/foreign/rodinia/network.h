// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#ifndef _NETWORK_H_
#define _NETWORK_H_

#define SIDE 16          // a block is SIDE x SIDE threads
#define RATE 0.3         // the learning rate, a double
#define MOMENTUM 0.3

typedef struct {
  int inputs, hidden;
  float *units;
  float **weights;
} NETWORK;

/* of the host, and elsewhere */
extern "C" NETWORK *network_create(int inputs, int hidden);

#endif
