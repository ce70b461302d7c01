"""Work for the runner that other processes can import: plain, slow and deadly."""

import os
import signal
import time


def doubled(piece):
    return [{"piece": piece, "value": 2.5 * piece}, {"piece": piece, "value": 1 / 3}]


def slowly(piece):
    time.sleep(0.1)
    return doubled(piece)


def dies(piece):
    if piece == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return doubled(piece)
