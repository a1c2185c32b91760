"""``preview``: before the switch, what would happen, without sending anything."""

from collections import Counter

from msgspec import Struct

from ..projection import PolicyLike
from ..tokens import Estimate, estimate
from ..types import Change, Context, ImageContent, Model, Usage, UsageCost
from ..wire.common.images import size_of
from .renderer import encode
from .request import Request

MANY_IMAGES = 20
"""Beyond so many images in a request, some providers take smaller ones only."""


class Preview(Struct, frozen=True, kw_only=True):
    """What the next request to ``model`` would be."""

    model: Model
    # Whether it fits the window, by the estimate; `sure` when it would by the whole range of the estimate, or not.
    fits: bool
    sure: bool
    tokens: Estimate
    changes: list[Change]
    # How often each lossy change would happen, by its code.
    lost: dict[str, int]
    # Limits of size that it would break, in words.
    limits: list[str]
    # What sending it would cost with nothing in a cache; None where the price is not known.
    cost: UsageCost | None
    request: Request

    def summary(self) -> str:
        """All of it in a few lines, for a person."""
        size = self.tokens
        window = f"{self.model.context_window:,}"
        fit = "fits" if self.fits else "does not fit"
        lines = [
            self.request.summary(),
            f"{'' if self.sure else 'probably '}{fit}: about {size.tokens:,} tokens ({size.basis}; "
            f"{size.low:,} to {size.high:,}) in a window of {window}",
        ]
        if self.cost is not None:
            lines.append(f"costs about ${self.cost.total:.4f} to send without a cache")
        lines += [f"over a limit: {limit}" for limit in self.limits]
        return "\n".join(lines)


def preview(context: Context, model: Model, policy: PolicyLike = None) -> Preview:
    """Render ``context`` for ``model`` and tell what would be lost, whether it fits, and what it would cost."""
    request = encode(context, model, None, policy)
    projection = request.projection
    tokens = estimate(context, projection.context, model)
    fits = tokens.tokens <= model.context_window
    return Preview(
        model=model,
        fits=fits,
        sure=(tokens.high <= model.context_window) if fits else (tokens.low > model.context_window),
        tokens=tokens,
        changes=request.changes,
        lost=dict(Counter(change.code for change in request.changes if change.lossy)),
        limits=_broken_limits(projection.context, model),
        cost=model.cost.of(Usage(input=tokens.tokens)),
        request=request,
    )


def _broken_limits(context: Context, model: Model) -> list[str]:
    dialect = model.dialect
    images = [block for message in context.messages for block in message.content if isinstance(block, ImageContent)]
    broken = []
    if dialect.max_tools is not None and len(context.tools) > dialect.max_tools:
        broken.append(f"{len(context.tools)} tools, at most {dialect.max_tools}")
    if dialect.max_images is not None and len(images) > dialect.max_images:
        broken.append(f"{len(images)} images, at most {dialect.max_images}")
    if dialect.max_image_bytes is not None:
        # Some providers count the image and some its base64 text, which is a third longer: the careful reading.
        largest = max((len(image.data) for image in images), default=0)
        if largest > dialect.max_image_bytes:
            broken.append(f"an image of {largest:,} bytes of base64, at most {dialect.max_image_bytes:,}")
    many = len(images) > MANY_IMAGES and dialect.max_image_pixels_of_many is not None
    limit = dialect.max_image_pixels_of_many if many else dialect.max_image_pixels
    longest = max((max(size) for image in images if (size := size_of(image.data)) is not None), default=0)
    if limit is not None and longest > limit:
        of_many = f" when there are more than {MANY_IMAGES}" if many else ""
        broken.append(f"an image of {longest:,} pixels on a side, at most {limit:,}{of_many}")
    return broken
