"""Asks a language model: prompts in, texts out, greedily and in batches.

A model whose tokenizer has a chat template gets chat messages, and its whole reply is its answer.
Any other continues the plain prompt, and its answer ends where the line does. What the model's own
defaults say of sampling or repetition is not heeded. Batches are padded on the left.

Shapes: B problems in a batch, T tokens.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
import torch
import transformers
from torch import Tensor

from symshift.data.errors import DataError, UsageError
from symshift.data.prompts import BLANK_LINE, STOP, Prompts
from symshift.models.hub.hub_model import HubModel

CHAT, CHAT_WITHOUT_SYSTEM, PLAIN = "chat", "chat without a system message", "plain"


@dataclass(frozen=True, kw_only=True)
class Asker:
    """A language model with the form of prompt that it takes; make it with `asker_for`."""

    hub: HubModel
    """The model."""
    form: str
    """CHAT, CHAT_WITHOUT_SYSTEM or PLAIN."""
    render: Callable[[str], str]
    """Returns the whole prompt for a problem's text."""
    max_new_tokens: int
    """The most tokens of an answer."""
    stop_ids: Tensor
    """The tokens that hold a line end, if that is where answers end."""

    def encode(self, problems: Sequence[str], ids: Sequence[str]) -> tuple[list[list[int]], str]:
        """Return the tokens of each problem's prompt, and a checksum of all prompts.

        Args:
            problems: The problems' texts.
            ids: What an error calls them.

        Raises:
            UsageError: If a prompt with its answer is too long for the model.
        """
        texts = [self.render(problem) for problem in problems]
        # A template writes the special tokens itself.
        encoded = self.hub.tokenizer(texts, add_special_tokens=self.form == PLAIN)["input_ids"]
        limit = self.hub.max_length
        longest = max(range(len(encoded)), key=lambda place: len(encoded[place]))
        if limit is not None and len(encoded[longest]) + self.max_new_tokens > limit:
            raise UsageError(
                f"row {ids[longest]}: a prompt of {len(encoded[longest])} tokens and an answer of "
                f"up to {self.max_new_tokens}, the model takes {limit} together; give fewer "
                "--shots or --max-new-tokens"
            )
        return encoded, hashlib.sha256("\0".join(texts).encode()).hexdigest()

    @torch.no_grad()
    def answers(self, prompts: Sequence[Sequence[int]]) -> list[str]:
        """Return the answer to each prompt of a batch."""
        config = transformers.GenerationConfig(
            max_new_tokens=self.max_new_tokens,
            do_sample=False,
            num_beams=1,
            eos_token_id=list(self.hub.end_ids) or None,
            pad_token_id=self._pad_id,
        )
        model = self.hub.model
        # Else the model's own repetition penalty and the like would fill what is not set here.
        model.generation_config = config
        tokens_BT, mask_BT = self._padded(prompts)
        written_BT = model.generate(
            input_ids=tokens_BT,
            attention_mask=mask_BT,
            generation_config=config,
            stopping_criteria=[self._is_over],
        )
        return [self._text(ids) for ids in written_BT[:, tokens_BT.shape[1] :].tolist()]

    @property
    def _pad_id(self) -> int:
        pad: int | None = self.hub.tokenizer.pad_token_id
        return pad if pad is not None else (*self.hub.end_ids, 0)[0]

    def _padded(self, prompts: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        length = max(map(len, prompts))
        device = self.hub.model.device
        tokens_BT = torch.full((len(prompts), length), self._pad_id, device=device)
        mask_BT = torch.zeros_like(tokens_BT)
        for at, ids in enumerate(prompts):
            tokens_BT[at, length - len(ids) :] = torch.tensor(ids)
            mask_BT[at, length - len(ids) :] = 1
        return tokens_BT, mask_BT

    def _is_over(self, tokens_BT: Tensor, scores: Any, **_: Any) -> Tensor:
        return torch.isin(tokens_BT[:, -1], self.stop_ids)

    def _text(self, ids: Sequence[int]) -> str:
        """Return what new tokens say up to the end of the answer, without outer white space."""
        # What stands behind the end is padding, which need not be a special token.
        ends = [at for at, token in enumerate(ids) if token in self.hub.end_ids]
        kept = ids[: ends[0]] if ends else ids
        text: str = self.hub.tokenizer.decode(
            kept, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return (text.partition(STOP)[0] if self.form == PLAIN else text).strip()


def asker_for(hub: HubModel, prompts: Prompts, max_new_tokens: int) -> Asker:
    """Return what asks a model, in the form that its tokenizer has a template for.

    Raises:
        DataError: If the chat template cannot be filled.
    """
    form, render = _form(hub.tokenizer, prompts)
    return Asker(
        hub=hub,
        form=form,
        render=render,
        max_new_tokens=max_new_tokens,
        stop_ids=_line_ends(hub) if form == PLAIN else torch.empty(0, device=hub.model.device),
    )


def _form(tokenizer: Any, prompts: Prompts) -> tuple[str, Callable[[str], str]]:
    if not tokenizer.chat_template:
        return PLAIN, prompts.text

    def filled(messages: list[dict[str, str]]) -> str:
        text: str = tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        return text

    def with_system(problem: str) -> str:
        return filled(prompts.messages(problem))

    def without_system(problem: str) -> str:
        system, first, *others = prompts.messages(problem)
        content = f"{system['content']}{BLANK_LINE}{first['content']}"
        return filled([{**first, "content": content}, *others])

    for form, render in ((CHAT, with_system), (CHAT_WITHOUT_SYSTEM, without_system)):
        try:
            render("a")
        except jinja2.TemplateError as error:
            fault = error
        else:
            return form, render
    raise DataError(f"the tokenizer's chat template takes no such messages: {fault}")


def _line_ends(hub: HubModel) -> Tensor:
    tokenizer = hub.tokenizer
    texts = tokenizer.batch_decode([[token] for token in range(len(tokenizer))])
    found = [token for token, text in enumerate(texts) if STOP in text]
    return torch.tensor(found, dtype=torch.long, device=hub.model.device)
