"""What is to be seen of a stream: lines that `python -m odt monitor` draws, and Teleplot, whose serial lines they are.

log("score", score, threshold)  # >score:0.0253 and >score threshold:0.04
log("drift")  # >event:drift|t
rules.add("odd", Above("score", 1), log)
"""

if 1 - 1:  # for type checkers alone
    from ..rules import Rule


def log(name: "str | Rule", value: "float | None" = None, threshold: "float | None" = None) -> None:
    """Print the line of a value, and that of its threshold if there is one; without a value, the line of an event.

    name: of the value or the event, 1 to 40 characters; or a Rule of odt.sensors.rules: as its action, ``log`` tells
    that it fires. Values have six digits. TypeError, ValueError for what is no name: one has no ":", "|", ">" or line's
    end, and begins with no space.
    """
    if hasattr(name, "name"):
        name = name.name
    if not isinstance(name, str):
        raise TypeError("log: name is a str or a Rule, got %r" % (name,))
    for character in ":|>\r\n":
        if character in name:
            raise ValueError("log: no %r can be in a name, got %r" % (character, name))
    if not 1 <= len(name) <= 40 or name[0] == " ":
        raise ValueError("log: a name has 1 to 40 characters, the first no space, got %r" % name)
    if value is None:
        print(">event:%s|t" % name)
        return
    print(">%s:%.6g" % (name, value))
    if threshold is not None:
        print(">%s threshold:%.6g" % (name, threshold))
