"""The demonstration's problem, and the pieces of problems whose true value is known."""

import numpy as np

from counterfold.simulation import draw_actions, draw_digits, softmax


def test_softmax_survives_large_numbers():
    np.testing.assert_allclose(softmax(np.array([[1e4, 0.0], [0.0, 0.0]])), [[1.0, 0.0], [0.5, 0.5]])


def test_actions_are_drawn_by_their_probabilities():
    probabilities = np.array([[0.2, 0.0, 0.8]] * 4)
    np.testing.assert_array_equal(draw_actions(probabilities, np.array([0.0, 0.19, 0.21, 0.999])), [0, 0, 2, 2])


def test_the_demonstration_is_repeatable_and_half_of_the_digits():
    one, two = draw_digits(0), draw_digits(0)
    assert len(one.log) == 1797 // 2
    assert one.truth == two.truth
    np.testing.assert_array_equal(one.log.reward, two.log.reward)
