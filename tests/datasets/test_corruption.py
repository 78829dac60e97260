import numpy as np
import pandas as pd
import pytest

from rnlmf.datasets import corrupt_entries, corrupt_samples, occlude, salt_and_pepper

IMAGES = np.random.default_rng(0).uniform(0.2, 0.8, (200, 400))


def test_entries_are_hit_at_the_exact_density():
    noisy = corrupt_entries(IMAGES, 0.3, magnitude=2.0, random_state=0)
    change = noisy - IMAGES
    assert np.count_nonzero(change) == round(0.3 * IMAGES.size)
    assert change[change != 0].std() == pytest.approx(2.0 * IMAGES.std(), rel=0.02)


def test_samples_are_hit_whole():
    hit = (corrupt_samples(IMAGES, 0.25, random_state=0) != IMAGES).all(axis=1)
    assert hit.sum() == 50


def test_salt_and_pepper():
    noisy = salt_and_pepper(IMAGES, random_state=0)
    changed = noisy != IMAGES
    assert changed.any(axis=1).sum() == 60
    assert set(np.unique(noisy[changed])) == {IMAGES.min(), IMAGES.max()}
    assert changed[changed.any(axis=1)].mean() == pytest.approx(0.25, abs=0.01)


def test_occlusion_blackens_one_block():
    noisy = occlude(IMAGES, (20, 20), random_state=0)
    changed = (noisy != IMAGES).reshape(-1, 20, 20)
    hit = changed.any(axis=(1, 2))
    assert hit.sum() == 60
    for image in changed[hit]:
        rows, columns = np.flatnonzero(image.any(axis=1)), np.flatnonzero(image.any(axis=0))
        assert (np.ptp(rows) + 1, np.ptp(columns) + 1) == (6, 6)


def test_seed_decides_and_input_is_kept():
    before = IMAGES.copy()
    np.testing.assert_array_equal(
        salt_and_pepper(IMAGES, random_state=1), salt_and_pepper(IMAGES, random_state=1)
    )
    np.testing.assert_array_equal(IMAGES, before)


LAYOUTS = {
    "columns first": np.asfortranarray,
    "columns of a larger array": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "columns of a larger array, columns first": lambda X: np.asfortranarray(np.hstack([X, X]))[:, :400],
    "chosen columns": lambda X: X[:, np.arange(400)],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "data frame": pd.DataFrame,
}
CORRUPTIONS = {
    "entries": lambda X: corrupt_entries(X, 0.3, random_state=0),
    "samples": lambda X: corrupt_samples(X, 0.3, random_state=0),
    "salt and pepper": lambda X: salt_and_pepper(X, random_state=0),
    "occlusion": lambda X: occlude(X, (20, 20), random_state=0),
}


@pytest.mark.parametrize("corrupt", CORRUPTIONS.values(), ids=CORRUPTIONS.keys())
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_the_layout_in_memory_does_not_matter(layout, corrupt):
    X = layout(IMAGES)
    noisy = corrupt(X)
    assert np.any(noisy != IMAGES)
    np.testing.assert_array_equal(noisy, corrupt(IMAGES))
    np.testing.assert_array_equal(X, IMAGES)


def test_bad_input():
    with pytest.raises(ValueError, match="density"):
        corrupt_entries(IMAGES, 1.5)
    with pytest.raises(ValueError, match="fraction"):
        corrupt_samples(IMAGES, -0.1)
    with pytest.raises(ValueError, match="image_shape"):
        occlude(IMAGES, (3, 3))
