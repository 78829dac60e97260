"""
Images with dead pixels
=======================

Thirty per cent of these images have a quarter of their pixels black or white. Nobody says which.
"""

# %%
# Spoil the digits
# ----------------

from sklearn.datasets import load_digits

from rnlmf.datasets import salt_and_pepper

digits = load_digits().data[:600]
noisy = salt_and_pepper(digits, random_state=0)

# %%
# Clean them
# ----------
# A flat image is a sample, a pixel a feature. Black and white return in most images, so no pixel is
# wrong by itself: the dictionary decides, as it does by itself for more than 256 pixels.

from rnlmf import RNLMF

model = RNLMF(120, opinions="dictionary", kernel_scale=1.0, random_state=0).fit(noisy)
clean = model.denoise(noisy)

# %%
# The images from which most was removed; grey means that nothing was.

from rnlmf.plotting import DenoisingDisplay, DictionaryDisplay

display = DenoisingDisplay.from_estimator(model, noisy, image_shape=(8, 8), n_images=12)

# %%
# The dictionary
# --------------
# Atoms are images too: the typical digits by which all others are described.

DictionaryDisplay.from_estimator(model, image_shape=(8, 8))

# %%
# Against the truth, which the model has not seen:

from rnlmf.metrics import relative_rmse

before, after = relative_rmse(digits, noisy), relative_rmse(digits, clean)
print(f"relative error {before:.3f} before, {after:.3f} after")

# %%
# A folder of images
# ------------------
# From the shell, for images of one size; names, size and transparency are kept:
#
# .. code-block:: shell
#
#    rnlmf denoise frames/ -o clean-frames/ --report report.html
