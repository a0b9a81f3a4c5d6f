from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sash.kernels.sorting import strings
from sash.kernels.sorting.strings import string_ranks, string_words

STRINGS = st.lists(st.text("a\0\xff", max_size=9).map(lambda text: text.encode("latin-1")), max_size=30)


def arrow_of(texts):
    return np.cumsum([0, *map(len, texts)]), np.frombuffer(b"".join(texts) or b"-", np.uint8)


@given(STRINGS)
def test_words_of_short_strings_order_and_tell_apart_as_the_strings_do(texts):
    texts = [text[:7] for text in texts]
    words = string_words(*arrow_of(texts)).tolist()
    assert [words.index(word) for word in words] == [texts.index(text) for text in texts]
    assert [texts[i] for i in sorted(range(len(texts)), key=words.__getitem__)] == sorted(texts)


@given(STRINGS, st.integers(0, 50))
@example([b"", b"a", b""], 0)
@example([b"", b"a", b""], 7)  # a string ends where a word begins
def test_ranks_count_the_lesser_strings(texts, common):
    texts = [b"q" * common + text for text in texts] + [b"q" * common]
    assert _ranks(texts) == [sum(other < text for other in texts) for text in texts]


@given(STRINGS, st.integers(40, 60))
def test_strings_that_tie_for_long_are_ranked_by_the_caller(texts, same):
    texts = [b"", *(b"q" * same + text for text in texts)]
    assert _ranks(texts) == [sum(other < text for other in texts) for text in texts]


def _ranks(texts):
    def ranks_of(rows):
        some = [texts[row] for row in rows]
        return np.array([sum(other < text for other in some) for text in some])

    return string_ranks(*arrow_of(texts), ranks_of).tolist()


class Word(int):
    """An unsigned number of 64 bits that is never shifted by its width, which a compiler may answer as it likes."""

    def __lshift__(self, by):
        assert 0 <= by < 64
        return Word(int(self) << by)

    def __or__(self, other):
        return Word(int(self) | other)


@pytest.mark.parametrize("depth", [0, 3, 7])
def test_no_word_is_shifted_by_its_width(depth, monkeypatch):
    texts = [b"q" * depth + b"x" * more for more in range(10)]
    offsets, data = arrow_of(texts)
    words = np.empty(len(texts), np.uint64)
    monkeypatch.setattr(strings, "np", SimpleNamespace(uint64=Word))
    strings._read.plain(offsets, data, np.arange(len(texts)), depth, 0, len(texts), words)
    assert words.tolist() == [
        int.from_bytes(b"x" * min(n, 7) + bytes(7 - min(n, 7)) + bytes([min(n, 8)])) for n in range(10)
    ]
