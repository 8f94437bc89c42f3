//go:build unix

package worldfile

import "syscall"

const nonblock = syscall.O_NONBLOCK
