"""The package's names, and that importing it is light."""

import subprocess
import sys

import pytest

import counterfold as cf
from counterfold.base import registry


@pytest.mark.parametrize("folder", ["estimators", "selectors", "models", "intervals", "learners"])
def test_every_discovered_class_is_a_name_of_the_package(folder):
    for name in registry.names(folder):
        kind = registry.find(folder, name)
        assert getattr(cf, kind.__name__) is kind
        assert kind.__name__ in dir(cf)
        assert kind()


def test_evaluating_loads_no_module_that_takes_a_second():
    heavy = "import sys, counterfold; counterfold.evaluate; print('scipy.stats' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_importing_the_package_is_light():
    heavy = "import sys, counterfold; print([m for m in ('numpy', 'pyarrow', 'sklearn', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
