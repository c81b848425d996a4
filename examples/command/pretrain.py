"""On a PC: sentences, the pieces that tokens stand for, and a network of 20 intents. Writes what teach.py reads.

python pretrain.py
"""

import sys
from collections import Counter
from pathlib import Path

from grammar import NAMES, NEW, drawn, words_of
from tokens import STEPS, Tokens

import odt

PIECES, WIDTH, HEADS, EPOCHS, BATCH, RATE, EPSILON = 254, 32, 4, 10, 32, 0.003, 1e-3
EACH, TAUGHT, KEPT = 400, 10, 6  # sentences of an intent: to train; of the new one; of the old ones that a board has
FOLDER = Path(__file__).resolve().parent


def learnt(texts, count):
    """``count`` pieces: letters, then what stands together most often in words (byte pairs: Sennrich et al., 2016)."""
    words = Counter([word for text in texts for word in text.split()])
    parts = {word: list(" " + word) for word in words}
    pieces = sorted(set("abcdefghijklmnopqrstuvwxyz "))
    while len(pieces) < count:
        pairs = Counter()
        for word, often in words.items():
            for pair in zip(parts[word], parts[word][1:]):
                pairs["".join(pair)] += often
        pieces.append(max(sorted(pairs), key=pairs.get))
        for word, old in parts.items():
            new = []
            for part in old:
                if new and new[-1] + part == pieces[-1]:
                    new[-1] += part
                else:
                    new.append(part)
            parts[word] = new
    return pieces


def sets():
    """(sentences, labels) to train, of other constructions, of these with a misspelling; each test sentence once."""
    train = drawn(1, EACH, False, wrong=0.4)
    known = words_of(train[0]) | set(train[0])
    return train, drawn(2, 100, True, avoid=known), drawn(3, 100, True, wrong=1, avoid=known)


def new_sets():
    """The same of the new intent: what a board is taught, and what it is tested with."""
    train = drawn(4, TAUGHT, False, [NEW], whole=True)
    known = words_of(train[0]) | set(train[0])
    return train, drawn(5, 100, True, [NEW], avoid=known), drawn(6, 100, True, [NEW], wrong=1, avoid=known)


def network(vocabulary, trains=True):
    """``trains``: whether more than the last layer does."""
    x = odt.Input((STEPS,), dtype="uint8")
    y = odt.PositionEmbedding()(odt.Embedding(vocabulary, WIDTH)(x))
    y = odt.Add()([y, odt.MultiHeadAttention(HEADS)(odt.LayerNorm(EPSILON)(y))])
    hidden = odt.Dense(2 * WIDTH, activation="relu")(odt.LayerNorm(EPSILON)(y))
    y = odt.Add()([y, odt.Dense(WIDTH)(hidden)])
    model = odt.Model(x, odt.Dense(len(NAMES))(odt.GlobalAvgPool()(y)))
    for node in model.nodes[:-1]:
        node.layer.trainable = trains
    return model


def trained(tokens, train, seed, dtype="int8"):
    x, y = tokens.samples(train[0]), bytes(train[1])
    model = network(tokens.vocabulary)
    steps = EPOCHS * -(-len(y) // BATCH)
    model.compile(odt.Adam(odt.CosineDecay(RATE, steps)), dtype=dtype, batch_size=BATCH, seed=seed)
    model.fit(x, y, epochs=EPOCHS, verbose=0)
    return model


def ready_to_learn(tokens, model, train, all=False):
    """The model of a board: only its last layer trains; or ``all``."""
    made = network(tokens.vocabulary, all)
    made.compile(odt.Adam(0.003 if all else 0.02), batch_size=8, seed=1)
    made.set_weights(model.get_weights())
    made.calibrate(tokens.samples(train[0][:512]))
    return made


def kept(train):
    """A few sentences of each old intent, as they are in ``train``."""
    seen, texts, labels = Counter(), [], []
    for text, label in zip(*train):
        if seen[label] < KEPT:
            seen[label] += 1
            texts.append(text)
            labels.append(label)
    return texts, labels


def main():
    train, held, wrong = sets()
    pieces = learnt(train[0], PIECES)
    tokens = Tokens("\n".join(pieces))
    model = trained(tokens, train, 1)
    for name, (texts, labels) in (("other constructions", held), ("misspelt", wrong)):
        print("%s: %.1f %%" % (name, 100 * model.evaluate(tokens.samples(texts), bytes(labels))[1]))
    (FOLDER / "pieces.bin").write_text("\n".join(pieces))
    ready_to_learn(tokens, model, train).export(str(FOLDER / "learn.odt"))
    for name, each in (("kept", kept(train)), ("new", new_sets()[0]), ("test", tests(held, wrong))):
        lines = ["%d %s\n" % (label, text) for text, label in zip(*each)]
        (FOLDER / (name + ".bin")).write_text("".join(lines))


def tests(held, wrong):
    """What teach.py is tested with: 100 sentences of old intents of each kind, 50 of the new one."""
    texts, labels = [], []
    for part, count in ((held, 100), (wrong, 100), *[(part, 50) for part in new_sets()[1:]]):
        texts += part[0][:count]
        labels += part[1][:count]
    order = sorted(range(len(texts)), key=lambda at: at * 7919 % len(texts))  # the first few have some of each
    return [texts[at] for at in order], [labels[at] for at in order]


if __name__ == "__main__":
    sys.exit(main())
