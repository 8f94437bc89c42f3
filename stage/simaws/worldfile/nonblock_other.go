//go:build !unix

package worldfile

const nonblock = 0
