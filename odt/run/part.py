"""A part of a network as a model of its own: teach.front, vae.decoder."""


class Part:
    """What transfer() asks of a session: of its weights and ranges, those that the part has."""

    def __init__(self, session, made, nodes):
        self.state, self.frozen, self.dtype, self.calibrated = (
            session.state,
            session.frozen,
            session.dtype,
            session.calibrated,
        )
        self.plan, self.errors = self, ()
        layers = [layer for layer, _ in made.session.plan.weights]
        kept = dict(session.plan.weights)
        self.weights = [(layer, kept[layer]) for layer in layers]
        self.forward = []
        count = len(made.nodes)
        if self.dtype == "int8" and made.nodes == nodes[:count]:  # ranges are found by their nodes' numbers
            ranges = session.plan.forward
            for at in range(0, len(ranges), 2):
                if ranges[at] < count:
                    self.forward += [ranges[at], ranges[at + 1]]
            self.forward += [count - 1, session.plan.x_scale.offset]  # of the loss's error, which no one asks for
