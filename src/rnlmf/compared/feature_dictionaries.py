"""Dictionaries in feature space: of combinations of the samples' images, or of images of vectors.

Both are seen in orthonormal coordinates of the span of some images, in which atoms and samples are
ordinary vectors: ``targets()`` are the samples, ``atoms()`` the dictionary, ``update(C, used)``
improves it for given codes of the samples that are used, and returns the codes that go with it.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from rnlmf.cluster.affinity import unit_rows
from rnlmf.compared.feature_space import Coordinates, FeatureSpace
from rnlmf.typing import Array

# Factors for the next step of the equiangular dictionary, and the shortest step that is tried.
STEP_GROWTH = 2.0
STEP_CUT = 0.5
SHORTEST_STEP = 1e-10
STEPS = 10


class SpannedDictionary:
    """Atoms in the span of the samples' images, of length one there.

    Parameters
    ----------
    space : FeatureSpace
        Where the atoms are.
    X : array of shape (n, m)
        Samples.
    first : array of shape (d,)
        The samples whose images are the first atoms.
    method : {"ksvd", "mod"}
        How atoms are updated.
    """

    def __init__(self, space: FeatureSpace, X: Array, first: Array, method: str):
        self.X, self.method = X, method
        self.coordinates = Coordinates.of(space.gram(X))
        self.Y = self.coordinates.of_samples
        self.D = unit_rows(self.Y[first])
        self.n_samples, self.n_atoms = len(X), len(first)

    def targets(self) -> Array:
        return self.Y

    def atoms(self) -> Array:
        return self.D

    def frozen(self) -> tuple[Array, Array, Array]:
        """Samples whose products are needed, what makes them coordinates, and atoms."""
        return self.X, self.coordinates.projection, self.D

    def dual(self) -> Array:
        """``A`` with ``A phi(X)`` the atoms."""
        dual: Array = self.D @ self.coordinates.projection.T
        return dual

    def halves(self, C: Array) -> Array:
        """Half of the squared distance of every sample from its representation."""
        return 0.5 * np.sum((self.Y - C @ self.D) ** 2, axis=1)

    def update(self, C: Array, used: Array) -> Array:
        C = C.copy()
        if self.method == "mod":
            self._optimal_directions(C, used)
        else:
            self._singular_vectors(C)
        self._replace_unused(C, used)
        return C

    def _optimal_directions(self, C: Array, used: Array) -> None:
        atoms = np.flatnonzero(C.any(axis=0))
        D = np.linalg.lstsq(C[used][:, atoms], self.Y[used], rcond=None)[0]
        lengths = np.linalg.norm(D, axis=1)
        lengths[lengths == 0.0] = 1.0
        self.D[atoms] = D / lengths[:, None]
        C[:, atoms] *= lengths

    def _singular_vectors(self, C: Array) -> None:
        """Every atom and its codes become the best of rank one for what is left to them."""
        residual = self.Y - C @ self.D
        for atom in range(self.n_atoms):
            users = np.flatnonzero(C[:, atom])
            if not len(users):
                continue
            left = residual[users] + np.outer(C[users, atom], self.D[atom])
            last = len(users) - 1
            square, vector = scipy.linalg.eigh(left @ left.T, subset_by_index=[last, last])
            if square[0] <= 0.0:
                continue
            direction = vector[:, 0] @ left
            size = float(np.linalg.norm(direction))
            self.D[atom], C[users, atom] = direction / size, vector[:, 0] * size
            residual[users] = left - np.outer(C[users, atom], self.D[atom])

    def _replace_unused(self, C: Array, used: Array) -> None:
        """Atoms that nobody uses become the samples that are represented worst."""
        unused = np.flatnonzero(~C.any(axis=0))
        worst = np.argsort(-np.where(used, self.halves(C), -1.0), kind="stable")[: len(unused)]
        images = unit_rows(self.Y[worst])
        self.D[unused] = np.where(images.any(axis=1, keepdims=True), images, self.D[unused])


class EquiangularDictionary:
    """Images of vectors ``D``, in units of sigma, of length one with one angle between all.

    Parameters
    ----------
    space : FeatureSpace
        Where the atoms are.
    X : array of shape (n, m)
        Samples of length one.
    first : array of shape (d,)
        The samples near which the first atoms are.
    coherence : float
        Cosine between atoms.
    """

    def __init__(self, space: FeatureSpace, X: Array, first: Array, coherence: float):
        self.space = space
        self.n_samples, self.n_atoms = len(X), len(first)
        self.X = X / space.sigma
        gram = np.full((self.n_atoms, self.n_atoms), coherence)
        np.fill_diagonal(gram, 1.0)
        values, vectors = scipy.linalg.eigh(gram)
        self.root = (vectors * np.sqrt(values)) @ vectors.T / space.sigma
        self.D = self.project(self.X[first])
        # The same for all dictionaries of this kind.
        K_D = space.kernel(self.D, self.D)
        self.factor = scipy.linalg.cholesky(0.5 * (K_D + K_D.T), lower=True)
        self.squares = space.squares(X)
        self.K = space.kernel(self.X, self.D)
        self.step = 1.0

    def project(self, M: Array) -> Array:
        """The nearest matrix with the products that are wanted."""
        left, _, right = np.linalg.svd(self.root @ M, full_matrices=False)
        projected: Array = self.root @ (left @ right)
        return projected

    def targets(self) -> Array:
        solved: Array = scipy.linalg.solve_triangular(self.factor, self.K.T, lower=True).T
        return solved

    def atoms(self) -> Array:
        return self.factor

    def frozen(self) -> tuple[Array, Array, Array]:
        """Samples whose products are needed, what makes them coordinates, and atoms."""
        inverse = scipy.linalg.solve_triangular(self.factor, np.eye(self.n_atoms), lower=True)
        return self.D * self.space.sigma, inverse.T, self.factor

    def halves(self, C: Array, K: Array | None = None) -> Array:
        """Half of the squared distance of every sample from its representation."""
        fit = np.einsum("ij,ij->i", C, self.K if K is None else K)
        return 0.5 * (self.squares + np.sum((C @ self.factor) ** 2, axis=1)) - fit

    def update(self, C: Array, used: Array) -> Array:
        """Projected gradient steps, each shortened until it lowers the objective."""
        kernel = self.space.kernel
        C_used = np.where(used[:, None], C, 0.0)
        value = float(self.halves(C_used).sum())
        for _ in range(STEPS):
            # dk/dd = f'(u) (x - s d), and K(D, D) does not change.
            pull = C_used * kernel.slope(kernel.argument(self.X, self.D))
            gradient = -pull.T @ self.X
            if kernel.stationary:
                gradient += pull.sum(axis=0)[:, None] * self.D
            scale = float(np.linalg.norm(self.D)) / max(float(np.linalg.norm(gradient)), 1e-300)
            while self.step > SHORTEST_STEP:
                D = self.project(self.D - self.step * scale * gradient)
                K = kernel(self.X, D)
                new = float(self.halves(C_used, K).sum())
                if new < value:
                    break
                self.step *= STEP_CUT
            else:
                self.step = 1.0
                return C
            self.D, self.K, value = D, K, new
            self.step = min(STEP_GROWTH * self.step, 1.0)
        return C
