"""Running a model: its session, the training loop, calibration, its state in files."""
