"""What is said of the columns of a table before anything is changed."""

import numpy as np
import pandas as pd

from rnlmf.cleaning.overview import ColumnChoice, overview_of
from rnlmf.io import read


def overview(tmp_path, frame):
    frame.to_csv(tmp_path / "t.csv", index=False)
    return overview_of(read(tmp_path / "t.csv"), ColumnChoice())


def test_a_sensor_that_stands_still_is_told_with_its_rows(tmp_path, rng):
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    frame.loc[40:69, "b"] = 0.25
    found = {column.name: column.remarks for column in overview(tmp_path, frame).columns}
    assert found["b"] == ("always 0.25 in rows 41 to 70",)
    assert found["a"] == found["c"] == ()


def test_remarks_are_of_columns_that_are_cleaned(tmp_path, rng):
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=list("ab"))
    frame["year"] = np.repeat([2001, 2002, 2003], 100)
    seen = overview(tmp_path, frame)
    assert [column.remarks for column in seen.columns] == [(), (), ()]
    assert seen.dataset.names == ["a", "b"]
