"""The training step, and the loop's state: all else follows from the seed and the step's number.

Shapes: B rows of a batch.
"""

import math

import torch
from torch import Tensor, nn

from symshift.models.batches import BatchOrder, batch_of
from symshift.models.building import build_model
from symshift.models.configuration import RunConfig, TrainConfig
from symshift.models.encoding import EncodedRows
from symshift.models.model import ReferenceModel, Rows
from symshift.models.streams import mixed_precision, pick_dtype, stream, stream_seed
from symshift.models.training.checkpoints import Checkpoint, load_optimizer_state, optimizer_state

BETAS = (0.9, 0.95)


def learning_rate(step: int, config: TrainConfig) -> float:
    """Return the rate of a step, counted from 1: a linear warm-up, then a cosine that ends at 0."""
    if step <= config.warmup_steps:
        return config.lr * step / config.warmup_steps
    rest = max(config.steps - config.warmup_steps, 1)
    return config.lr * 0.5 * (1 + math.cos(math.pi * (step - config.warmup_steps) / rest))


def build_optimizer(model: ReferenceModel, config: TrainConfig) -> torch.optim.AdamW:
    """Return AdamW with weight decay on matrices and tables, and none on biases and norms.

    Groups of the embedding method's own values are marked: they follow its schedule.
    """
    own = {*model.method.parameters()}
    trained = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {
            "params": [p for p in trained if (p in own) is is_own and (p.dim() > 1) is is_matrix],
            "weight_decay": config.weight_decay if is_matrix else 0.0,
            "is_own": is_own,
        }
        for is_own in (False, True)
        for is_matrix in (True, False)
    ]
    fused = trained[0].device.type in ("cpu", "cuda")
    return torch.optim.AdamW([g for g in groups if g["params"]], lr=0.0, betas=BETAS, fused=fused)


class Trainer:
    """A model in training."""

    def __init__(self, config: RunConfig, encoded: EncodedRows, device: torch.device) -> None:
        self.config = config
        """The run's configuration."""
        self.model = build_model(config).to(device)
        """The model, in training mode."""
        self.dtype = pick_dtype(config.train.precision, device)
        """What matrix products are computed in."""
        self.kept_steps = frozenset(self.model.method.phases(config.train.steps).values())
        """The steps whose weights are kept, for the method is to be evaluated at them."""
        self.step_done = 0
        """The last step that was done."""
        self.device = device
        """Where the model is."""
        longest_problem, longest_answer = encoded.source.lengths.max(), encoded.target.lengths.max()
        self.model.body.require(int(longest_problem), int(longest_answer) - 1)
        self._encoded = encoded.to(device)
        self._num_names = len(config.known_names)
        self._optimizer = build_optimizer(self.model, config.train)
        self._names = {p: name for name, p in self.model.named_parameters()}
        self._order = BatchOrder(
            encoded,
            batch_size=config.train.batch_size,
            pool_batches=config.train.pool_batches,
            seed=config.seed,
        )
        self._loss_sum = torch.zeros((), device=device)
        self._norm = torch.zeros((), device=device)
        self._num_summed = 0

    def require_table(self) -> None:
        """Raise UsageError if the method cannot make the rows that a step needs."""
        with torch.no_grad():
            num_symbols = self.model.method.training_symbols(self._num_names)
            self.model.rows(num_symbols, self._stream("table", 1))

    def step(self) -> None:
        """Do the next step. Seeds PyTorch's global generator, for dropout."""
        step = self.step_done + 1
        config = self.config.train
        loss = self._loss(step)
        loss.backward()  # type: ignore[no-untyped-call]
        self._norm = nn.utils.clip_grad_norm_(self._names, config.clip_norm)
        own_step = self.model.method.schedule_step(step, config.steps)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(own_step if group["is_own"] else step, config)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        after_step = self.model.method.after_step
        after_step(step, config.steps, self._optimizer, self._stream("after-step", step))
        self._loss_sum += loss.detach()
        self._num_summed += 1
        self.step_done = step

    def _loss(self, step: int) -> Tensor:
        method = self.model.method
        rows_B = self._order.rows(step)
        batch = batch_of(self._encoded, rows_B)
        renamings = method.renamings(len(rows_B), self._num_names, self._stream("names", step))
        if renamings is not None:
            batch = batch.renamed(renamings.to(self.device), self.config.codec.num_fixed)
        torch.manual_seed(stream_seed("dropout", self.config.seed, step))
        num_symbols = method.training_symbols(self._num_names)
        with mixed_precision(self.device, self.dtype):
            rows = self.model.rows(num_symbols, self._stream("table", step))
            return self.model.batch_loss(batch, rows)

    def phase(self) -> dict[str, str]:
        """Return where in a cycle of its own the method is, as an entry of the log."""
        name = self.model.method.phase(self.step_done, self.config.train.steps)
        return {"phase": name} if name else {}

    def validation_table(self) -> Rows:
        """Return the rows for validation: drawn once for the run, where they are drawn."""
        return self.model.rows(self._num_names, self._stream("validation-table", 0))

    def summary(self) -> dict[str, float]:
        """Return the mean loss since the last summary, the last gradient's norm and the scale."""
        values = {
            "loss": (self._loss_sum / self._num_summed).item(),
            "lr": learning_rate(self.step_done, self.config.train),
            "grad_norm": self._norm.item(),
            "scale": self.model.loss.scale.item(),
        }
        self._loss_sum.zero_()
        self._num_summed = 0
        return values

    def checkpoint(self) -> Checkpoint:
        """Return everything that training goes on from."""
        return Checkpoint(
            step=self.step_done,
            weights=self.model.state_dict(),
            optimizer=optimizer_state(self._optimizer, self._names),
            progress={"loss_sum": self._loss_sum.item(), "num_summed": self._num_summed},
        )

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint."""
        self.model.load_state_dict(checkpoint.weights)
        load_optimizer_state(self._optimizer, self._names, checkpoint.optimizer)
        self._loss_sum.fill_(checkpoint.progress["loss_sum"])
        self._num_summed = checkpoint.progress["num_summed"]
        self.step_done = checkpoint.step

    def _stream(self, purpose: str, step: int) -> torch.Generator:
        return stream(purpose, self.config.seed, step)
