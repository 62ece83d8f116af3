"""The training step, and the loop's state: all else follows from the seed and the step's number.

A step's batch is computed in parts: `accumulate` of them one after another in each process.

Shapes: B rows of a batch, or of a part of it.
"""

import functools
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from symshift.data.errors import UsageError
from symshift.models.batches import Batch, BatchOrder, batch_of
from symshift.models.building import build_model
from symshift.models.configuration import RunConfig
from symshift.models.encoding import EncodedRows
from symshift.models.losses import AdaCos, Angles, angles
from symshift.models.model import ReferenceModel, Rows
from symshift.models.ragged import Ints
from symshift.models.streams import mixed_precision, pick_dtype, sent, stream, stream_seed
from symshift.models.training.checkpoints import Checkpoint, load_optimizer_state, optimizer_state
from symshift.models.training.optimizing import build_optimizer, learning_rate
from symshift.models.training.refusals import explained
from symshift.models.training.team import Team

_NEVER = 1 << 62


class PartLoss(nn.Module):
    """The table and the loss of a part of a batch: all that gradients flow through."""

    def __init__(self, model: ReferenceModel, config: RunConfig, dtype: torch.dtype) -> None:
        super().__init__()
        self.model = model
        self._num_symbols = model.method.training_symbols(len(config.known_names))
        self._dtype = dtype
        self._loss = model.batch_loss
        if config.train.compile:
            self._loss = torch.compile(model.batch_loss, dynamic=True)

    def forward(self, batch: Batch, generator: torch.Generator, num_labels: int) -> Tensor:
        """Return the loss summed over the part's labels, divided by those of the whole batch."""
        with mixed_precision(batch.source.device, self._dtype):
            rows = self.model.rows(self._num_symbols, generator)
            return self._loss(batch, rows, num_labels)

    @torch.no_grad()
    def angles(self, batch: Batch, generator: torch.Generator) -> Angles:
        """Return what AdaCos's scale follows."""
        with mixed_precision(batch.source.device, self._dtype):
            rows = self.model.rows(self._num_symbols, generator)
            scores_NC, labels_N = self.model.batch_scores(batch, rows)
        return angles(scores_NC, labels_N, self.model.loss.scale)


class Trainer:
    """A model in training."""

    def __init__(
        self,
        config: RunConfig,
        encoded: EncodedRows,
        device: torch.device,
        team: Team | None = None,
    ) -> None:
        """Build the model and its optimiser.

        Args:
            config: The run's configuration.
            encoded: The rows of the training split.
            device: Where the model is to be.
            team: The processes that train it, if there are others.

        Raises:
            UsageError: If the rows do not fit the model, or a batch has fewer rows than parts.
        """
        self.config = config
        """The run's configuration."""
        self.team = team or Team()
        """The processes that train the model."""
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
        self._num_parts = config.train.accumulate * self.team.size
        self._require_rows_in_parts(len(encoded) // self._order.batches_per_epoch)
        self._part = PartLoss(self.model, config, self.dtype)
        self._shared_part = self.team.shared(self._part)
        if self.team.size > 1 and isinstance(self.model.loss, AdaCos):
            rows_in_turns = -(-config.train.batch_size // self._num_parts) * config.train.accumulate
            most_places = rows_in_turns * (int(longest_answer) - 1)
            self.model.loss.gather = functools.partial(self.team.gather, most_places=most_places)
        self._loss_sum = torch.zeros((), device=device)
        self._norm = torch.zeros((), device=device)
        self._first_bad = torch.full((), _NEVER, device=device)
        self._num_summed = 0

    def _require_rows_in_parts(self, num_rows: int) -> None:
        if num_rows < self._num_parts:
            raise UsageError(
                f"batches of {num_rows} rows cannot be shared by {self.team.size} process(es) with "
                f"accumulate={self.config.train.accumulate}: give a greater --set batch_size"
            )

    def require_table(self) -> None:
        """Raise UsageError if the method cannot make the rows that a step needs."""
        with torch.no_grad():
            num_symbols = self.model.method.training_symbols(self._num_names)
            self.model.rows(num_symbols, self._stream("table", 1))

    def batch_rows(self, step: int) -> Ints:
        """Return the numbers of the training rows that a step sees, in all processes."""
        return self._order.rows(step)

    def step(self) -> None:
        """Do the next step. Seeds PyTorch's global generator, for dropout.

        Raises:
            SymshiftError: If memory was short, or an operation is not as deterministic as asked.
        """
        step = self.step_done + 1
        with explained(self.config.train, step):
            self._accumulate_gradients(step)
            self._update(step)
        self.step_done = step

    def _accumulate_gradients(self, step: int) -> None:
        numbers = range(self.team.rank, self._num_parts, self.team.size)
        rows_B = self.batch_rows(step)
        num_labels = int((self._encoded.target.lengths[rows_B] - 1).sum())
        # Drawn once for the whole batch, so that they are the same however it is cut.
        draw = self.model.method.renamings
        renamings = draw(len(rows_B), self._num_names, self._stream("names", step))
        parts = [self._part_of(rows_B, renamings, number) for number in numbers]
        loss_module = self.model.loss
        if isinstance(loss_module, AdaCos) and len(parts) > 1:
            loss_module.is_held = True
            loss_module.move(Angles.joined([*self._angles(step, numbers, parts)]))
        for number, part in zip(numbers, parts, strict=True):
            self._seed_dropout(step, number)
            with self._until_last(number):
                loss = self._shared_part(part, self._stream("table", step), num_labels)
                # Gradients are averaged over the processes, and have to be added up.
                (loss * self.team.size).backward()
            self._loss_sum += loss.detach()

    def _angles(self, step: int, numbers: range, parts: list[Batch]) -> Iterator[Angles]:
        for number, part in zip(numbers, parts, strict=True):
            self._seed_dropout(step, number)
            yield self._part.angles(part, self._stream("table", step))

    def _part_of(self, rows_B: Ints, renamings: Tensor | None, number: int) -> Batch:
        batch = batch_of(self._encoded, rows_B[number :: self._num_parts])
        if renamings is None:
            return batch
        own_BM = sent(renamings[number :: self._num_parts], self.device)
        return batch.renamed(own_BM, self.config.codec.num_fixed)

    def _seed_dropout(self, step: int, number: int) -> None:
        path = (step, number) if number else (step,)
        torch.manual_seed(stream_seed("dropout", self.config.seed, *path))

    def _until_last(self, number: int) -> AbstractContextManager[None]:
        """Return the context of a part's loss: only that of the last is followed by an exchange."""
        is_last = number + self.team.size >= self._num_parts
        if is_last or not isinstance(self._shared_part, DistributedDataParallel):
            return nullcontext()
        return self._shared_part.no_sync()

    def _update(self, step: int) -> None:
        config = self.config.train
        self._norm = nn.utils.clip_grad_norm_(self._names, config.clip_norm)
        bad = torch.where(self._norm.isfinite(), _NEVER, step)
        self._first_bad = torch.minimum(self._first_bad, bad)
        own_step = self.model.method.schedule_step(step, config.steps)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate(own_step if group["is_own"] else step, config)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        after_step = self.model.method.after_step
        after_step(step, config.steps, self._optimizer, self._stream("after-step", step))
        self._num_summed += 1

    def phase(self) -> dict[str, str]:
        """Return where in a cycle of its own the method is, as an entry of the log."""
        name = self.model.method.phase(self.step_done, self.config.train.steps)
        return {"phase": name} if name else {}

    def validation_table(self) -> Rows:
        """Return the rows for validation: drawn once for the run, where they are drawn."""
        return self.model.rows(self._num_names, self._stream("validation-table", 0))

    def first_bad_step(self) -> int | None:
        """Return the first step whose gradient was not finite, since the start of this process."""
        step = int(self._first_bad.item())
        return None if step == _NEVER else step

    def summary(self) -> dict[str, float]:
        """Return the mean loss since the last summary, the last gradient's norm and the scale."""
        values = {
            "loss": sum(self.team.of_each(self._loss_sum)) / self._num_summed,
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
            progress={
                "loss_sums": self.team.of_each(self._loss_sum),
                "num_summed": self._num_summed,
            },
        )

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint."""
        self.model.load_state_dict(checkpoint.weights)
        load_optimizer_state(self._optimizer, self._names, checkpoint.optimizer)
        sums = checkpoint.progress["loss_sums"]
        if len(sums) != self.team.size:  # it was saved by another number of processes
            sums = [sum(sums), *[0.0] * (self.team.size - 1)]
        self._loss_sum.fill_(sums[self.team.rank])
        self._num_summed = checkpoint.progress["num_summed"]
        self.step_done = checkpoint.step

    def _stream(self, purpose: str, step: int) -> torch.Generator:
        return stream(purpose, self.config.seed, step)
