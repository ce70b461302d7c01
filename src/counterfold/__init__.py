"""counterfold: what would this new policy have earned, judging only by the logs of the old one?

Names are loaded when first used, so that `import counterfold` and the command line start at once; `__init__.pyi` lists
them for people, editors and type checkers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
