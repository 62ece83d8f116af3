"""Leviathan: rows are a smooth trained function of the digits of a token's number.

Source: Leviathan (arXiv 2601.22040), its learned embedding vectorization. With the token's number
in k digits of base b = ceil(V^(1/k)), and heads l = 1..L:

    z      = C_1[digit 1] + ... + C_k[digit k]
    u_l    = sigmoid(LayerNorm_l(z W_l) / 2)                 S coordinates in [0, 1]
    f_l,s,r = sum_g B_g(u_l,s) (1 + delta_l,s,g,r)           quadratic B-splines on G even knots
    row    = sum_l (prod_s f_l,s,r)_r W_out,l                a separable product of rank r

The B-splines of a coordinate are divided by their sum: near the ends they would sum to less than 1.
What answers is a dense table of its own. Where the paper's text was not to be had (digits,
sigmoid, norms, first values) this follows a public re-implementation of its sections 3.1 and 4,
where k=3, S=128, heads=8, knots=16, rank=64, codebooks and W_l start at N(0, 0.02^2), delta at
N(0, 0.1^2) and W_out,l at N(0, 0.02^2 / L). The defaults here are for small vocabularies, and
three first scales are ours: for narrower seeds those of W_l and delta grow by sqrt(128 / S), which
keeps coordinates and products as varied as at S=128 (with 0.1 at S=16 all rows point the same way,
and generated answers do not learn), and W_out,l starts at N(0, 1 / (L R D)), for rows of
about the same length, 1.5, at all sizes.

The product is a plain one in float32. It stays in range while the |log f| of the S factors sum to
less than 87; seeds much wider than 128 would need sums of logarithms beside the signs. Changes of
all factors multiply, so wide seeds want a small `lr`: at S=128 and 3e-3 nothing is learned.

Shapes: V rows, L heads, S seed dimensions, G knots, R rank, D width.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from symshift.data.options import option, require_sizes
from symshift.models.codes.codebooks import MAX_DIGITS, Codebooks, codebooks_size
from symshift.models.embedding import (
    ParameterReport,
    TableShape,
    UntiedMethod,
    UntiedOptions,
    head_size,
    require_rows,
)

WEIGHT_STD = 0.02
SPLINE_STD = 0.1
PUBLISHED_SEED_DIM = 128


@dataclass(frozen=True, kw_only=True)
class LeviathanOptions(UntiedOptions):
    """Options of the generated rows."""

    digits: int = option(2, "digits of a token's number")
    seed_dim: int = option(16, "dimensions of the seed that the digits add up to")
    heads: int = option(2, "products that a row is the sum of")
    knots: int = option(8, "B-splines of each dimension")
    rank: int = option(16, "products of a head")

    def __post_init__(self) -> None:
        require_sizes(self, "digits", most=MAX_DIGITS)
        require_sizes(self, "seed_dim", "heads", "rank")
        require_sizes(self, "knots", least=2)


class Leviathan(UntiedMethod):
    """Digits -> seed -> coordinates -> splines -> products -> row."""

    Options = LeviathanOptions

    def __init__(
        self, shape: TableShape, options: LeviathanOptions, generator: torch.Generator
    ) -> None:
        super().__init__(shape, options, generator)

        def drawn(*sizes: int, std: float) -> nn.Parameter:
            return nn.Parameter(torch.randn(*sizes, generator=generator) * std)

        self._shape = shape
        heads, seed, rank = options.heads, options.seed_dim, options.rank
        wider = (PUBLISHED_SEED_DIM / seed) ** 0.5
        self.codebooks = Codebooks(shape.num_rows, options.digits, seed, WEIGHT_STD, generator)
        self.maps = drawn(heads, seed, seed, std=WEIGHT_STD * wider)
        # Flat, so that weight decay takes them for what they are: a norm's gain and bias.
        self.gain = nn.Parameter(torch.ones(heads * seed))
        self.bias = nn.Parameter(torch.zeros(heads * seed))
        self.splines = drawn(heads, seed, options.knots, rank, std=SPLINE_STD * wider)
        self.merge = drawn(heads, rank, shape.width, std=(heads * rank * shape.width) ** -0.5)

    def table(self, num_symbols: int, generator: torch.Generator) -> Tensor:
        """Return the rows of the first M names, computed in float32."""
        require_rows(num_symbols, self._shape.num_symbols)
        with torch.autocast(self.merge.device.type, enabled=False):
            places_LVS = self._coordinates(self._shape.num_fixed + num_symbols)
            basis_LVSG = spline_basis(places_LVS, self.splines.shape[2])
            factors_LVSR = torch.einsum("lvsg,lsgr->lvsr", basis_LVSG, 1 + self.splines)
            return torch.einsum("lvr,lrd->vd", factors_LVSR.prod(dim=2), self.merge)

    def _coordinates(self, num_rows: int) -> Tensor:
        """Return places_LVS in [0, 1]."""
        heads, seed, _ = self.maps.shape
        mapped_LVS = self.codebooks.seeds(num_rows) @ self.maps
        gain_L1S, bias_L1S = (flat.view(heads, 1, seed) for flat in (self.gain, self.bias))
        return torch.sigmoid((F.layer_norm(mapped_LVS, (seed,)) * gain_L1S + bias_L1S) / 2)

    @classmethod
    def parameter_report(cls, shape: TableShape, options: LeviathanOptions) -> ParameterReport:
        """Count codebooks, maps with their norms, splines, merging maps and the head."""
        seed, rank = options.seed_dim, options.rank
        of_head = seed * (seed + 2) + seed * options.knots * rank + rank * shape.width
        size = codebooks_size(shape.num_rows, options.digits, seed) + options.heads * of_head
        return ParameterReport(input=size, output=head_size(shape, options), stored=0)


def spline_basis(places: Tensor, num_knots: int) -> Tensor:
    """Return the quadratic B-splines at places in [0, 1], one more dimension of G, that sum to 1.

    They are centred on G >= 2 knots spread evenly from 0 to 1.
    """
    knots_G = torch.arange(num_knots, device=places.device)
    distances = (places[..., None] * (num_knots - 1) - knots_G).abs()
    near, far = 0.75 - distances.square(), 0.5 * (1.5 - distances).clamp(min=0).square()
    basis = torch.where(distances < 0.5, near, far)
    return basis / basis.sum(dim=-1, keepdim=True)


METHOD = Leviathan
