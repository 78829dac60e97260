"""Algorithms 1 to 3 of the paper once more: slow, sample by sample, nothing of the library in it.

One matrix product is one loop here. The guards are those that the library documents: a dictionary step
that raises the loss loses its momentum and is then halved, and a sample's step is halved until its own
objective does not rise.

A penalty that is not convex, and noise that adapts, begin as l1; from half of the iterations on they
are themselves. What adapts is set anew every fifth iteration, by the noise found so far.
"""

import math

import numpy as np


def kernel(kind, x, y):
    """Value, and the factor by which its gradient in `y` is a combination of `x` and `y`."""
    if kind == "rbf":
        value = math.exp(-0.5 * sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
        return value, value
    degree, offset = {"polynomial": (2, 1.0), "cubic": (3, 0.5), "linear": (1, 0.0)}[kind]
    inner = sum(a * b for a, b in zip(x, y, strict=True)) + offset
    return inner**degree, degree * inner ** (degree - 1)


def gram(kind, A, B, part=0):
    return np.array([[kernel(kind, a, b)[part] for b in B] for a in A])


def soft(value, threshold):
    return math.copysign(max(abs(value) - threshold, 0.0), value)


def concave_value(size, knee):
    """The minimax concave penalty of one number."""
    return size - size**2 / (2 * knee) if size < knee else knee / 2


def firm(value, threshold, knee):
    """The lowest of all places where the minimum may be: zero, the knee, no change, a flat place."""
    size = abs(value)
    places = [0.0, knee, max(size, knee)]
    if threshold != knee:
        places.append(min(max((size - threshold) / (1 - threshold / knee), 0.0), knee))
    costs = [0.5 * (z - size) ** 2 + threshold * concave_value(z, knee) for z in places]
    return math.copysign(places[costs.index(min(costs))], value)


def noise_prox(kind, residual, threshold, knee=math.inf):
    if kind == "concave" and knee < math.inf:
        return np.array([firm(value, threshold, knee) for value in residual])
    if kind in ("l1", "concave"):
        return np.array([soft(value, threshold) for value in residual])
    if kind == "l2":
        return residual / (1.0 + threshold)
    length = math.sqrt(sum(value**2 for value in residual))
    return residual * (max(length - threshold, 0.0) / length if length else 0.0)


def noise_value(kind, e, knee=math.inf):
    if kind == "concave" and knee < math.inf:
        return sum(concave_value(abs(value), knee) for value in e)
    if kind in ("l1", "concave"):
        return sum(abs(value) for value in e)
    squared = sum(value**2 for value in e)
    return 0.5 * squared if kind == "l2" else math.sqrt(squared)


def code_prox(kind, C, threshold):
    if kind == "l1":
        return np.array([[soft(value, threshold) for value in row] for row in C])
    U, s, Vt = np.linalg.svd(C, full_matrices=False)
    return U @ np.diag([max(value - threshold, 0.0) for value in s]) @ Vt


def code_value(kind, C):
    if kind == "nuclear":
        return float(np.linalg.svd(C, compute_uv=False).sum())
    return float(np.abs(C).sum()) if kind == "l1" else 0.5 * float((C**2).sum())


def dictionary_value(kind, K_D):
    if kind is None:
        return 0.0
    return 0.5 * np.trace(K_D) if kind == "l2" else float(np.sqrt(np.linalg.eigvalsh(K_D)).sum())


def loss(p, Y, C, D):
    """Half the squared distance of samples and their codes in feature space, and the penalty of D."""
    total, K_D = 0.0, gram(p["kernel"], D, D)
    for y, c in zip(Y, C, strict=True):
        total += 0.5 * kernel(p["kernel"], y, y)[0]
        total -= sum(c[j] * kernel(p["kernel"], y, D[j])[0] for j in range(len(D)))
        total += 0.5 * float(c @ K_D @ c)
    return total + p["dictionary_weight"] * dictionary_value(p["dictionary"], K_D)


def code_step(p, Y, C, D, ridge):
    K, K_D = gram(p["kernel"], Y, D), gram(p["kernel"], D, D)
    if ridge or p["code"] == "l2":
        return np.array([np.linalg.solve(K_D + p["code_weight"] * np.eye(len(D)), row) for row in K])
    tau = 1.01 * float(np.linalg.svd(K_D, compute_uv=False)[0])
    return code_prox(p["code"], C - (C @ K_D - K) / tau, p["code_weight"] / tau)


def dictionary_gradient(p, Y, C, D):
    """Gradient and curvature with the weights held fixed, atom by atom."""
    d = len(D)
    W = np.array([[sum(c[j] * c[l] for c in C) for l in range(d)] for j in range(d)])  # noqa: E741
    if p["dictionary"] == "l2":
        W = W + p["dictionary_weight"] * np.eye(d)
    elif p["dictionary"] == "nuclear":
        values, vectors = np.linalg.eigh(gram(p["kernel"], D, D))
        W = W + p["dictionary_weight"] * vectors @ np.diag(values**-0.5) @ vectors.T
    rbf = p["kernel"] == "rbf"
    gradient, H = np.zeros_like(D), np.zeros((d, d))
    for j in range(d):
        for y, c in zip(Y, C, strict=True):
            weight = c[j] * kernel(p["kernel"], y, D[j])[1]
            gradient[j] += weight * (D[j] - y if rbf else -y)
            H[j, j] += weight if rbf else 0.0
        for other in range(d):
            weight = W[j, other] * kernel(p["kernel"], D[other], D[j])[1]
            gradient[j] += weight * (D[other] - D[j] if rbf else D[other])
            H[j, other] += weight
            H[j, j] -= weight if rbf else 0.0
    return gradient, H


def newton(gradient, H):
    shift = 0.0
    while np.linalg.eigvalsh(H + shift * np.eye(len(H)))[0] <= 0:
        shift = max(10.0 * shift, 1e-8 * np.abs(np.diag(H)).mean())
    return np.linalg.solve(H + shift * np.eye(len(H)), gradient)


def row_objective(p, x, y, c, D, scale):
    value = 0.5 * kernel(p["kernel"], y, y)[0]
    value -= sum(c[j] * kernel(p["kernel"], y, D[j])[0] for j in range(len(D)))
    return value + scale * p["noise_weight"] * noise_value(p["noise"], x - y, p["knee"])


def noise_step(p, x, y, c, D, scale):
    """A proximal gradient step of one sample, halved until its objective does not rise."""
    weights = [c[j] * kernel(p["kernel"], y, D[j])[1] for j in range(len(D))]
    curvature = sum(weights) if p["kernel"] == "rbf" else kernel(p["kernel"], y, y)[1]
    gradient = curvature * y - sum(w * atom for w, atom in zip(weights, D, strict=True))
    steepness = max(curvature, 1e-2)
    before = row_objective(p, x, y, c, D, scale)
    for _ in range(30):
        ahead = y - gradient / steepness
        threshold = scale * p["noise_weight"] / steepness
        trial = x - noise_prox(p["noise"], x - ahead, threshold, p["knee"])
        after = row_objective(p, x, trial, c, D, scale)
        if after <= before + 4 * np.finfo(float).eps * (1 + abs(before)):
            return trial
        steepness *= 2.0
    return y


def noise_steps(p, X, Y, C, D, scales):
    rows = zip(X, Y, C, scales, strict=True)
    return np.array([noise_step(p, x, y, c, D, scale) for x, y, c, scale in rows])


def found_corruption(X, Y):
    """Size of a typical corruption, share of corrupted entries, strength of the prior, and the knee."""
    E = [abs(float(e)) for e in (X - Y).ravel() if abs(e) > 1e-12]
    size = sum(e**2 for e in E) / sum(E)
    shares = [effective_count(x, y, size) / len(x) for x, y in zip(X, Y, strict=True)]
    rate = sum(shares) / len(shares)
    spread = rate * (1 - rate)
    variance = sum((share - rate) ** 2 for share in shares) / len(shares) - spread / X.shape[1]
    strength = min(max(spread / max(variance, 1e-8) - 1, 0.5), 1e6)
    sparse = 1 - 2 * len(E) / X.size
    return size, rate, strength, 3 * size / sparse if sparse > 0 else math.inf


def effective_count(x, y, size):
    return sum(min(abs(e) / size, 1.0) if abs(e) > 1e-12 else 0.0 for e in x - y)


def threshold_scales(X, Y, size, rate, strength):
    scales = []
    for x, y in zip(X, Y, strict=True):
        total = strength + len(x)
        mean = (strength * rate + effective_count(x, y, size)) / total
        upper = mean + 2 * math.sqrt(mean * (1 - mean) / (total + 1))
        scales.append(min(max(rate / upper, 1.0), 20.0))
    return scales


def is_due(iteration, iterations):
    first = min(30, iterations // 2)
    return iteration >= first and (iteration - first) % 5 == 0


def algorithm_1(p, X, D, iterations, momentum, warmup):
    """Dictionary, samples without noise, and the objective after every iteration from the switch on."""
    Y, C, delta, damping, path = X.copy(), np.zeros((len(X), len(D))), np.zeros_like(D), 1.0, []
    scales, now = np.ones(len(X)), {**p, "knee": math.inf}
    warmup = 0 if p["code"] == "l2" else min(warmup, iterations - 1)
    for iteration in range(iterations):
        if is_due(iteration, iterations):
            now["knee"] = p.get("knee", math.inf)
            if p.get("adaptive"):
                *found, now["knee"] = found_corruption(X, Y)
                scales = threshold_scales(X, Y, *found)
        C = code_step(p, Y, C, D, ridge=iteration < warmup)
        downhill = newton(*dictionary_gradient(p, Y, C, D))
        before, eta = loss(p, Y, C, D), momentum
        for _ in range(20):
            delta = eta * delta + downhill / damping
            if loss(p, Y, C, D - delta) <= before:
                D = D - delta
                damping = max(1.0, damping / 1.2)
                break
            delta = np.zeros_like(D)
            damping *= 2.0 if eta == 0.0 else 1.0
            eta = 0.0
        else:
            delta = np.zeros_like(D)
        Y = noise_steps(now, X, Y, C, D, scales)
        if iteration >= warmup:
            values = [noise_value(p["noise"], e, now["knee"]) for e in X - Y]
            noise = p["noise_weight"] * sum(s * v for s, v in zip(scales, values, strict=True))
            path.append(loss(p, Y, C, D) + p["code_weight"] * code_value(p["code"], C) + noise)
    return D, Y, path


def algorithm_2(p, X, D, iterations, corruption=None, fitted_codes=None):
    """Codes of new samples, and the samples without noise, with the dictionary held fixed.

    Nuclear codes of a sample on its own are ridge codes in the metric of those of the fit.
    """
    scales, now, metric = np.ones(len(X)), {**p, "knee": math.inf}, np.eye(len(D))
    if fitted_codes is not None:
        _, s, Vt = np.linalg.svd(fitted_codes, full_matrices=False)
        metric = Vt.T @ np.diag(s) @ Vt

    def codes(Y, C):
        if C is not None and p["code"] == "l1":
            return code_step(p, Y, C, D, ridge=False)
        K, K_D = gram(p["kernel"], Y, D), gram(p["kernel"], D, D)
        return np.array(
            [np.linalg.solve(K_D + p["code_weight"] * np.linalg.inv(metric), row) for row in K]
        )

    Y, C = X.copy(), codes(X, None)
    for iteration in range(iterations):
        if is_due(iteration, iterations):
            now["knee"] = p.get("knee", math.inf)
            if corruption is not None:
                scales = threshold_scales(X, Y, *corruption)
        C = codes(Y, C)
        Y = noise_steps(now, X, Y, C, D, scales)
    return C, Y


def algorithm_3_affinity(C, weight, n_neighbors):
    """Lines 2 to 5, with the inverse of an (n, n) matrix; one row of `C` is a sample."""
    n = len(C)
    inner = np.array([[float(a @ b) for b in C] for a in C])
    A = np.abs(np.linalg.solve(inner + weight * np.eye(n), inner))
    for j in range(n):
        A[j, j] = 0.0
        smallest = sorted(range(n), key=lambda i: -A[i, j])[n_neighbors:]
        A[smallest, j] = 0.0
        A[:, j] = A[:, j] / max(A[:, j])
    return (A + A.T) / 2


def algorithm_3_labels(A, count):
    """Line 6: samples that are one in the space of the first eigenvectors, group by group."""
    degree = A.sum(axis=1)
    values, vectors = np.linalg.eigh(np.eye(len(A)) - A / np.sqrt(np.outer(degree, degree)))
    rows = vectors[:, :count]
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    labels = [-1] * len(A)
    for i in range(len(A)):
        if labels[i] == -1:
            new = max(labels) + 1
            labels = [
                new if label == -1 and rows[i] @ row > 0.5 else label
                for label, row in zip(labels, rows, strict=True)
            ]
    return np.array(labels), values
