"""A board's heap stays in one piece, whatever a model does. bench/costs/soak.py runs the same for longer."""

import pytest
import soaking


@pytest.mark.parametrize("name", soaking.MACHINES)
def test_what_stays_of_training_prediction_teaching_and_saving_lies_at_the_start_of_the_heap(name):
    (_, free, piece), *rounds = soaking.soak(name, 2, 20, 300)
    assert len(rounds) == 2
    for _, later, largest in rounds:
        assert largest > 0.9 * (piece - (free - later)), "%d of %d bytes are in one piece" % (largest, later)
    assert rounds[1][2] > 0.95 * rounds[0][2]
