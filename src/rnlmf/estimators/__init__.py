"""The scikit-learn estimators: thin shells over the fitting and the engine."""
