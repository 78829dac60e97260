"""The probability that a cell of one column is wrong.

A right cell is one that some witness accounts for. Witness ``k`` predicts ``p_k`` with scale ``s_k``,
and a right cell ``z`` of a column has the density

    f_0(z) = sum_k omega_k t_nu((z - p_k) / s_k) / s_k,

Student's, because no scale is known exactly; the witnesses' credibility ``omega`` is learned. A wrong
cell is anywhere about the first witness, with deviation ``tau``, or it has a value of the same column
that belongs elsewhere (of another row, or a sensor that reads its usual value while others move),

    f_1(z) = (1 - delta) N(z; p_0, s_0^2 + tau^2) + delta g(z),

with ``g`` the density of the column's values (:class:`~rnlmf.opinions.densities.Values`), which go up
as often as down. Then

    P(wrong) = pi f_1 / (pi f_1 + (1 - pi) f_0),

with ``nu``, ``omega``, ``pi``, ``delta`` and ``tau`` of greatest likelihood by expectation-maximisation
(Dempster, Laird and Rubin 1977); ``delta`` is 0 where it does not pay. Then ``nu``, and ``tau`` if it
is far smaller there, are found by themselves below and above the prediction, if that pays. A column has
no wrong cell if the second component does not pay for its parameters (by the Bayesian information
criterion, twice over), or if errors are not larger than predictions of right cells seldom are off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rnlmf.opinions.densities import BLUNT, ColumnCells, Values, surprising
from rnlmf.opinions.parameters import Parameters
from rnlmf.typing import Array

FREEDOMS = (30.0, 10.0, 4.0, 2.0, 1.0)
WITH_A_MEAN = 1.5
STEPS = 6
# Errors are gross: at least the column's spread, or hundreds of times (`EXACT`) what predictions are
# off, where that is less. No more than this share of a column is wrong.
LEAST_ERROR, LARGEST_ERROR = 1.0, 50.0
MOST_WRONG = 0.4
# Nor is there an error that can be told from a surprise unless errors are of a size that predictions
# of right cells seldom are off, with this chance: a broad and a narrow normal are also a heavy tail.
EXACT, SURPRISE = 300.0, 0.01
FEWEST_CELLS = 20
# Errors of the company are unlikely if a tail of the column's own is better than them by so much.
FAR_MORE_LIKELY = 10.0
# What errors that have values of the column must gain beside others: a parameter, twice.
PRICE_OF_DEALT = 1.0
# More cells do not change the parameters.
MOST_CELLS = 2000
# Some errors are always anywhere.
MOST_DEALT = 0.99
# Errors on one side of the predictions have a size of their own if it is so many times smaller (a point
# in the wrong place makes a value ten times as large, or a tenth).
FAR_SMALLER = 4.0
# Predictions vary by the distance of these quantiles.
VARIED = (0.01, 0.99)


def _exchanged(posterior: Array, above: Array) -> float:
    """How many cells have a value that belongs elsewhere: as many above what is right as below.

    Who deals out the values of a column gives low ones to high places as often as high ones to low
    places. Rare events that nobody expects are on one side.
    """
    up = float(posterior[above].sum())
    return 2.0 * min(up, float(posterior.sum()) - up)


def _bounded_squares(cells: ColumnCells) -> Array:
    """What the first witness is off, squared, no cell counting for too much."""
    squares: Array = np.clip(cells.off, -LARGEST_ERROR, LARGEST_ERROR) ** 2
    return squares


@dataclass(frozen=True)
class ColumnVerdict:
    """Parameters of one column; `tails` and `sizes` are those below and above the predictions.

    Tails are often longer on one side: incomes, rain. Of the errors, the share `dealt` has a value of
    the column that belongs elsewhere.
    """

    freedom: float = 5.0
    credibility: Array | None = None
    share: float = 0.0
    size: float = LEAST_ERROR
    tails: tuple[float, ...] = ()
    sizes: tuple[float, ...] = ()
    dealt: float = 0.0
    values: Values | None = None

    @classmethod
    def learn(
        cls, every: ColumnCells, column: Array | None = None
    ) -> tuple[ColumnVerdict, float, bool]:
        """From the cells that may be judged.

        Values that belong elsewhere are those of the whole `column`; there are none if it is not given,
        and where predictions do not vary they are nothing but errors about them. With the verdict come
        what the second component gains, in logarithms of the number of cells, and whether errors are
        larger than surprises.
        """
        if len(every) < FEWEST_CELLS:
            return cls(), -np.inf, False
        cells = every[:: -(-len(every) // MOST_CELLS)]
        only = np.full(len(cells.p), 0.1 / max(len(cells.p) - 1, 1))
        only[0] = 1.0 - only[1:].sum()
        alone, usual = -np.inf, cells.usual_scale
        begin = cls(credibility=only, share=0.03, size=3.0)
        for f in map(cells.right, FREEDOMS):
            for _ in range(STEPS if len(f) > 1 else 0):
                only = only * (f @ (1.0 / (only @ f))) / len(cells)
            alone = max(alone, float(np.log(only @ f).sum()))
        found = begin._most_likely(cells)
        if column is not None and np.ptp(np.quantile(cells.p[0], VARIED)) > BLUNT * usual:
            begin = replace(begin, dealt=0.5, values=Values.of(column, usual))
            dealt = begin._most_likely(cells)
            price = PRICE_OF_DEALT * float(np.log(len(cells)))
            if dealt[1] > found[1] + price:
                found = dealt[0], dealt[1] - price, dealt[2]
        best, likelihood, size = found
        gain = (likelihood - alone) / float(np.log(len(cells)))
        gross = size > best.surprising(SURPRISE) * usual
        return best.with_tails_of(cells), gain, gross

    def _most_likely(self, cells: ColumnCells) -> tuple[ColumnVerdict, float, float]:
        """The parameters of greatest likelihood, that, and the root mean square of the errors.

        Errors are dealt only if some are at the beginning.
        """
        best, likelihood, rms = self, -np.inf, 0.0
        least = min(LEAST_ERROR, EXACT * cells.usual_scale)
        squared, above = _bounded_squares(cells), cells.off > 0.0
        density = None if self.values is None else self.values.density(cells.z)
        share, size, dealt, credibility = self.share, self.size, self.dealt, self.credibility
        # From one freedom to the next, what was found is a good start.
        for freedom in FREEDOMS:
            f = cells.right(freedom)
            for _ in range(STEPS):
                wrong = anywhere = (1.0 - dealt) * cells.wrong(size)
                if density is not None:
                    wrong = anywhere + dealt * density
                right = credibility @ f if len(f) > 1 else f[0]
                suspected = share * wrong
                posterior = suspected / (suspected + (1.0 - share) * right)
                about, elsewhere = posterior, 0.0
                if density is not None:
                    about = posterior * anywhere / wrong
                    elsewhere = _exchanged(posterior - about, above)
                count = float(about.sum())
                breadth = float(about @ squared) / max(count, 1e-9)
                total = max(count + elsewhere, 1e-9)
                if len(f) > 1:
                    credibility = credibility * (f @ ((1.0 - posterior) / right))
                    credibility = credibility / credibility.sum()
                share = min(max(total / len(cells), 1e-5), MOST_WRONG)
                size = min(max(breadth**0.5, least), LARGEST_ERROR)
                dealt = min(max(elsewhere / total, 0.0), MOST_DEALT) if dealt else 0.0
            now = replace(
                self, freedom=freedom, share=share, size=size, dealt=dealt, credibility=credibility
            )
            value = float(np.log(now._wrong(cells, density) + now._right(cells)).sum())
            if value > likelihood:
                best, likelihood = now, value
                rms = float(posterior @ squared / max(float(posterior.sum()), 1e-9)) ** 0.5
        return best, likelihood, rms

    def _right(self, cells: ColumnCells) -> Array:
        """Density of right cells, times their share."""
        right: Array = (1.0 - self.share) * (self.credibility @ cells.right(self.freedom))
        return right

    def _wrong(self, cells: ColumnCells, values: Array | None) -> Array:
        """Density of wrong cells, by the first witness, times their share.

        `values` are the density of the column's values at the cells, if errors may have these.
        """
        density = cells.wrong(self.size)
        if values is not None:
            density = (1.0 - self.dealt) * density + self.dealt * values
        return self.share * density

    def with_tails_of(self, cells: ColumnCells) -> ColumnVerdict:
        """The same share of errors, and the most likely tail and size of errors on either side.

        They differ from those of both sides if that pays. There are no errors if predictions are off by
        as much as these are large.
        """
        if not len(cells) or cells.usual_scale >= self.size:
            return ColumnVerdict()
        above, price = cells.off > 0.0, 0.5 * float(np.log(len(cells)))
        found = []
        for side in (~above, above):
            own = cells[side]
            values = None if self.values is None else self.values.density(own.z)
            # The errors are the same whatever the tail.
            wrong = self._wrong(own, values)
            options = [(self, float(np.log(wrong + self._right(own)).sum()))]
            for freedom in FREEDOMS:
                other = replace(self, freedom=freedom)
                likelihood = float(np.log(wrong + other._right(own)).sum())
                options.append((other, likelihood - price))
                smaller = other._with_own_size(own, values)
                if smaller is not other:
                    likelihood = float(np.log(smaller._wrong(own, values) + smaller._right(own)).sum())
                    options.append((smaller, likelihood - 2.0 * price))
            found.append(max(options, key=lambda option: option[1])[0])
        return replace(self, tails=tuple(v.freedom for v in found), sizes=tuple(v.size for v in found))

    def _with_own_size(self, cells: ColumnCells, values: Array | None) -> ColumnVerdict:
        """Errors of these cells alone, if they are gross and far smaller: else those of all will do."""
        if not len(cells):
            return self
        right, squared, size = self._right(cells), _bounded_squares(cells), self.size
        if values is not None:
            right = right + self.share * self.dealt * values
        for _ in range(STEPS):
            about = self.share * (1.0 - self.dealt) * cells.wrong(size)
            posterior = about / (about + right)
            mean = float(posterior @ squared / max(float(posterior.sum()), 1e-9))
            before, size = size, min(max(mean**0.5, LEAST_ERROR), LARGEST_ERROR)
            if size == before:
                break
        gross = size > self.surprising(SURPRISE) * cells.usual_scale
        return replace(self, size=size) if gross and size < self.size / FAR_SMALLER else self

    def with_at_most(self, share: float, cells: ColumnCells) -> ColumnVerdict:
        """Fewer errors, and tails that make up for the others."""
        return replace(self, share=share).with_tails_of(cells)

    def likely(self, cells: ColumnCells) -> bool:
        """Whether cells may well have these errors: no tail alone is far more likely."""
        price = FAR_MORE_LIKELY * float(np.log(max(len(cells), 2)))
        return self._of_tails(cells) < self.likelihood(cells) + price

    def likelihood(self, cells: ColumnCells) -> float:
        """Its logarithm; without errors, by the tail that is most likely."""
        if self.share == 0.0:
            return self._of_tails(cells)
        values = None if self.values is None else self.values.density(cells.z)
        return float(np.log(self._wrong(cells, values) + self._right(cells)).sum())

    def _of_tails(self, cells: ColumnCells) -> float:
        """Likelihood without errors, by the first witness if no credibility is known."""
        credibility = self.credibility
        if credibility is None:
            credibility = np.eye(len(cells.p))[0]
        return max(float(np.log(credibility @ cells.right(nu) + 1e-300).sum()) for nu in FREEDOMS)

    def with_a_mean(self) -> ColumnVerdict:
        """Without a tail so heavy that it has no mean: where errors are, it is made of them."""
        tails = tuple(max(freedom, WITH_A_MEAN) for freedom in self.tails)
        return replace(self, freedom=max(self.freedom, WITH_A_MEAN), tails=tails)

    @property
    def new(self) -> float:
        """The share of the errors that need not have a value of the column."""
        own = self.values is not None and not self.values.flat
        return 1.0 - self.dealt if own else 1.0

    def surprising(self, chance: float) -> float:
        """Scales by which predictions of right cells are off with this chance."""
        return surprising(self.freedom, chance)

    def probability(self, cells: ColumnCells) -> Array:
        """That they are wrong."""
        z, p, s = cells.z[:, None], cells.p[..., None], cells.s[..., None]
        return Parameters.of((self,)).probability(z, p, s)[:, 0]
