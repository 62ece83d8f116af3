"""Fresh values for the rows of names that training never met, when a trained model answers.

A control that none of the papers on these methods reports. A row that was never trained has still
been moved: as a wrong answer to everything it was pushed away from all hidden states, together with
all others of its kind. So where a model fails in unseen names, this tells whether the failure sits
in those rows or in the body. Rows get values

    init     from the first distribution, N(0, std^2), as before training
    matched  from N(m, s^2) for each coordinate, m and s being those of the trained symbols' rows

Shapes: R rows, D width.
"""

import torch
from torch import Tensor

from symshift.data.errors import UsageError, unknown_name
from symshift.models.embedding import EmbeddingMethod, TableShape, TokenTable

REDRAWS = ("none", "init", "matched")


def require_redraw(name: str) -> None:
    """Refuse what is not one of REDRAWS.

    Raises:
        UsageError: If it is not; the nearest is offered.
    """
    if name not in REDRAWS:
        raise unknown_name("way to redraw", name, REDRAWS)


def redraw_unseen(
    method: EmbeddingMethod, shape: TableShape, how: str, generator: torch.Generator
) -> None:
    """Give fresh values to a method's rows of unseen names, in place, in each of its tables.

    Args:
        method: A trained method, on the CPU.
        shape: The sizes that it was built for.
        how: One of REDRAWS; "none" changes nothing.
        generator: The only source of randomness.

    Raises:
        UsageError: If there is nothing to redraw, or nothing to match.
    """
    require_redraw(how)
    if how == "none":
        return
    tables = method.token_tables()
    if not tables:
        raise UsageError("nothing to redraw: the method has no table of learned rows for names")
    if not len(shape.unseen):
        raise UsageError(
            "nothing to redraw: training meets every name that the model has a row for; "
            "train it with --set vocabulary=K for more names"
        )
    for name in sorted(tables):
        fresh_RD = _fresh(tables[name], shape, how, generator)
        with torch.no_grad():
            tables[name].rows[shape.unseen] = fresh_RD


def _fresh(table: TokenTable, shape: TableShape, how: str, generator: torch.Generator) -> Tensor:
    noise_RD = torch.randn(len(shape.unseen), table.rows.shape[1], generator=generator)
    if how == "init":
        return noise_RD * table.std
    if len(shape.seen) < 2:
        raise UsageError(
            f"nothing to match: {len(shape.seen)} trained name has no spread; redraw init instead"
        )
    std_D, mean_D = torch.std_mean(table.rows.detach()[shape.seen], dim=0)
    return mean_D + std_D * noise_RD
