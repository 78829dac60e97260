"""Neighbours of rows, and what they say, in one sweep over memory, compiled by numba.

NumPy writes some dozen arrays of rows by neighbours by columns on the way; here nothing leaves the
cache. Compiled code is cached on disk.
"""

from __future__ import annotations

import math

import numba
import numpy as np


@numba.njit(nogil=True, cache=True)
def weighted_means(parts, known, references, values, count, order, starts, prediction, spread):
    """Means of the most similar rows, and how much these differ, as :mod:`rnlmf.opinions.similar` says.

    `parts` (groups, rows, references) are squared distances over the columns of every group; `known`
    and `references` are NaN where a cell is hidden, `values` are not. Columns in `order` are those of
    one group after the other, from its `starts` on.
    """
    n_groups, n, n_references = parts.shape
    m = known.shape[1]
    distances = np.empty(n_references, np.float32)
    bits = distances.view(np.uint32)
    places = np.uint32(1)
    while places < n_references:
        places = np.uint32(2 * places)
    places = np.uint32(places - 1)
    keys = np.empty(count, np.uint32)
    weights = np.empty(count, np.float32)
    for i in range(n):
        for group in range(n_groups):
            distances[:] = 0
            for other in range(n_groups):
                if other != group:
                    for r in range(n_references):
                        distances[r] += parts[other, i, r]
            # The order of floats that are not negative is that of their bits; the last ones are the
            # place, which tells apart what is equal but for these.
            keys[:] = np.uint32(0xFFFFFFFF)
            for r in range(n_references):
                key = (bits[r] & ~places) | np.uint32(r)
                if key < keys[count - 1]:
                    k = count - 1
                    while k > 0 and key < keys[k - 1]:
                        keys[k] = keys[k - 1]
                        k -= 1
                    keys[k] = key
            itself, likest, farthest = 0, -1.0, 0
            total = np.float32(0)
            for k in range(count):
                r = keys[k] & places
                equal = 0
                both = 0
                for j in range(m):
                    x = known[i, j]
                    y = references[r, j]
                    equal += x == y
                    both += (x == x) & (y == y)
                likeness = equal / max(both, 1)
                if likeness > likest:
                    itself, likest = k, likeness
                weights[k] = distances[r]
                total += weights[k]
                if weights[k] > weights[farthest]:
                    farthest = k
            least = np.float32(0.1) * total / np.float32(count - 1)
            for k in range(count):
                weights[k] = np.float32(1) / (weights[k] + least + np.float32(1e-9))
            weights[itself if likest > 0.5 else farthest] = 0
            for place in range(starts[group], starts[group + 1]):
                j = order[place]
                weight = 0.0
                mean = 0.0
                for k in range(count):
                    r = keys[k] & places
                    w = weights[k] * (1e-6 if math.isnan(references[r, j]) else 1.0 + 1e-6)
                    weight += w
                    mean += w * values[r, j]
                mean /= weight
                square = 0.0
                for k in range(count):
                    r = keys[k] & places
                    w = weights[k] * (1e-6 if math.isnan(references[r, j]) else 1.0 + 1e-6)
                    square += w * (values[r, j] - mean) ** 2
                prediction[i, j] = mean
                spread[i, j] = math.sqrt(square / weight)
