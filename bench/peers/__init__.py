"""Those that do the same job, one file each.

``pydantic_models.py`` is for the comparison of JSON; the others encode, and ``encoders.py`` says what each gives. These
live in the bench's own environment only, and what is called in them is mostly private and untyped. So no type checker
follows there: they are imported by name, when they are needed, and are ``Any`` from that border on.
"""
