"""
Clean a table in five lines
===========================

A table of measurements has columns with units of their own, and some entries are grossly wrong: a
sensor that hung, a slipped decimal point. :class:`rnlmf.RNLMF` finds them by what the other columns
say, by similar days, and by the days before and after.
"""

# %%
# A table to try it on
# --------------------
# Two years of weather at a station, every quantity driven by the season and by how warm the day is,
# with 4% of the entries spoilt. The truth is kept aside, to look at afterwards.

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
days = pd.date_range("2023-01-01", periods=730)
season, warmth = 2 * np.pi * np.arange(730) / 365, rng.uniform(0, 1, 730)
truth = pd.DataFrame(
    {
        "temperature": 8 + 10 * np.sin(season) + 3 * warmth,
        "humidity": 70 - 15 * np.sin(season) + 8 * np.cos(2 * season) * warmth,
        "pressure": 1010 + 5 * np.cos(season) * warmth + 3 * np.sin(2 * season),
        "wind": 5 + 2 * np.cos(season) + warmth**2,
        "sunshine": 200 + 150 * np.sin(season) - 30 * warmth,
        "river": 2 + np.cos(season + 0.6) + 0.4 * warmth,
    },
    index=days,
)
wrong = rng.random(truth.shape) < 0.04
noisy = truth + wrong * rng.normal(scale=4, size=truth.shape) * truth.std().to_numpy()

# %%
# The five lines
# --------------

from rnlmf import RNLMF

model = RNLMF(random_state=0)
clean = model.fit_denoise(noisy)
removed = model.noise(noisy)
clean.head()

# %%
# The result is a data frame with the same columns and dates. Entries in which nothing was wrong are
# the same to the bit, and ``removed`` is exactly zero there. One column, with the repairs marked:

from rnlmf.plotting import DenoisingDisplay

display = DenoisingDisplay.from_estimator(model, noisy, feature=noisy.columns.get_loc("river"))

# %%
# In words, as the command line says it:

from rnlmf.report import findings_of, in_words

findings = findings_of(model, noisy.to_numpy(), clean.to_numpy())
names, samples = list(noisy.columns), [f"{day:%Y-%m-%d}" for day in days]
print("\n".join(in_words(findings, names, samples)))

# %%
# How good is it? Only here is the truth looked at.

spread = truth.std()
before = np.sqrt((((noisy - truth) / spread) ** 2).to_numpy().mean())
after = np.sqrt((((clean - truth) / spread) ** 2).to_numpy().mean())
print(f"error, in standard deviations: {before:.2f} before, {after:.2f} after")

# %%
# The same from the shell
# -----------------------
#
# .. code-block:: shell
#
#    rnlmf denoise weather.csv -o clean.csv --report report.html
