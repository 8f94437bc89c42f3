//go:build unix

package capture

import "syscall"

const nonblock = syscall.O_NONBLOCK
