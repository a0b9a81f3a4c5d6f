"""The rows of a history, in the order in which they arrive: in disorder, some late or without a time, of any width."""

import random

from simulation.boards import Config

FAR = 10**6  # milliseconds after the last row, with which all windows end


def width_of(chance: random.Random, config: Config) -> int:
    """How wide texts are at most, in bytes: mostly little, where nobody keeps them."""
    if not config.keeps_texts and chance.random() < 0.8:
        return chance.choice([1, 10])
    return chance.choice([1, 10, 100, 2000, 2000, 2000, 5000, 20_000] + [1 << 20] * (chance.random() < 0.1))


def drawn_rows(chance: random.Random, config: Config, width: int, many: bool) -> list[dict]:
    """Rows, and one at the end that is far in the future."""
    count = chance.choice([10, 20, 40]) if many else chance.choice([0, 1, 2, 3, 4, 5, 6, 8])
    count = count if width < 10_000 else chance.randint(1, 6)
    clock = chance.choice([1_000_000, 1_000_000, 0, -20, 500])  # milliseconds
    pace = chance.choice([0.3, 1, 3])
    disorder = chance.choice([0, 2, 10, 40])
    keys = chance.choice(["a", "ab", "abcd", "abcdefghijkl"])
    even = chance.random() < 0.5  # whether all rows are as wide
    joining = any(config.kind == "session" and not each.slide for each in config.questions) and chance.random() < 0.7
    count = max(count, chance.randint(4, 10)) if joining and width < 10_000 else count
    rows, taken, deltas, planned = [], set(), dict.fromkeys(keys, 0), []
    for number in range(count):
        clock += int(chance.expovariate(1) * pace)
        moment = 1000 * (clock - chance.randint(0, disorder)) + (0 if config.ties else chance.randrange(1000))
        while not config.ties and moment in taken:
            moment += 1
        taken.add(moment)
        row = drawn_row(chance, config, number, moment, [width] if even else [0, 1, 1, width])
        row["k"] = chance.choice([*keys, None]) if config.keyed else None
        if joining and not planned and chance.random() < 0.8:
            planned = joins(chance, config, rows)
        if planned:
            row["ts"], row["k"] = planned.pop(0)
            while not config.ties and row["ts"] in taken:
                row["ts"] += 1
            taken.add(row["ts"])
        deltas[row["k"]] = deltas.get(row["k"], 0) + chance.choice([0, 0, 1, 2, 5, -3])
        row["d"] = deltas[row["k"]] if chance.random() < 0.95 else None
        rows.append(row)
    end = max([0, *(row["ts"] for row in rows if row["ts"] is not None)]) // 1000 + FAR
    nothing = dict.fromkeys(("k", "v", "w", "d"))
    return [*rows, {"ts": 1000 * end, "start": 1000 * end, "id": count, **nothing}]


def joins(chance: random.Random, config: Config, rows: list[dict]) -> list[tuple]:
    """Times and keys of rows to come: the watermark passes the end of a session, which late rows extend or join."""
    others = [other for other in rows[-3:] if other["ts"] is not None]
    if not others:
        return []
    gap = chance.choice([each.length for each in config.questions if not each.slide])
    other = chance.choice(others)
    first, key = other["ts"], other["k"]
    answered = first + gap + config.delay + 1000
    over = answered + (config.stay or 0)
    late = chance.choice([gap * 3 // 4, -gap // 2])
    return chance.choice(
        [
            [(answered, chance.choice(others)["k"]), (first + late, key)],
            [(answered, key), (first + gap * 3 // 2, key), (first + gap * 3 // 4, key)],
            [(first + gap * 3 // 2, key), (over, key), (first + gap * 3 // 4, key)],
        ]
    )


def drawn_row(chance: random.Random, config: Config, number: int, moment: int, widths: list[int]) -> dict:
    letter = chance.choice("xyz")
    long = chance.choice(widths)
    row = {
        "ts": moment if chance.random() < 0.97 else None,
        "v": chance.randint(-5, 5) if chance.random() < 0.9 else None,
        "w": letter * long if chance.random() < 0.9 else None,
        "id": number,
        "start": None,
    }
    if config.kind == "spans" and chance.random() < 0.97:
        row["start"] = moment - chance.choice([0, 1, 500, 3000, 20_000, 60_000, -1])
    return row
