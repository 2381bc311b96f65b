"""Refuse every way to the network, and write down who asked; as sitecustomize.py in all processes.

Python's own sockets are heard of by audit events, and refused before anything happens. Native code
raises no events: on Linux the kernel ends a process that makes a socket of the internet itself.
Sockets within the machine (AF_UNIX) are let be: processes of one program talk through them.
"""

import ctypes
import os
import platform
import sys
import traceback
from pathlib import Path
from typing import Any

LOG = "NO_NETWORK_LOG"
WATCHED = {
    "socket.__new__",
    "socket.bind",
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyaddr",
    "socket.gethostbyname",
    "socket.getnameinfo",
    "socket.sendmsg",
    "socket.sendto",
}
# By machine: what the kernel calls it, and its number for socket().
MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
_NET_FAMILIES = (2, 10)  # AF_INET, AF_INET6
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _FILTER = 22, 38, 2
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06  # of the kernel's packet filter
_KILL, _ALLOW = 0x80000000, 0x7FFF0000


class _Step(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_ushort),
        ("if_so", ctypes.c_ubyte),
        ("if_not", ctypes.c_ubyte),
        ("value", ctypes.c_uint),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.POINTER(_Step)))


def can_stop_native_code() -> bool:
    """Tell whether this module knows how to ask the kernel of this machine."""
    return sys.platform == "linux" and platform.machine() in MACHINES


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Write down an attempt with the place it was made at, and refuse it."""
    if event not in WATCHED or _is_within_machine(event, arguments):
        return
    frames = traceback.extract_stack()[:-1]
    stack = " ".join(f"{frame.filename}:{frame.lineno}:{frame.name}" for frame in frames)
    with Path(os.environ[LOG]).open("a", encoding="utf-8") as log:
        log.write(f"{event} {arguments} at {stack}\n")
    raise PermissionError(f"no network in this test: {event}")


def _is_within_machine(event: str, arguments: tuple[Any, ...]) -> bool:
    if event == "socket.__new__":
        return arguments[1] not in _NET_FAMILIES
    return getattr(arguments[0], "family", 2) not in _NET_FAMILIES


def stop_native_code() -> None:
    """Let the kernel end this process and its children where they make a socket of the internet."""
    machine, number = MACHINES[platform.machine()]
    steps = [
        _Step(_LOAD, 0, 0, 4),  # the machine that a call is for
        _Step(_JUMP_IF_EQUAL, 0, 6, machine),
        _Step(_LOAD, 0, 0, 0),  # which call
        _Step(_JUMP_IF_EQUAL, 0, 4, number),
        _Step(_LOAD, 0, 0, 16),  # its first argument: the family
        _Step(_JUMP_IF_EQUAL, 1, 0, _NET_FAMILIES[0]),
        _Step(_JUMP_IF_EQUAL, 0, 1, _NET_FAMILIES[1]),
        _Step(_RETURN, 0, 0, _KILL),
        _Step(_RETURN, 0, 0, _ALLOW),
    ]
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    program = _Program(len(steps), (_Step * len(steps))(*steps))
    if prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or prctl(
        _PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "the kernel takes no filter")


if __name__ == "sitecustomize":
    sys.addaudithook(refuse)
    if can_stop_native_code():
        stop_native_code()
