"""
Motion capture
==============

Joint angles over time fill all 62 channels of a motion capture file, but a walking body has few
degrees of freedom. Markers that are swapped or hidden make spikes.
"""

# %%
# A motion
# --------
# A made-up walk in the layout of the CMU database: every channel a smooth function of the phase of the
# step and of a slowly changing pace.

import numpy as np

from rnlmf.datasets.motion import CMU_BONES, MotionCapture

rng = np.random.default_rng(0)
n_frames, n_channels = 600, sum(CMU_BONES.values())
phase = np.linspace(0, 30 * np.pi, n_frames)
pace = 1 + 0.5 * np.sin(phase / 17)
waves = np.column_stack([pace * f(k * phase) for k in (1, 2, 3) for f in (np.sin, np.cos)])
angles = waves @ rng.normal(size=(6, n_channels)) * rng.uniform(2, 12, n_channels)
spikes = rng.random(angles.shape) < 0.05
walk = MotionCapture(
    angles + spikes * rng.normal(scale=40, size=angles.shape), CMU_BONES, np.arange(n_frames) + 1
)

# %%
# Files
# -----
# ``read_amc`` and ``write_amc`` lose nothing: header, bones and frame numbers stay.

import tempfile
from pathlib import Path

from rnlmf.datasets import read_amc, write_amc

folder = Path(tempfile.mkdtemp())
write_amc(folder / "walk.amc", walk)
motion = read_amc(folder / "walk.amc")

# %%
# Clean it
# --------
# Motion bends strongly: a kernel of half the mean distance follows it.

from rnlmf import RNLMF

model = RNLMF(62, kernel_scale=0.5, random_state=0)
clean = model.fit_denoise(motion.data)
write_amc(folder / "clean.amc", motion.with_data(clean))

# %%
# One channel of the left leg:

from rnlmf.metrics import relative_rmse
from rnlmf.plotting import DenoisingDisplay

channel = motion.channels.index("lfemur.1")
display = DenoisingDisplay(motion.data, clean, feature=channel, feature_names=motion.channels)
display.plot().ax_.set_xlim(0, 300)
print(
    f"error {relative_rmse(angles, motion.data):.3f} before, {relative_rmse(angles, clean):.3f} after"
)

# %%
# From the shell:
#
# .. code-block:: shell
#
#    rnlmf denoise walk.amc -o clean.amc --report report.html
