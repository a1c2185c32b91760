"""The passes, one file each. ``pipeline.py`` lists them in their order."""
