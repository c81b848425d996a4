"""What is kept in files: models, checkpoints, samples."""
