//go:build !unix

package capture

func fifo(string) error { return nil }
