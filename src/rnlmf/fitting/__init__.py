"""From noisy samples to a fitted model: defaults, the learner, and what it leaves behind."""
