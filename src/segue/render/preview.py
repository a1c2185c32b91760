"""``preview``: what a request to another model would lose, whether it fits and what it costs, without sending it."""

from collections import Counter

from msgspec import Struct

from ..catalog import as_model
from ..projection import PolicyLike
from ..tokens import Basis, Estimate, estimate
from ..types import Change, Context, ImageContent, Model, Usage, UsageCost, dollars
from ..wire import image_size
from .conversation import ConversationLike, as_context
from .renderer import encode
from .request import Request

MANY_IMAGES = 20
"""If a request has more images than this, some providers accept smaller ones only."""


BASES: dict[Basis, str] = {
    "measured": "measured",
    "measured elsewhere": "from another model's count",
    "guessed": "guessed",
}
"""What an estimate rests on, in the words of a preview."""


class Preview(Struct, frozen=True, kw_only=True):
    """A preview of the next request to ``model``."""

    model: Model
    # Whether the estimate fits the window; `sure` if the same is true for the whole range of the estimate.
    fits: bool
    sure: bool
    tokens: Estimate
    changes: list[Change]
    # The number of lossy changes, by code.
    lost: dict[str, int]
    # The limits that it would exceed, as text.
    limits: list[str]
    # The cost of sending it without a cache; None if the price is unknown.
    cost: UsageCost | None
    request: Request

    def summary(self) -> str:
        """The preview in a few lines of text."""
        size = self.tokens
        limit, window = self.model.input_limit(), self.model.context_window
        room = f"in a window of {window:,}" + (f", of which {limit:,} may be sent" if limit < window else "")
        fit = "fits" if self.fits else "does not fit"
        lines = [
            self.request.summary(),
            f"{'' if self.sure else 'probably '}{fit}: about {size.tokens:,} tokens ({BASES[size.basis]}; "
            f"{size.low:,} to {size.high:,}) {room}",
        ]
        if self.cost is not None:
            lines.append(f"cost to send without a cache: {dollars(self.cost.total)}")
        if self.model.retires is not None:
            lines.append(f"{self.model.ref} retires on {self.model.retires}")
        lines += [f"over a limit: {limit}" for limit in self.limits]
        return "\n".join(lines)


def preview(context: ConversationLike, model: Model | str, policy: PolicyLike = None) -> Preview:
    """Render ``context`` for ``model`` and return what would be lost, whether it fits, and what it would cost."""
    context, model = as_context(context), as_model(model)
    request = encode(context, model, None, policy)
    projection = request.projection
    tokens = estimate(context, projection.context, model)
    limit = model.input_limit()
    fits = tokens.tokens <= limit
    return Preview(
        model=model,
        fits=fits,
        sure=(tokens.high <= limit) if fits else (tokens.low > limit),
        tokens=tokens,
        changes=request.changes,
        lost=dict(Counter(change.code for change in request.changes if change.lossy)),
        limits=_exceeded_limits(projection.context, model),
        cost=model.cost.of(Usage(input=tokens.tokens)),
        request=request,
    )


def _exceeded_limits(context: Context, model: Model) -> list[str]:
    dialect = model.dialect
    images = [block for message in context.messages for block in message.content if isinstance(block, ImageContent)]
    exceeded = []
    if context.tools and not model.tools:
        exceeded.append(f"{len(context.tools)} tools, but the model cannot call tools")
    if dialect.max_tools is not None and len(context.tools) > dialect.max_tools:
        exceeded.append(f"{len(context.tools)} tools, at most {dialect.max_tools}")
    if dialect.max_images is not None and len(images) > dialect.max_images:
        exceeded.append(f"{len(images)} images, at most {dialect.max_images}")
    if dialect.max_image_bytes is not None:
        # Some providers count the bytes of the image and some those of its base64 text, which is a third longer.
        largest = max((len(image.data) for image in images), default=0)
        if largest > dialect.max_image_bytes:
            exceeded.append(f"an image of {largest:,} bytes of base64, at most {dialect.max_image_bytes:,}")
    many = len(images) > MANY_IMAGES and dialect.max_image_pixels_of_many is not None
    limit = dialect.max_image_pixels_of_many if many else dialect.max_image_pixels
    longest = max((max(size) for image in images if (size := image_size(image.data)) is not None), default=0)
    if limit is not None and longest > limit:
        of_many = f" when there are more than {MANY_IMAGES}" if many else ""
        exceeded.append(f"an image of {longest:,} pixels on a side, at most {limit:,}{of_many}")
    return exceeded
