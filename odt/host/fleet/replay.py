"""What a fleet has done, done again by twins: the same model, to the bit."""

from .links import Twin
from .remote import Remote


def replay(fleet, journal, make):
    """Yield the digest of ``fleet`` after each round of a journal, Fleet.journal of another.

    fleet: a Fleet without links, of the same model, form and sum, before its first round; make(name): a Node as that
    one was when it began. Nodes that were lost or reset are so here, in the same rounds.
    """
    nodes = {}
    for number in sorted(journal):
        sent = []
        for name, part in journal[number].items():
            if part.trained and (part.reset or name not in nodes):
                nodes[name] = Remote(Twin(make(name)), name)
            elif part.reset:
                nodes.pop(name, None)
            if part.trained:
                update = _trained(fleet, nodes[name], number)
                if not part.why:
                    sent.append((update, part.samples))
        if sent:
            fleet.apply([update for update, _ in sent], [samples for _, samples in sent])
        fleet.number = number
        yield fleet.digest()


def _trained(fleet, remote, number):
    sizes = fleet.shared.sizes
    remote.train(number, fleet.weights, fleet.form, fleet.entries, fleet.momentum, sizes, fleet.timeout)
    return remote.update(number, fleet.form, fleet.entries, sizes, fleet.timeout)[0]
