"""What a network hears of a sensor, by integers: the same bits in training, on a PC and on a board."""
