"""Copy attention: a path whose values are the raw embeddings of the tokens it attends to.

Source: "To See the Unseen" (arXiv 2604.21632): with Y the states before the last layer, X the
tokens and W_E their embedding, Z = softmax((Y W_Q)(Y W_K)^T / sqrt(d)) X W_E is added to the
last layer's output. Where rows that answer are tied to those that read, Z scores the tokens that
are attended to. Nothing else is in the path: no map of values or of the output, no positions.

Our choices, as options: several heads (their mean at first), a trained weight for each head, and
where Z joins. Y is normed, without trained values, before it is compared.

Shapes: B batch, T queries, S keys, D width, H heads, K width of a head.
"""

from torch import Tensor, full, nn
from torch.nn import functional as F

from symshift.models.bodies.attention import KeyValues, split_heads
from symshift.models.bodies.body import BodyOptions


class CopyAttention(nn.Module):
    """Two maps of D^2 values, and H weights where they are trained."""

    gates: Tensor

    def __init__(self, options: BodyOptions) -> None:
        super().__init__()
        assert options.copy_heads is not None
        self._num_heads = options.copy_heads
        self.project_queries = nn.Linear(options.width, options.width, bias=False)
        self.project_keys = nn.Linear(options.width, options.width, bias=False)
        gates_H = full((self._num_heads,), 1 / self._num_heads)
        if options.copy_gate == "learned":
            self.gates = nn.Parameter(gates_H)
        else:
            self.register_buffer("gates", gates_H, persistent=False)

    def key_values(self, states_BSD: Tensor, embedded_BSD: Tensor) -> KeyValues:
        """Return what is attended to: keys of the states, and the raw embeddings."""
        keys = split_heads(self.project_keys(_normed(states_BSD)), self._num_heads)
        return KeyValues(keys, embedded_BSD[:, None])

    def forward(
        self,
        states_BTD: Tensor,
        seen: KeyValues,
        mask_B11S: Tensor | None = None,
        *,
        causal: bool = False,
    ) -> Tensor:
        """Return the weighted raw embeddings of what each token attends to.

        Args:
            states_BTD: The states that ask.
            seen: What `key_values` returned.
            mask_B11S: True where a key may be attended to; None for everywhere.
            causal: Whether a token sees only itself and those before it.
        """
        queries = split_heads(self.project_queries(_normed(states_BTD)), self._num_heads)
        copied_BHTD = F.scaled_dot_product_attention(
            queries,
            seen.keys,
            seen.values.expand(-1, self._num_heads, -1, -1),
            attn_mask=mask_B11S,
            is_causal=causal and states_BTD.shape[1] > 1,
        )
        return (self.gates[:, None, None] * copied_BHTD).sum(dim=1)


def copy_places(options: BodyOptions, num_layers: int) -> list[bool]:
    """Tell for each layer of a decoder whether it copies."""
    if not options.copy_attention:
        return [False] * num_layers
    every = options.copy_place == "every-layer"
    return [every or layer == num_layers - 1 for layer in range(num_layers)]


def _normed(states_BTD: Tensor) -> Tensor:
    return F.layer_norm(states_BTD, states_BTD.shape[-1:])
