import numpy as np
import pytest

from rnlmf import io


@pytest.mark.parametrize("shape", [(3, 2), (5, 2), (4, 1), (4, 3)])
def test_values_of_another_shape_are_refused(tmp_path, shape):
    np.save(tmp_path / "a.npy", np.zeros((4, 2)))
    dataset = io.read(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="values have shape"):
        io.write(dataset, np.zeros(shape), tmp_path / "b.npy")
    assert not (tmp_path / "b.npy").exists()
