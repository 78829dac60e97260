"""Data like those that people have, made up so that the truth is known: a table and a motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from rnlmf.typing import Array

WEATHER_COLUMNS = (
    *("temperature", "humidity", "dew_point", "pressure"),
    *("radiation", "wind", "soil_temperature", "visitors"),
)
# Of the weather station's instruments.
NOISE = (0.1, 0.5, 0.1, 0.1, 4.0, 0.05, 0.05, 1.0)
SPIKE_SHARE = 0.012


def make_weather(hours: int = 672, first_hour: int = 0, *, rng: np.random.Generator) -> Array:
    """Quantities that hang together: the hour of the day and a slow change of the weather.

    Parameters
    ----------
    hours, first_hour : int
        How many rows, and where they begin.
    rng : numpy.random.Generator
        For the noise of the instruments.

    Returns
    -------
    array of shape (hours, 8)
        Columns as in `WEATHER_COLUMNS`, in units of their own.
    """
    hour = first_hour + np.arange(hours)
    day, front = 2 * np.pi * hour / 24, np.sin(2 * np.pi * hour / 150)
    sun = np.clip(np.sin(day - np.pi / 2), 0, None) * (1.0 - 0.35 * front)
    temperature = 13 + 5 * sun + 2.5 * np.sin(day - 2.2) + 4 * front
    humidity = np.clip(78 - 3.1 * (temperature - 13) + 9 * front, 5, 100)
    dew_point = temperature - (100 - humidity) / 5
    pressure = 1013 - 9 * front + 1.2 * np.cos(2 * day)
    radiation = 820 * sun + 3
    wind = 3 + 1.8 * sun + 2.2 * front**2
    soil = 12 + 2 * np.sin(day - 3.4) + 3 * front
    visitors = np.rint(140 + 150 * sun + 8 * (temperature - 13))
    clean = np.column_stack(
        [temperature, humidity, dew_point, pressure, radiation, wind, soil, visitors]
    )
    return clean + rng.normal(size=clean.shape) * NOISE


def make_robot_arm(frames: int = 800, *, rng: np.random.Generator) -> Array:
    """A robot arm that swings: where its three joints are, and at which angles, frame by frame.

    Parameters
    ----------
    frames : int
        How many rows.
    rng : numpy.random.Generator
        For the pace of the joints, and for the noise of the sensors.

    Returns
    -------
    array of shape (frames, 12)
        ``x`` and ``y`` of the three joints in metres, the angles of the three links to the ground in
        degrees, and the speeds of these.
    """
    t = np.linspace(0.0, 30.0, frames)[:, None]
    pace, phase = rng.uniform(0.5, 1.5, (2, 3)), rng.uniform(0.0, 2 * np.pi, (2, 3))
    bends = 0.9 * np.sin(pace[0] * t + phase[0]) + 0.4 * np.sin(2 * pace[1] * t + phase[1])
    angles = np.cumsum(bends, axis=1)
    lengths = np.array([1.0, 0.8, 0.5])
    x, y = (np.cumsum(lengths * f(angles), axis=1) for f in (np.cos, np.sin))
    clean = np.column_stack(
        [x, y, np.degrees(angles), np.degrees(np.gradient(angles, t[1, 0], axis=0))]
    )
    return clean + 0.01 * clean.std(axis=0) * rng.normal(size=clean.shape)


def add_spikes(values: Any, *, share: float = SPIKE_SHARE, rng: np.random.Generator) -> Array:
    """Some cells off by 4 to 9 standard deviations of their column."""
    spikes = rng.random(values.shape) < share
    size = rng.choice([-1, 1], values.shape) * rng.uniform(4, 9, values.shape)
    return values + np.where(spikes, size, 0) * values.std(axis=0)
