"""The system calls that a program may make; the kernel refuses all others.

It lists what is allowed, not what is forbidden, so calls added by newer kernels are refused too. Nothing here
opens a file, creates a process or thread, sends a signal or reaches a network.
"""

import ctypes
import errno
import platform
import struct

# Numbers for x86_64, from the kernel's arch/x86/entry/syscalls/syscall_64.tbl.
ALLOWED = {
    "read": 0,
    "write": 1,
    "close": 3,
    "fstat": 5,
    "poll": 7,
    "lseek": 8,
    "mmap": 9,
    "mprotect": 10,
    "munmap": 11,
    "brk": 12,
    "rt_sigaction": 13,
    "rt_sigprocmask": 14,
    "rt_sigreturn": 15,
    "readv": 19,
    "writev": 20,
    "select": 23,
    "sched_yield": 24,
    "mremap": 25,
    "madvise": 28,
    "nanosleep": 35,
    "getitimer": 36,
    "alarm": 37,
    "setitimer": 38,
    "getpid": 39,
    "exit": 60,
    "gettimeofday": 96,
    "getrusage": 98,
    "times": 100,
    "getuid": 102,
    "getgid": 104,
    "geteuid": 107,
    "getegid": 108,
    "getppid": 110,
    "sigaltstack": 131,
    "gettid": 186,
    "time": 201,
    "futex": 202,
    "sched_getaffinity": 204,
    "restart_syscall": 219,
    "clock_gettime": 228,
    "clock_getres": 229,
    "clock_nanosleep": 230,
    "exit_group": 231,
    "pselect6": 270,
    "ppoll": 271,
    "getrandom": 318,
}
_IOCTL = 16
_X32_BIT = 0x4000_0000
_AUDIT_ARCH_X86_64 = 0xC000_003E

_LOAD_WORD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_GREATER_EQUAL = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K
_KILL_PROCESS = 0x8000_0000
_REFUSE = 0x0005_0000  # SECCOMP_RET_ERRNO; the low bits carry the errno
_ALLOW = 0x7FFF_0000

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def supported() -> str:
    """Return why there is no filter for this machine, or ""."""
    machine = platform.machine()
    return "" if machine == "x86_64" else f"the list of system calls is for x86_64, not for {machine}"


class Filter:
    """The filter, compiled once; `install` applies it permanently to the calling process."""

    def __init__(self, libc: ctypes.CDLL) -> None:
        code = _instructions()
        self._libc = libc
        self._code = ctypes.create_string_buffer(b"".join(code))
        self._program = _Program(len(code), ctypes.addressof(self._code))

    def install(self) -> None:
        """Install the filter, which needs no_new_privs. Raises OSError if the kernel rejects it."""
        if self._libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(self._program), 0, 0):
            raise OSError(ctypes.get_errno(), "the kernel rejected the seccomp filter")


def _instructions() -> list[bytes]:
    def step(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
        return struct.pack("=HBBI", code, when_true, when_false, value)

    refuse = _REFUSE | errno.EPERM
    program = [
        step(_LOAD_WORD, 4),  # the architecture: another one has other numbers
        step(_JUMP_EQUAL, _AUDIT_ARCH_X86_64, 1, 0),
        step(_RETURN, _KILL_PROCESS),
        step(_LOAD_WORD, 0),  # the number of the system call
        step(_JUMP_GREATER_EQUAL, _X32_BIT, 0, 1),  # x32 has a second table of calls
        step(_RETURN, refuse),
        # isatty() uses ioctl; "not a terminal" is the correct answer.
        step(_JUMP_EQUAL, _IOCTL, 0, 1),
        step(_RETURN, _REFUSE | errno.ENOTTY),
    ]
    numbers = sorted(ALLOWED.values())
    for index, number in enumerate(numbers):
        program.append(step(_JUMP_EQUAL, number, len(numbers) - index, 0))  # to the last one: allow
    return [*program, step(_RETURN, refuse), step(_RETURN, _ALLOW)]
