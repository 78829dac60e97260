"""The panel of opinions: learned together, heard together.

Two families speak on a cell: its *fellows* (the other columns of its row: linear, by similar rows, by
the dictionary) and its *neighbours in time*. Within a family, opinions are mixed by fixed shares;
between the families by their scales, cell by cell. Each family, and the mixture of both, is a witness.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rnlmf.engine.batches import canonical_order
from rnlmf.opinions.columns import WILD, Columns
from rnlmf.opinions.densities import Witness
from rnlmf.opinions.linear import LinearOpinion
from rnlmf.opinions.mixing import ScaleModel, combine, logarithm, of_row, shares, typical
from rnlmf.opinions.opinion import Opinion, WhenAsked
from rnlmf.opinions.similar import SimilarRows
from rnlmf.opinions.temporal import Sequence, Surroundings
from rnlmf.typing import Array

# Opinions that are learned here: the line's, and that of similar rows.
OWN = 2
# Shares and scales depend on each other; two turns settle them.
TURNS = 2
# Rows in the running median that follows quiet and busy stretches.
STRETCH = 41
# A further opinion is not heard on a cell where both the line and the similar rows exclude it, each by
# so many of its own deviations: an encoding may have ended on the wrong branch of a curve.
EXCLUDED = 6.0
# An opinion is heard where it makes predictions of cells better by this share: what more it calls wrong
# is hard for it, and seldom wrong.
HELPS = 0.1
# A row in which more than this share of the cells is wrong has nothing to go by but other rows.
BAD_ROW = 0.5
# Of the witnesses of a sequence, the one that knows neighbours in time alone.
BY_TIME = 1


def mostly_hidden(hidden: Array) -> Array:
    """Bad rows of a sequence: more is hidden of them than not.

    Only their neighbours in time know what they should be: what happens to look right in a bad row
    would make it seem to be merely hard to predict. Bad rows come one by one; where most of them have
    such a row before or after them, it is a movement in all columns, and none is bad.
    """
    rows: Array = hidden.mean(axis=1) > BAD_ROW
    beside = np.r_[False, rows[:-1]] | np.r_[rows[1:], False]
    return rows & (2 * np.sum(rows & beside) < np.sum(rows))


@dataclass(frozen=True)
class Fellows:
    """Opinions by the other cells of the row.

    How `extreme` a row is tells how well it is predicted, but not in a sequence: where errors come in
    stretches, these would be extreme, and be excused for it.
    """

    linear: LinearOpinion
    similar: SimilarRows
    further: tuple[Opinion, ...]
    weights: Array
    scale: ScaleModel
    optimism: Array | None = None
    extreme: bool = True

    @classmethod
    def learn(
        cls,
        Z: Array,
        hidden: Array,
        used: Array,
        columns: Columns,
        further: tuple[Opinion, ...],
        hearing: Hearing | None = None,
        *,
        extreme: bool = True,
    ) -> tuple[Fellows, Witness]:
        """From cells that are `used`; what they say of all cells is kept by a `hearing`."""
        order = canonical_order(np.where(hidden, 0.0, Z))
        linear = LinearOpinion.learn(Z, hidden, order)
        filled = _filled(Z, hidden, linear.predict(Z, hidden)[0])
        similar = SimilarRows.learn(filled, hidden, order)
        predictions, deviation, spread = _by_fellows(linear, similar, further, Z, hidden)
        scale: Array | None = None
        for _ in range(TURNS):
            weights = _shares_of_helpful(Z, used, predictions, scale, columns.resolution)
            prediction = combine(weights, predictions)
            residual = Z - prediction
            unit = typical(residual, used, columns.resolution)
            extremity = linear.extremity(Z, hidden, prediction) if extreme else None
            features = _fellow_features(residual, used, unit, predictions, deviation, spread, extremity)
            model = ScaleModel.learn(residual, used, features, columns.resolution)
            scale = np.maximum(model.predict(features), linear.for_want(Z, unit))
        assert scale is not None
        heard = further if weights[OWN:].any() else ()
        weights, predictions = weights[: OWN + len(heard)], predictions[: OWN + len(heard)]
        fellows = cls(linear, similar, heard, weights, model, columns.optimism, extreme)
        if hearing is not None:
            hearing.keep(fellows, Z, hidden, (predictions, deviation, spread))
        return fellows, Witness(prediction, fellows._sobered(scale))

    def testify(self, Z: Array, hidden: Array, used: Array, hearing: Hearing | None = None) -> Witness:
        """What the fellows say; a `hearing` of the same rows remembers what they have said before."""
        predictions, deviation, spread = (hearing or Hearing()).of(self, Z, hidden)
        prediction = combine(self.weights, predictions)
        extremity = self.linear.extremity(Z, hidden, prediction) if self.extreme else None
        features = _fellow_features(
            Z - prediction, used, self.scale.unit, predictions, deviation, spread, extremity
        )
        want = self.linear.for_want(Z, self.scale.unit)
        return Witness(prediction, self._sobered(np.maximum(self.scale.predict(features), want)))

    def _sobered(self, scale: Array) -> Array:
        return scale if self.optimism is None else scale * self.optimism


class Hearing:
    """What fellows have said of rows: they are asked anew only where other cells are shown.

    Neighbours in time are asked anew if any other cell is shown.
    """

    def __init__(self) -> None:
        self._near: tuple[Sequence, Array, Surroundings] | None = None
        self._fellows: Fellows | None = None
        self._shown: Array = np.empty((0, 0))
        self._said: tuple[Array, Array, Array] = (np.empty(0), np.empty(0), np.empty(0))

    def keep(self, fellows: Fellows, Z: Array, hidden: Array, said: tuple[Array, Array, Array]) -> None:
        """Predictions and both kinds of deviations; what is kept is the hearing's own."""
        self._fellows, self._shown, self._said = fellows, np.where(hidden, np.nan, Z), said

    def copy(self) -> Hearing:
        """Another that goes on from here."""
        other = Hearing()
        other._fellows, other._shown, other._near = self._fellows, self._shown, self._near
        predictions, deviation, spread = self._said
        other._said = predictions.copy(), deviation.copy(), spread.copy()
        return other

    def of(self, fellows: Fellows, Z: Array, hidden: Array) -> tuple[Array, Array, Array]:
        """Predictions, and both kinds of deviations, of the same rows as before, or of others."""
        f = fellows
        if self._fellows is not fellows or self._shown.shape != Z.shape:
            self.keep(f, Z, hidden, _by_fellows(f.linear, f.similar, f.further, Z, hidden))
            return self._said
        shown = np.where(hidden, np.nan, Z)
        same = (shown == self._shown) | (np.isnan(shown) & np.isnan(self._shown))
        rows = np.flatnonzero(~same.all(axis=1))
        if len(rows):
            fresh = _by_fellows(f.linear, f.similar, f.further, Z[rows], hidden[rows])
            for old, new in zip(self._said, fresh, strict=True):
                old[..., rows, :] = new
        self._shown = shown
        return self._said

    def near(self, sequence: Sequence, Z: Array, hidden: Array) -> Surroundings:
        """The nearest cells in time that are shown."""
        shown = np.where(hidden, np.nan, Z)
        if self._near is not None and self._near[0] is sequence:
            _, before, said = self._near
            if before.shape == shown.shape and np.array_equal(before, shown, equal_nan=True):
                return said
        said = sequence.near(Z, hidden)
        self._near = sequence, shown, said
        return said


def _filled(Z: Array, hidden: Array, prediction: Array) -> Array:
    return np.where(hidden, np.clip(prediction, -WILD, WILD), Z)


def _by_fellows(
    linear: LinearOpinion, similar: SimilarRows, further: tuple[Opinion, ...], Z: Array, hidden: Array
) -> tuple[Array, Array, Array]:
    by_line, deviation = linear.predict(Z, hidden)
    by_similar, spread = similar.predict(_filled(Z, hidden, by_line), hidden)
    predictions = [by_line, by_similar]
    for opinion in further:
        said = opinion(Z, hidden)
        excluded = (np.abs(said - by_line) > EXCLUDED * deviation) & (
            np.abs(said - by_similar) > EXCLUDED * spread
        )
        predictions.append(np.where(np.isnan(said) | excluded, by_line, said))
    return np.stack(predictions), deviation, spread


def _shares_of_helpful(
    Z: Array, used: Array, predictions: Array, scale: Array | None, resolution: Array
) -> Array:
    """Shares of opinions; a further one has none in columns that it does not help to predict."""
    everybody = shares(Z, used, predictions, scale)
    if len(predictions) == OWN:
        return everybody
    own = np.zeros(everybody.shape)
    own[:OWN] = shares(Z, used, predictions[:OWN], scale)
    with_further, without = (
        typical(Z - combine(weights, predictions), used, resolution) for weights in (everybody, own)
    )
    return np.where(with_further < (1.0 - HELPS) * without, everybody, own)


def _fellow_features(
    residual: Array,
    used: Array,
    unit: Array,
    predictions: Array,
    deviation: Array,
    spread: Array,
    extremity: Array | None,
) -> Array:
    disagreement = np.abs(predictions[0] - predictions[1])
    features = [
        of_row(residual, used, unit),
        logarithm(deviation, unit),
        logarithm(disagreement, unit),
        logarithm(spread, unit),
    ]
    return np.stack(features if extremity is None else [*features, extremity])


@dataclass(frozen=True)
class TimeNeighbours:
    """Opinions by the neighbours in time."""

    weights: Array
    scale: ScaleModel

    @classmethod
    def learn(
        cls, Z: Array, surroundings: Surroundings, used: Array, columns: Columns, sequence: Sequence
    ) -> tuple[TimeNeighbours, Witness]:
        scale: Array | None = None
        for _ in range(TURNS):
            weights = shares(Z, used, surroundings.predictions, scale)
            prediction = combine(weights, surroundings.predictions)
            residual = Z - prediction
            unit = typical(residual, used, columns.resolution)
            features = _time_features(residual, used, unit, surroundings, sequence)
            model = ScaleModel.learn(residual, used, features, columns.resolution)
            scale = np.maximum(model.predict(features), surroundings.gap / 2.0)
        assert scale is not None
        return cls(weights, model), Witness(prediction, scale)

    def testify(self, Z: Array, surroundings: Surroundings, used: Array, sequence: Sequence) -> Witness:
        prediction = combine(self.weights, surroundings.predictions)
        features = _time_features(Z - prediction, used, self.scale.unit, surroundings, sequence)
        scale = np.maximum(self.scale.predict(features), surroundings.gap / 2.0)
        return Witness(prediction, scale)


def _time_features(
    residual: Array, used: Array, unit: Array, surroundings: Surroundings, sequence: Sequence
) -> Array:
    sizes = logarithm(np.abs(residual), unit)
    usual = np.array(
        [np.median(s[u]) if u.any() else 0.0 for s, u in zip(sizes.T, used.T, strict=True)]
    )
    stretch = sequence.smooth(np.where(used, sizes, usual), STRETCH)
    line, cubic = surroundings.predictions[:2]
    return np.stack(
        [
            of_row(residual, used, unit),
            stretch,
            logarithm(surroundings.gap, unit),
            surroundings.distance,
            logarithm(np.abs(line - cubic), unit),
        ]
    )


@dataclass(frozen=True)
class Panel:
    """All opinions; those in time are there if rows have an order."""

    columns: Columns
    fellows: Fellows
    neighbours: TimeNeighbours | None
    both: ScaleModel | None

    @classmethod
    def learn(
        cls,
        Z: Array,
        hidden: Array,
        judged: Array,
        columns: Columns,
        sequence: Sequence | None,
        further: tuple[Opinion, ...] = (),
        hearing: Hearing | None = None,
    ) -> tuple[Panel, list[Witness]]:
        """From cells that are not hidden; shares and scales from those that can be judged."""
        used = judged & ~hidden
        fellows, row = Fellows.learn(
            Z, hidden, used, columns, further, hearing, extreme=sequence is None
        )
        if sequence is None:
            return cls(columns, fellows, None, None), [row]
        surroundings = (hearing or Hearing()).near(sequence, Z, hidden)
        neighbours, time = TimeNeighbours.learn(Z, surroundings, used, columns, sequence)
        row = _silent_in_bad_rows(row, time, hidden)
        prediction, features = _both(Z, used, row, time, columns.resolution)
        both = ScaleModel.learn(Z - prediction, used, features, columns.resolution)
        panel = cls(columns, fellows, neighbours, both)
        return panel, panel._ordered(Z, used, row, time, surroundings)

    def testify(
        self,
        Z: Array,
        hidden: Array,
        judged: Array,
        sequence: Sequence | None,
        hearing: Hearing | None = None,
    ) -> list[Witness]:
        """The mixture first, then each family alone."""
        used = judged & ~hidden
        row = self.fellows.testify(Z, hidden, used, hearing)
        if sequence is None or self.neighbours is None:
            return [row]
        surroundings = (hearing or Hearing()).near(sequence, Z, hidden)
        time = self.neighbours.testify(Z, surroundings, used, sequence)
        row = _silent_in_bad_rows(row, time, hidden)
        return self._ordered(Z, used, row, time, surroundings)

    def forgetting(self, further: tuple[Opinion, ...]) -> Panel:
        """The same without what further opinions are remembered to have said, if they are heard."""
        learned = (o.learned if isinstance(o, WhenAsked) else o for o in further)
        heard = tuple(o for o in learned if o is not None) if self.fellows.further else ()
        return replace(self, fellows=replace(self.fellows, further=heard))

    def _ordered(
        self, Z: Array, used: Array, row: Witness, time: Witness, surroundings: Surroundings
    ) -> list[Witness]:
        assert self.both is not None
        prediction, features = _both(Z, used, row, time, self.columns.resolution, self.both.unit)
        scale = self.both.predict(features)
        doubt = _trust_in_time(row, time) * surroundings.gap / 2.0
        return [Witness(prediction, np.maximum(scale, doubt)), time, row]


def _both(
    Z: Array, used: Array, row: Witness, time: Witness, resolution: Array, unit: Array | None = None
) -> tuple[Array, Array]:
    """Mixture by inverse variances, and features of its scale."""
    trust = _trust_in_time(row, time)
    prediction = row.prediction + trust * (time.prediction - row.prediction)
    residual = Z - prediction
    if unit is None:
        unit = typical(residual, used, resolution)
    joint = time.scale * np.sqrt(trust)
    features = np.stack(
        [
            np.log(joint / unit),
            of_row(residual, used, unit),
            logarithm(np.abs(row.prediction - time.prediction), unit),
        ]
    )
    return prediction, features


def _trust_in_time(row: Witness, time: Witness) -> Array:
    """Share of the neighbours in time, by inverse variances."""
    share: Array = 1.0 / (1.0 + (time.scale / row.scale) ** 2)
    return share


def _silent_in_bad_rows(row: Witness, time: Witness, hidden: Array) -> Witness:
    # Of a row of which nothing is shown, fellows know no more.
    silent = (mostly_hidden(hidden) | hidden.all(axis=1))[:, None]
    return Witness(
        np.where(silent, time.prediction, row.prediction), np.where(silent, np.inf, row.scale)
    )
