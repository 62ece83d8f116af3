from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from symshift.data.errors import UsageError
from symshift.models.embedding import TableShape
from symshift.models.embeddings.forgetting import Forgetting, ForgettingOptions
from symshift.models.training.optimizing import BETAS
from symshift.models.training.trainer import Trainer

SHAPE = TableShape(num_fixed=3, num_symbols=6, width=8, trained=range(1, 4))
ROWS = {
    "all": [0, 1, 2, 3, 4, 5, 6, 7, 8],
    "symbols": [3, 4, 5, 6, 7, 8],
    "unseen": [3, 7, 8],
}


def stream(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def build(shape: TableShape = SHAPE, **options) -> Forgetting:
    return Forgetting(shape, ForgettingOptions(**options), stream())


def adam(method: Forgetting) -> torch.optim.AdamW:
    return torch.optim.AdamW([method.rows], lr=0.1, betas=BETAS, weight_decay=0.1, fused=True)


def take_steps(method: Forgetting, optimizer: torch.optim.AdamW, num: int) -> None:
    for step in range(num):
        method.rows.grad = torch.randn(method.rows.shape, generator=stream(100 + step))
        optimizer.step()


def resets_by_hand(steps: int, every: int, until: int | None) -> list[int]:
    last = steps if until is None else min(steps, until)
    return [step for step in range(1, last) if step % every == 0]


trainings = st.tuples(
    st.integers(1, 60), st.integers(1, 25), st.none() | st.integers(1, 70)
)  # steps, every, until


@settings(deadline=None)
@given(trainings)
def test_rows_are_reset_every_nth_step_but_not_from_until_on_nor_at_the_end(training) -> None:
    steps, every, until = training
    method = build(every=every, until=until)
    optimizer = adam(method)
    take_steps(method, optimizer, 1)
    found = []
    for step in range(1, steps + 1):
        before = method.rows.detach().clone()
        method.after_step(step, steps, optimizer, stream(step))
        if not torch.equal(before, method.rows):
            found.append(step)

    assert found == resets_by_hand(steps, every, until)


@settings(deadline=None)
@given(trainings)
def test_phase_counts_the_steps_behind_the_last_reset(training) -> None:
    steps, every, until = training
    method, resets = build(every=every, until=until), resets_by_hand(*training)
    for step in range(1, steps + 1):
        last = max((reset for reset in resets if reset <= step), default=0)
        assert method.phase(step, steps) == f"reset+{step - last}"


@settings(deadline=None)
@given(trainings)
def test_each_episode_runs_through_the_whole_schedule_once(training) -> None:
    steps, every, until = training
    method = build(every=every, until=until)
    bounds = [0, *resets_by_hand(*training), steps]
    for start, end in pairwise(bounds):
        places = [method.schedule_step(step, steps) for step in range(start + 1, end + 1)]
        assert places == sorted(set(places))  # Never back, never the same twice.
        assert places[0] == -(-steps // (end - start))
        assert places[-1] == steps


def test_rows_stand_still_at_the_end_of_an_episode_and_the_body_goes_on(
    tiny_config, encoded
) -> None:
    trainer = Trainer(
        tiny_config("forgetting", every=4, rows="symbols"), encoded, torch.device("cpu")
    )
    moved = []
    with torch.random.fork_rng():
        for _ in range(5):
            before = {key: value.clone() for key, value in trainer.model.state_dict().items()}
            trainer.step()
            after = trainer.model.state_dict()
            rows = not torch.equal(before.pop("method.rows")[:3], after["method.rows"][:3])
            body = any(not torch.equal(before[key], after[key]) for key in before)
            moved.append((rows, body))

    # A cosine ends at 0. Rows of fixed tokens are not reset here, so only training moves them.
    assert moved == [(True, True)] * 3 + [(False, True), (True, True)]


def test_trained_rows_keep_the_plain_schedule_where_only_unseen_ones_are_reset() -> None:
    method = build(rows="unseen", every=3)

    assert [method.schedule_step(step, 10) for step in range(1, 11)] == [*range(1, 11)]


@pytest.mark.parametrize("which", ROWS)
def test_a_reset_touches_the_chosen_rows_and_their_moments_alone(which: str) -> None:
    method = build(rows=which, every=5)
    optimizer = adam(method)
    take_steps(method, optimizer, 5)
    values = [method.rows, *(optimizer.state[method.rows][k] for k in ("exp_avg", "exp_avg_sq"))]
    before = [value.detach().clone() for value in values]
    method.after_step(5, 20, optimizer, stream(1))
    others = [row for row in range(9) if row not in ROWS[which]]

    for old, new in zip(before, values):
        assert torch.equal(old[others], new[others])
        assert not torch.isclose(old[ROWS[which]], new[ROWS[which]]).all(dim=1).any()
    for moment in values[1:]:
        assert not moment[ROWS[which]].any()
    assert optimizer.state[method.rows]["step"].item() == (0 if which == "all" else 5)


def test_after_a_reset_of_all_rows_adam_goes_on_as_if_it_were_new() -> None:
    method = build(every=5, rows="all")
    optimizer = adam(method)
    take_steps(method, optimizer, 5)
    method.after_step(5, 20, optimizer, stream(1))
    twin = build()
    with torch.no_grad():
        twin.rows.copy_(method.rows)
    take_steps(twin, adam(twin), 4)
    take_steps(method, optimizer, 4)

    assert torch.equal(method.rows, twin.rows)


@pytest.mark.parametrize(("options", "std"), [({}, 1 / 8), ({"final_norm": True}, 1.0)])
def test_rows_come_from_the_first_distribution(options, std: float) -> None:
    method = build(
        TableShape(num_fixed=3, num_symbols=300, width=64), every=1, rows="all", **options
    )
    optimizer = adam(method)
    take_steps(method, optimizer, 1)
    with torch.no_grad():
        method.rows.fill_(9.0)
    method.after_step(1, 3, optimizer, stream(1))

    # Relative error of the spread of 19,000 values: about 0.5 %.
    assert method.rows.std().item() == pytest.approx(std, rel=0.03)
    assert abs(method.rows.mean().item()) < 0.04 * std


@pytest.mark.parametrize(
    ("options", "steps", "phases"),
    [
        ({}, 3000, {"reset+0": 2000, "reset+10": 2010, "reset+1000": 3000}),
        ({"every": 100}, 600, {"reset+0": 500, "reset+10": 510, "reset+100": 600}),
        ({"every": 100}, 650, {"reset+0": 600, "reset+10": 610, "reset+50": 650}),
        ({"every": 100}, 605, {"reset+0": 600, "reset+5": 605}),
        (
            {"every": 100, "until": 300},
            600,
            {"reset+0": 200, "reset+10": 210, "reset+100": 300, "reset+400": 600},
        ),
        ({"every": 4}, 12, {"reset+0": 8, "reset+4": 12}),
        ({"every": 1}, 2, {"reset+0": 1, "reset+1": 2}),
    ],
)
def test_phases_are_the_last_reset_and_stated_numbers_of_steps_behind_it(
    options, steps: int, phases
) -> None:
    assert build(**options).phases(steps) == phases


@pytest.mark.parametrize(
    ("options", "text"), [({}, "every=1000: "), ({"every": 9, "until": 9}, "every=9 and until=9: ")]
)
def test_a_training_that_never_forgets_is_refused(options, text: str) -> None:
    with pytest.raises(UsageError, match=f"{text}nothing is ever reset in 100 steps; .*--set"):
        build(**options).phases(100)


def test_unseen_rows_are_refused_where_there_are_none() -> None:
    with pytest.raises(UsageError, match=r"rows=unseen: .*--set vocabulary="):
        build(TableShape(num_fixed=3, num_symbols=6, width=8), rows="unseen")


@pytest.mark.parametrize("options", [{"every": 0}, {"until": 0}])
def test_impossible_numbers_are_refused(options) -> None:
    with pytest.raises(UsageError, match="at least 1"):
        ForgettingOptions(**options)
