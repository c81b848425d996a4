"""bench/accuracy/leakage.py: the attack finds what one gradient shows, and nothing in what a fleet sends by default."""

import sys

import numpy as np
import pytest
import torch
from checkout import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import folders  # noqa: E402, F401
import leakage  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_psnr_and_ssim_of_known_pairs():
    """PSNR by its definition in NumPy; SSIM of an image with itself is 1, with its negative it is below 0."""
    a, b = torch.rand(8, 8, 1), torch.rand(8, 8, 1)
    assert leakage.psnr(a, b) == pytest.approx(-10 * np.log10(np.square(a.numpy() - b.numpy()).mean()), abs=1e-4)
    assert leakage.ssim(a, a) == pytest.approx(1, abs=1e-4) and leakage.ssim(a, 1 - a) < 0


def test_images_are_paired_whatever_their_order():
    x = torch.rand(5, 8, 8, 1)
    assert leakage.compared(x[[3, 1, 4, 0, 2]], x)[0] > 90


@pytest.mark.slow
def test_one_step_of_sgd_shows_its_image_to_the_attack():
    found, (psnr, ssim) = leakage.searched(leakage.Victim("MLP", 0, 1, adam=False))
    assert psnr > 20 and ssim > 0.9 and found.shape == (1, 8, 8, 1)


@pytest.mark.slow
def test_what_a_fleet_sends_by_default_shows_no_image():
    _, (psnr, ssim) = leakage.searched(leakage.Victim("MLP", 0, 64, adam=False))
    assert psnr < 12 and ssim < 0.7
