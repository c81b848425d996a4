"""Windows of samples as they come, a model, and a label when it is sure."""
