"""Tests of what users install: the wheel, the container image, and the files in deploy/."""
