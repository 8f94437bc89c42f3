// Package exit holds the statuses with which the command ends, and the errors that
// stand for them.
package exit

import "fmt"

// The statuses of the contract of captures. BadInput is EX_USAGE of sysexits.h;
// Interrupted is what shells return for a command that SIGINT ended (128+2; POSIX,
// "Exit Status for Commands").
const (
	Healthy     = 0
	Causes      = 1
	Unsure      = 2
	BadInput    = 64
	Interrupted = 130
)

// Status is how a command ended that has printed all that it had to say.
type Status int

func (s Status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// MisuseError is an error of the person who typed the command or wrote the input.
type MisuseError struct{ Err error }

func (m *MisuseError) Error() string { return m.Err.Error() }

// Unwrap is what was wrong.
func (m *MisuseError) Unwrap() error { return m.Err }

// Misuse is an error of the person who typed the command or wrote the input.
func Misuse(format string, args ...any) error { return &MisuseError{fmt.Errorf(format, args...)} }
