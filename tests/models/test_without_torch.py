import sys

import pytest

from symshift.data.errors import MissingToolError
from symshift.models import require_torch


@pytest.mark.parametrize("module", ["torch", "safetensors"])
def test_missing_torch_is_an_error_that_says_how_to_get_it(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_torch()
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(MissingToolError, match=rf"need {module}: pip install 'symshift\[train\]'"):
        require_torch()
