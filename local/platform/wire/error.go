package wire

import "fmt"

// Error is an answer of the simulated AWS that is not a success. A handler
// returns it to choose the error code a client decodes; every protocol writes
// it in its own form.
type Error struct {
	// Code is the AWS error code, for example "InvalidInstanceID.NotFound".
	Code string
	// Message is the text AWS would send with the code.
	Message string
	// Status is the HTTP status. Zero means 400, which is what AWS uses for
	// nearly all client errors.
	Status int
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// Errorf makes a client error (HTTP 400) with a formatted message.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Status: 400}
}
