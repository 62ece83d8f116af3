"""The processes that train one model together: one for each device, as `torchrun` starts them."""

import datetime
import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, distributed, nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from symshift.data.errors import SymshiftError, UsageError
from symshift.models.losses import Angles

# The others wait while the first one validates; `torchrun` ends them all if one dies.
TIMEOUT = datetime.timedelta(hours=2)


class Team:
    """What this process knows of the others. Every member has to make the same calls."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank = rank
        """The number of this process, from 0."""
        self.size = size
        """The number of processes."""

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes."""
        return self.rank == 0

    def any(self, flag: bool) -> bool:
        """Tell whether the flag is set for one member at least."""
        if self.size == 1:
            return flag
        # On the CPU, so that no device is waited for.
        flags = torch.tensor(int(flag))
        distributed.all_reduce(flags, distributed.ReduceOp.MAX)
        return bool(flags)

    def of_first(self, number: int) -> int:
        """Return the number that the first member gives."""
        if self.size == 1:
            return number
        shared = torch.tensor(number)
        try:
            distributed.broadcast(shared, 0)
        except RuntimeError as error:
            raise SymshiftError("the first process has ended, and says why") from error
        return int(shared)

    def of_each(self, value: Tensor) -> list[float]:
        """Return the value () that each member gives, in the order of their ranks."""
        if self.size == 1:
            return [value.item()]
        found = [torch.empty_like(value) for _ in range(self.size)]
        distributed.all_gather(found, value)
        return [each.item() for each in found]

    def shared(self, module: nn.Module) -> nn.Module:
        """Return the module so that its gradients are means over the members."""
        if self.size == 1:
            return module
        return DistributedDataParallel(
            module, broadcast_buffers=False, gradient_as_bucket_view=True
        )

    def gather(self, seen: Angles, most_places: int) -> Angles:
        """Join the angles that all members have seen.

        Args:
            seen: Of as many parts as every other member has.
            most_places: No member has seen more positions.
        """
        num_parts = len(seen.num_labels)
        missing = most_places - len(seen.negative_cosines)
        own = torch.cat((*seen[:2], F.pad(seen.negative_cosines, (0, missing), value=torch.inf)))
        found = [torch.empty_like(own) for _ in range(self.size)]
        distributed.all_gather(found, own)
        ends = (num_parts, 2 * num_parts)
        return Angles.joined([Angles(*each.tensor_split(ends)) for each in found])


def place_in_team() -> int | None:
    """Return the number of this process on its machine, or None if `torchrun` did not start it."""
    text = os.environ.get("LOCAL_RANK", "")
    return int(text) if text.isdecimal() and "WORLD_SIZE" in os.environ else None


@contextmanager
def joined_team(device: torch.device) -> Iterator[Team]:
    """Yield the team that `torchrun` has told this process of; else a team of one.

    Raises:
        UsageError: If the device cannot be shared by several processes.
    """
    if place_in_team() is None or int(os.environ["WORLD_SIZE"]) == 1:
        yield Team()
        return
    if device.type not in ("cpu", "cuda"):
        raise UsageError(
            f"torchrun: --device {device.type} trains in one process; give cpu or cuda"
        )
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    distributed.init_process_group(backend, timeout=TIMEOUT)
    try:
        yield Team(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
