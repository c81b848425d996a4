"""Whole channels of a PyTorch network are cut, few at a time, with training in between; what is left is an ordinary
module.

    from odt.host.prune import prune

    small = prune(net, images, parameters=0.1, tune=lambda net, round: train(net, epochs=1))
    model = odt.host.convert.load(small, calibrate=images, train="all")

Which layers lose a channel together (a residual sum, a depthwise convolution and what is around it) is found by
torch-pruning (Fang et al., 2023). How much is gone after each round is the schedule of Zhu and Gupta (2017), much at
first and little at last. A channel's importance is that of its whole group: the norm of its weights, or the first-order
change of the loss without it (Molchanov et al., 2019). Needs `pip install '.[prune]'`.
"""

import copy

import torch
import torch_pruning
from torch import nn

_IMPORTANCE = {
    "magnitude": torch_pruning.importance.GroupMagnitudeImportance,
    "taylor": torch_pruning.importance.GroupTaylorImportance,
}
_GRAINS = 400  # steps from all channels to none


def prune(
    net, x, parameters, tune=None, rounds=8, importance="magnitude", loss=None, evenly=True, most=0.95, multiple=None
):
    """A copy of ``net`` with at most ``parameters`` (a part of it, 0 to 1) of its parameters left; ``net`` stays as it
    is.

    ``x``: a tensor or array of one sample or more, as ``net`` takes them. ``tune(net, round)`` trains the network in
    place after each of the ``rounds``; None: nothing does. ``importance``: "magnitude", or "taylor", for which
    ``loss(net)`` gives the loss of some samples as a tensor. ``evenly``: every layer loses the same part of its
    channels; False: the least important of the whole network go, which leaves narrow places. No layer loses more than
    ``most`` of them; ``multiple``: the number left is one of this. Inputs and outputs keep their sizes. ValueError
    where ``parameters`` cannot be reached, and for arguments out of range.
    """
    if not 0 < parameters < 1:
        raise ValueError("prune: parameters is the part that is left, above 0 and below 1, got %r" % (parameters,))
    if not isinstance(rounds, int) or rounds < 1:
        raise ValueError("prune: rounds is an int above 0, got %r" % (rounds,))
    if importance not in _IMPORTANCE:
        raise ValueError("prune: importance is one of %s, got %r" % (", ".join(_IMPORTANCE), importance))
    if (importance == "taylor") != (loss is not None):
        raise ValueError("prune: loss(net) is given with importance='taylor', and not otherwise")
    if not 0 < most < 1:
        raise ValueError("prune: most is above 0 and below 1, got %r" % (most,))
    small, was_training = copy.deepcopy(net), net.training
    x = torch.as_tensor(x)[:1].to(next(small.parameters()).dtype)
    pruner = torch_pruning.pruner.BasePruner(
        small.eval(), x, importance=_IMPORTANCE[importance](), global_pruning=not evenly, pruning_ratio=1.0,
        max_pruning_ratio=most, iterative_steps=_GRAINS, ignored_layers=_last(small, x), round_to=multiple,
    )  # fmt: skip
    whole = count(small)
    for number in range(rounds):
        left = parameters + (1 - parameters) * (1 - (number + 1) / rounds) ** 3
        while count(small) > left * whole:
            if pruner.current_step == _GRAINS:
                raise ValueError(
                    "prune: %.1f %% of the parameters are left when no layer may lose more (most=%g), %.1f %% are "
                    "asked for" % (100 * count(small) / whole, most, 100 * parameters)
                )
            if loss is not None:
                small.zero_grad()
                loss(small).backward()
            pruner.step()
        small.zero_grad()
        if tune is not None:
            tune(small, number)
        small.eval()
    return small.train(was_training)


def count(net):
    """The number of parameters of a module."""
    return sum([each.numel() for each in net.parameters()])


def distillation(output, teacher, labels, temperature=4.0, part=0.7):
    """The loss of a student: cross entropy to its labels, and ``part`` of it to the teacher's softened probabilities.

    ``output``, ``teacher``: logits (samples, classes); ``labels``: (samples). Hinton et al. (2015): the second is times
    temperature^2.
    """
    log = nn.functional.log_softmax(output / temperature, 1)
    soft = nn.functional.softmax(teacher.detach() / temperature, 1)
    between = nn.functional.kl_div(log, soft, reduction="batchmean") * temperature**2
    return part * between + (1 - part) * nn.functional.cross_entropy(output, labels)


def _last(net, x):
    """The layers whose channels are the network's outputs: without one of them the outputs have another shape."""
    expected, found = net(x).shape, []
    for name, module in net.named_modules():
        if isinstance(module, (nn.Linear, nn.modules.conv._ConvNd)):
            trial = copy.deepcopy(net)
            graph = torch_pruning.DependencyGraph().build_dependency(trial, x)
            layer = trial.get_submodule(name)
            graph.get_pruning_group(layer, graph.get_pruner_of_module(layer).prune_out_channels, [0]).prune()
            try:
                same = trial(x).shape == expected
            except RuntimeError:  # sizes that forward itself says
                same = False
            if not same:
                found.append(module)
    return found
