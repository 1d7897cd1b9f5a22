// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// assert is part of the prelude: a failed assertion ends the launch, not the process.
