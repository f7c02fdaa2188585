"""Firmware images for boards that QEMU emulates: which there are, how they are built and run."""
