"""Sentences for 20 intents and one more, on a PC: a grammar with paraphrases, and misspellings.

In a pattern (a|b) is one of two, [a] may be missing, {room} is a slot. Of each intent the patterns before HELD are for
training, those after it for tests: a test's sentences have other constructions than any that trained, of words that
training knows, and no sentence is in both. A misspelling changes a letter of a word: swapped with the next, left out,
doubled, or replaced by its neighbour on the keyboard.
"""

import random
import re

HELD = "--"
SLOTS = {
    "please": "please|for me|thanks|now|right away",
    "could": "could you|can you|would you|please|i want you to|i would like you to",
    "room": "kitchen|bedroom|bathroom|hall|office|garage|living room|attic",
    "count": "one|two|three|five|ten|twelve|fifteen|twenty|thirty|forty five",
    "unit": "minutes|seconds|hours",
    "hour": "six|seven|eight|nine|half past six|quarter to eight|noon|seven thirty",
    "color": "red|green|blue|yellow|purple|orange|white|pink",
    "music": "jazz|rock|some music|a song|the radio|my playlist|classical music",
    "day": "today|tomorrow|tonight|this weekend|on monday|this afternoon",
    "door": "front door|back door|garage door|cellar door",
}
INTENTS = {
    "light on": """(turn|switch) on the {room} (light|lights|lamp)
        (turn|switch) the (light|lights|lamp) on in the {room}
        {could} (turn|switch) on the (light|lamp) [in the {room}] [{please}]
        make it bright in the {room}
        i need [some] light in the {room}
        --
        {room} (light|lights|lamp) on {please}
        {could} make some light in the {room}
        i want the {room} lamp [switched|turned] on""",
    "light off": """(turn|switch) off the {room} (light|lights|lamp)
        (turn|switch) the (light|lights|lamp) off in the {room}
        {could} (turn|switch) off the (light|lamp) [in the {room}] [{please}]
        make it dark in the {room}
        i need no light in the {room}
        --
        {room} (light|lights|lamp) off {please}
        {could} make the {room} dark
        i want the {room} lamp [switched|turned] off""",
    "light dim": """dim the {room} (light|lights|lamp) [{please}]
        (set|put) the {room} (light|lights|lamp) to {count} percent
        {could} dim the (light|lights) [in the {room}]
        the {room} (light|lamp) is too bright
        make the (light|lamp) softer in the {room}
        --
        {count} percent light in the {room} {please}
        {room} (lights|lamp) to {count} percent
        {could} make the {room} (light|lamp) softer""",
    "light color": """make the {room} (light|lights|lamp) {color}
        (set|change|turn) the {room} (light|lights|lamp) to {color}
        {could} make the (light|lamp) {color} [in the {room}] [{please}]
        i want {color} light [in the {room}]
        change the color of the {room} lamp to {color}
        --
        {color} light in the {room} {please}
        {room} (lamp|lights) in {color}
        {could} change the {room} light to {color}""",
    "timer set": """set a timer (for|to) {count} {unit}
        start a [{count}] (minute|second|hour) timer
        {could} (set|start) a timer for {count} {unit} [{please}]
        (remind|tell) me in {count} {unit}
        count down {count} {unit}
        --
        timer for {count} {unit} {please}
        {could} tell me when {count} {unit} are over
        i need a timer of {count} {unit}""",
    "timer cancel": """(cancel|stop|delete) the timer [{please}]
        {could} (cancel|stop|delete) (my|the) timer
        (turn|switch) off the timer
        i do not need the timer any more
        forget (my|the) timer
        --
        no timer any more {please}
        timer off {please}
        the timer can (stop|be deleted) now""",
    "alarm set": """set (an|my) alarm (for|at) {hour} [{day}]
        wake me [up] at {hour} [{day}]
        {could} wake me [up] at {hour} [{please}]
        i (have|need) to get up at {hour} [{day}]
        put my alarm to {hour}
        --
        alarm at {hour} {please}
        {day} i get up at {hour} so wake me
        i need an alarm for {hour} {day}""",
    "warmer": """(turn|switch) (up the heating|the heating up) [in the {room}]
        make (it|the {room}) warmer [{please}]
        {could} heat the {room} [{please}]
        (i am|it is) (cold|freezing) [in the {room}]
        raise the temperature [by {count} degrees]
        --
        it is too cold in the {room} {please}
        {could} raise the heating by {count} degrees
        {room} {count} degrees warmer {please}""",
    "cooler": """(turn|switch) (down the heating|the heating down) [in the {room}]
        make (it|the {room}) (cooler|colder) [{please}]
        {could} cool the {room} [{please}]
        (i am|it is) [too] (hot|warm) [in the {room}]
        lower the temperature [by {count} degrees]
        --
        it is much too hot in the {room} {please}
        {could} lower the heating by {count} degrees
        {room} {count} degrees cooler {please}""",
    "temperature": """(what is|tell me) the temperature [in the {room}]
        how (warm|cold|hot) is it in the {room}
        how many degrees are (in the {room}|there)
        {could} tell me how (warm|cold) it is in the {room}
        what does the thermometer (say|show)
        --
        temperature in the {room} {please}
        {could} tell me the degrees in the {room}
        is it (warm|cold) in the {room} now""",
    "music play": """play {music} [in the {room}] [{please}]
        {could} play {music} [{please}]
        put on {music} [in the {room}]
        i want to (hear|listen to) {music}
        start {music} in the {room}
        --
        {music} in the {room} {please}
        let me (hear|listen to) {music}
        i would like to hear {music} {please}""",
    "music stop": """(stop|pause) {music} [{please}]
        {could} (stop|pause) {music} [in the {room}]
        (turn|switch) off {music} [in the {room}]
        no more {music}
        be quiet [{please}]
        --
        i do not want to hear {music} any more
        {music} off {please}
        {could} be quiet now""",
    "louder": """(turn|switch) (it|the volume|the music|the radio) up [{please}]
        (make it|play the music|play it) louder [in the {room}]
        raise the volume [by {count} percent]
        {could} play louder [{please}]
        i (cannot|do not) hear (it|the music|the radio)
        --
        louder [music] {please}
        volume up by {count}
        it is too quiet in the {room}""",
    "quieter": """(turn|switch) (it|the volume|the music|the radio) down [{please}]
        (make it|play the music|play it) quieter [in the {room}]
        lower the volume [by {count} percent]
        {could} play [more] quietly [{please}]
        (it|the music|the radio) is too loud
        --
        quieter [music] {please}
        volume down by {count}
        it is too loud in the {room}""",
    "weather": """(what is|how is) the weather [like] {day}
        (will|does) it (rain|snow) {day}
        {could} tell me the weather [for] {day}
        do i need (an umbrella|a coat) {day}
        is it (sunny|windy) (outside|{day})
        --
        weather {day} {please}
        {day} do i need an umbrella
        tell me if it will (rain|snow) {day}""",
    "time": """what time is it [{please}]
        (what is|tell me) the time [{please}]
        {could} tell me the time
        how late is it
        what does the clock (say|show)
        --
        the time {please}
        tell me how late it is
        {could} tell me what the clock says""",
    "lock": """(lock|bolt|secure) the {door} [{please}]
        {could} (lock|bolt|secure) the {door}
        is the {door} locked if not lock it
        nobody should come in through the {door}
        make sure the {door} is (locked|bolted)
        --
        {door} locked {please}
        i want the {door} (locked|bolted)
        {could} make sure that nobody comes in through the {door}""",
    "unlock": """(unlock|open) the {door} [{please}]
        {could} (unlock|open) the {door}
        let (me|us|them) in [through the {door}]
        my friends are at the {door} let them in
        the {door} should be unlocked
        --
        {door} (open|unlocked) {please}
        i want the {door} (open|unlocked)
        {could} let my friends in through the {door}""",
    "blinds up": """(open|raise) the (blinds|shutters|curtains) [in the {room}]
        (pull|roll) up the {room} (blinds|shutters)
        {could} (open|raise) the (blinds|curtains) [{please}]
        let the sun in [{please}]
        i want to see outside from the {room}
        --
        {room} (blinds|shutters) up {please}
        {could} let the sun into the {room}
        the {room} curtains should be open""",
    "blinds down": """(close|lower) the (blinds|shutters|curtains) [in the {room}]
        (pull|roll) down the {room} (blinds|shutters)
        {could} (close|lower) the (blinds|curtains) [{please}]
        keep the sun out [{please}]
        nobody should see into the {room}
        --
        {room} (blinds|shutters) down {please}
        {could} keep the sun out of the {room}
        the {room} curtains should be closed""",
    "vacuum": """(start|run) the vacuum [cleaner] [in the {room}]
        (clean|vacuum) the {room} [floor] [{please}]
        {could} (clean|vacuum) the {room} [floor]
        the {room} floor is dirty
        let the robot clean the {room}
        --
        clean floor in the {room} {please}
        {room} vacuum {please}
        send the robot to the {room}""",
}
NAMES = list(INTENTS)
NEW = len(NAMES) - 1  # the intent that a board is taught
_BESIDE = {}  # letter -> its neighbours on the keyboard
for _row in ("qwertyuiop", "asdfghjkl", "zxcvbnm"):
    for _left, _right in zip(_row, _row[1:]):
        _BESIDE[_left] = _BESIDE.get(_left, "") + _right
        _BESIDE[_right] = _BESIDE.get(_right, "") + _left


def patterns(intent, held):
    """The patterns of an intent for training, or those held for tests."""
    lines = [line.strip() for line in INTENTS[intent].split("\n")]
    at = lines.index(HELD)
    return lines[at + 1 :] if held else lines[:at]


def sentence(rng, pattern):
    """One sentence of a pattern."""
    while re.search(r"[{(\[]", pattern):
        pattern = re.sub(r"\{(\w+)\}", lambda found: "(%s)" % SLOTS[found[1]], pattern)
        pattern = re.sub(r"\[([^][(){}]*)\]", lambda found: rng.choice(("", rng.choice(found[1].split("|")))), pattern)
        pattern = re.sub(r"\(([^][(){}]*)\)", lambda found: rng.choice(found[1].split("|")), pattern)
    return " ".join(pattern.split())


def misspelt(rng, text):
    """The sentence with a letter of one of its words of at least four letters changed."""
    words = text.split()
    long = [at for at, word in enumerate(words) if len(word) > 3]
    if not long:
        return text
    at = rng.choice(long)
    word, place = words[at], rng.randrange(len(words[at]) - 1)
    kind = rng.randrange(4)
    if kind == 0:
        word = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    elif kind == 1:
        word = word[:place] + word[place + 1 :]
    elif kind == 2:
        word = word[: place + 1] + word[place:]
    else:
        word = word[:place] + rng.choice(_BESIDE[word[place]]) + word[place + 1 :]
    return " ".join(words[:at] + [word] + words[at + 1 :])


def shortened(rng, text):
    """The sentence as somebody says it who is in a hurry: one word in five missing, or from its middle on."""
    words = [word for word in text.split() if rng.random() >= 0.2] or text.split()
    at = rng.randrange(len(words)) if rng.random() < 0.5 else 0
    return " ".join(words[at:] + words[:at])


def words_of(texts):
    return {word for text in texts for word in text.split()}


def drawn(seed, count, held, intents=NEW, wrong=0.0, avoid=(), whole=False):
    """``count`` sentences of each of the first ``intents``: (texts, labels), in any order.

    ``wrong``: the share with a misspelling, each of which is a word that is not in ``avoid``; nor is a sentence. For
    training half of the sentences are shortened unless they are to be ``whole``; tests have each sentence once.
    """
    rng, made = random.Random(seed), []
    for label in range(intents) if isinstance(intents, int) else intents:
        chosen = patterns(NAMES[label], held)
        for number in range(count):
            for _ in range(1000):
                text = sentence(rng, chosen[number % len(chosen)])
                if rng.random() < wrong:
                    right, text = text, misspelt(rng, text)
                    if text == right or (words_of([text]) - words_of([right])) & set(avoid):
                        continue
                if text not in avoid:
                    break
            if not (held or whole) and number % 2:
                text = shortened(rng, text)
            made.append((text, label))
    made = list(dict.fromkeys(made)) if held else made
    rng.shuffle(made)
    return [text for text, _ in made], [label for _, label in made]
