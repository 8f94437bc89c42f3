//go:build !unix

package capture

const nonblock = 0
