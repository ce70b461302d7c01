"""Every estimator that the folder holds."""

import pytest

from counterfold.base import registry


@pytest.fixture(params=registry.names("estimators"))
def kind(request):
    return registry.find("estimators", request.param)
