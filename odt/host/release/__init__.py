"""What a release is made of: firmware, kernels in pieces, packages."""
